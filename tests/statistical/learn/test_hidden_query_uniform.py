"""What the helpers open of a hidden query is uniform, and a mask that is cut short shows."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare
from support.hidden_systems import BITS, small_keys_allowed, two_keys

from sottovoce.learn.modes import queries
from sottovoce.learn.modes.hidden import HiddenClassifier
from sottovoce.learn.modes.hidden_solve import QUERY_BITS, SCORE, share_slots
from sottovoce.learn.modes.queries import masked_scores, query_integers
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.wire import array_from_bytes, decrypt_integers, encrypt_integers
from sottovoce.learn.ridge import Standard
from sottovoce.learn.solve.field import mask_half_range
from sottovoce.learn.support import all_kept
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.privacy.randomness import random_below

MODULUS = (1 << 89) - 1
THETA = (1 << 20, -3, 7)
DRAWS, BINS = 1024, 64
HELPERS = (COORDINATOR, KEY_HOLDER)
Parts = tuple[NDArray[np.float64], NDArray[np.float64]]


@pytest.fixture(autouse=True, scope="module")
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


@pytest.fixture(scope="module")
def classifier(_small_keys: None) -> HiddenClassifier:
    own, held = two_keys()
    first = [random_below(MODULUS) for _ in THETA]
    second = [(number - share) % MODULUS for number, share in zip(THETA, first, strict=True)]
    plan = share_slots(MODULUS, BITS, 4)
    arrays = [
        encrypt_integers(as_grid(shares, (len(THETA),)), plan, key)
        for shares, key in ((first, own), (second, held))
    ]
    standard = Standard.from_moments([4, 0, 0, 4, 4], all_kept(2))
    return HiddenClassifier(standard, MODULUS, SCORE << 21, QUERY_BITS, *arrays)


def opened(classifier: HiddenClassifier, draws: int = DRAWS) -> dict[str, list[int]]:
    """The raw integers that each helper decrypts, of one and the same row again and again."""
    weights = query_integers(np.tile([2.0, -1.5, 1.0], (draws, 1)), QUERY_BITS, 1)
    pieces = masked_scores(classifier, weights)
    plan = share_slots(MODULUS, BITS, 4)
    seen = {}
    for helper, key in zip(HELPERS, two_keys(), strict=True):
        array = array_from_bytes(pieces[helper], key.public, plan=plan)
        seen[helper] = [int(number) for number in decrypt_integers(array, key).ravel()]
    return seen


def parts(numbers: list[int]) -> Parts:
    """Residues over the modulus, and quotients over the masks' range."""
    half = mask_half_range(SCORE)
    quotients = [(number // MODULUS + half) / (2 * half) for number in numbers]
    return np.array([number % MODULUS / MODULUS for number in numbers]), np.array(quotients)


def p_values(numbers: list[int]) -> list[float]:
    """Whether residues, and quotients, fall evenly into their bins."""
    counts = [np.histogram(part, BINS, (0, 1))[0] for part in parts(numbers)]
    assert all(count.sum() > 0.99 * len(numbers) for count in counts)
    return [float(chisquare(count).pvalue) for count in counts]


def test_each_helper_opens_uniform_residues_and_quotients(classifier: HiddenClassifier) -> None:
    seen = opened(classifier)
    for helper in HELPERS:
        assert min(p_values(seen[helper])) > 1e-6
    # And yet both together have the scores.
    score = 2 * THETA[0] - 1.5 * THETA[1] + THETA[2]
    sums = {sum(pair) % MODULUS for pair in zip(*seen.values(), strict=True)}
    assert sums == {int(score * (1 << QUERY_BITS))}


def test_masks_without_multiples_of_the_modulus_are_caught(
    classifier: HiddenClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "multiple_masks", lambda shape, *_: as_grid([0] * shape[0], shape))
    seen = opened(classifier, 512)
    for helper in HELPERS:
        residues, quotients = p_values(seen[helper])
        assert residues > 1e-6
        assert quotients < 1e-12


def test_a_residue_cut_short_is_caught(
    classifier: HiddenClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "random_below", lambda _: random_below(1 << 64))
    seen = opened(classifier, 512)
    for helper in HELPERS:
        assert p_values(seen[helper])[0] < 1e-12
