"""Adversaries who read a release by the likelihood of its cells."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse, stats

from sottovoce.arrays import Floats
from sottovoce.assess.evaluation.metrics import JudgedTopic
from sottovoce.loop._reading import PASSAGE, Reading, log_ratios, recurring_interest
from sottovoce.loop._round import r_precision
from sottovoce.loop.adversary import (
    LIKELIHOOD,
    RECURRING,
    Adversary,
    Knowledge,
    View,
    is_simple,
    learnt_profiles,
    public_profiles,
)
from sottovoce.loop.documents import UserDocuments
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.compression.maps import NoCompression
from sottovoce.topics import Catalogue, Topic

SIZE = 0.5
"""Of the negative binomial counts."""


def by_enumeration(cells: list[int], rate: float, means: Floats) -> float:
    """The logarithm of P(cells), summed over all vectors of counts below 40 a word."""
    alpha, total = np.exp(-rate), 0.0
    for counts in product(range(40), repeat=len(cells)):
        prior = np.prod(stats.nbinom.pmf(counts, SIZE, SIZE / (SIZE + means)))
        far = np.abs(np.array(cells) - counts)
        total += prior * np.prod((1 - alpha) / (1 + alpha) * alpha**far)
    return float(np.log(total))


@pytest.mark.parametrize("rate", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("cells", [[0, 0], [2, -4], [5, 1]])
def test_the_likelihood_ratio_is_that_of_all_count_vectors(rate: float, cells: list[int]) -> None:
    means, profile = np.array([0.2, 0.6]), np.array([0.75, 0.25])
    released = sparse.csr_array(np.array([cells]))
    found = log_ratios(released, NoiseLaw(rate), means, profile[None])[0, 0]
    present = by_enumeration(cells, rate, means + PASSAGE * profile)
    assert found == pytest.approx(present - by_enumeration(cells, rate, means), abs=1e-4)


def test_what_recurs_stands_above_one_mention_and_above_the_whole_domain() -> None:
    """Four weeks each: a little every week; all in one week; the topic beside its sibling."""
    weekly = np.array([[1.5, -0.5]] * 4)
    once = np.array([[7.5, -0.5], [-0.5, -0.5], [-0.5, -0.5], [-0.5, -0.5]])
    broad = np.array([[1.5, 1.5]] * 4)
    ratios = np.vstack([weekly, once, broad])
    owners = np.repeat([0, 1, 2], 4)
    odds = recurring_interest(ratios, owners, 3, ["money", "money"])[:, 0]
    assert ratios[:4, 0].sum() == pytest.approx(ratios[4:8, 0].sum())
    assert odds[0] > odds[1] + 0.4
    assert odds[0] > odds[2] + 0.4


WORDS = tuple(f"word{first}{second}" for first, second in product("abcde", "mnopqrst"))
TOPICS = Catalogue(
    (
        Topic("debt", WORDS[:8], "money", sensitive=True),
        Topic("savings", WORDS[8:16], "money"),
        Topic("boats", WORDS[16:24], "sea"),
    )
)
USERS, WEEKS, CONCERNED = 150, 6, 12


def community(generator: np.random.Generator) -> UserDocuments:
    """Twelve whom debt concerns, in most weeks, and twelve who speak of the whole domain.

    Half of the words of debt are everybody's, so that adding them up says little.
    """
    usual = np.full(len(WORDS), 0.05)
    usual[4:8] = 1.5
    owners = np.repeat(np.arange(USERS), WEEKS)
    counts = generator.poisson(usual, (owners.size, usual.size))
    speaks = (owners < CONCERNED) & (generator.random(owners.size) < 0.7)
    counts[:, :8] += speaks[:, None] * generator.poisson(0.6, (owners.size, 8))
    broad = (owners >= CONCERNED) & (owners < 2 * CONCERNED)
    counts[:, :16] += broad[:, None] * generator.poisson(0.6, (owners.size, 16))
    return UserDocuments(
        pa.array([f"u{number}" for number in range(USERS)]),
        owners,
        np.tile(np.arange(WEEKS, dtype=np.int32), USERS),
        sparse.csr_array(counts.astype(np.int64)),
        WORDS,
    )


def released(documents: UserDocuments, rate: float, generator: np.random.Generator) -> Reading:
    shape = documents.counts.shape
    noise = generator.geometric(1 - np.exp(-rate), (2, *shape))
    cells = sparse.csr_array(documents.counts.toarray() + noise[0] - noise[1])
    word_map = NoCompression().fit(documents.counts).map_
    return Reading(cells, word_map, np.ones(shape[1]), rate, topic_number=3, sweeps=5)


def found_by(seed: int, rate: float) -> dict[View, float]:
    generator = np.random.default_rng(seed)
    documents = community(generator)
    flags = np.arange(USERS) < CONCERNED
    judged = JudgedTopic("debt", documents.users, flags, flags.astype(float))
    adversary = Adversary(Knowledge((), TOPICS), ("bow", "bow-dt"))
    views = adversary.on_release(documents, released(documents, rate, generator))
    return {view: r_precision([judged], documents.users, own) for view, own in views.items()}


def test_by_likelihood_more_are_found_than_by_any_simple_reading() -> None:
    runs = [found_by(seed, 2.0) for seed in range(4)]
    reached = {view: float(np.mean([run[view] for run in runs])) for view in runs[0]}
    simple = max(value for view, value in reached.items() if is_simple(view))
    assert reached[LIKELIHOOD, RECURRING] > simple + 0.2


def test_profiles_come_from_the_catalogue_where_nothing_learnt_fits() -> None:
    knowledge = Knowledge((), TOPICS)
    public = public_profiles(knowledge, WORDS)
    assert public[0, :8] == pytest.approx(1 / 8)
    assert public[0, 8:].sum() == 0
    topics = np.full((4, len(WORDS)), 1e-4)
    topics[0, :8] = np.arange(1, 9) / 36
    for place, first in enumerate((8, 24, 32), start=1):
        topics[place, first : first + 8] = 1 / 8
    learnt = learnt_profiles(topics, knowledge, WORDS)
    assert learnt[0, :8] == pytest.approx(np.arange(1, 9) / 36, rel=0.02)
    assert (learnt[2] == public[2]).all()
