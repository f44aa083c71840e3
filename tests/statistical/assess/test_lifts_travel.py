"""What is printed of bands holds in communities that a topic concerns more or less often.

A study like ours, of people whose scores are drawn, gives lifts and errors; then communities of the
same kind of people with other rates tell how many of a band are concerned. The sentence of before,
which carried the study's own share over, is the planted fault.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sottovoce_lab.assess.blogs._judges import BlogTopicRanks, draw_people, drawn_metrics, orders_of
from sottovoce_lab.assess.blogs._scores import metric_columns

import sottovoce as sv
from sottovoce.arrays import Floats
from sottovoce.assess import Setting
from sottovoce.assess.measures import catalogue as lifts_module
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.ranking import BANDS
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.simulate.community import draw_community
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.errors import ParameterError
from sottovoce.report.result import Row
from sottovoce.topics import Catalogue, Topic

TOPICS, PEOPLE, RATE, SHIFT = 5, 800, 0.042, 0.87
SEEDS = 40
NAMED_RATES = (0.005, 0.02, RATE, 0.1)
OTHER_RATES = (*NAMED_RATES, 0.2)
MANY = 1_000_000


def scores(afflicted: np.ndarray, rng: np.random.Generator) -> Floats:
    """Those concerned score higher: an AUC of .73, about that of the measures without a model."""
    return SHIFT * afflicted + rng.standard_normal(afflicted.size)


def study(seed: int) -> Row:
    """What our study would say of such a measure."""
    rng = np.random.default_rng([7, seed])
    people = draw_people(PEOPLE, 300, seed)
    found = []
    for _ in range(TOPICS):
        afflicted = rng.random(PEOPLE) < RATE
        orders = orders_of([{"m": scores(afflicted, rng)}])
        ranked = BlogTopicRanks("debt", np.arange(PEOPLE), afflicted, orders, {})
        found.append(drawn_metrics(ranked, "m", people))
    return metric_columns(found)


@pytest.fixture(scope="module")
def studies() -> list[Row]:
    return [study(seed) for seed in range(SEEDS)]


@pytest.fixture(scope="module")
def truths() -> dict[float, list[float]]:
    """By rate, of 100 people in each band so many are concerned, in a very large community."""
    rng = np.random.default_rng(1)
    found = {}
    for rate in OTHER_RATES:
        afflicted = np.arange(MANY) < rate * MANY
        first = np.argsort(-scores(afflicted, rng))
        found[rate] = [100 * afflicted[first[: MANY * p // 100]].mean() for p in BANDS]
    return found


def printed(studies: list[Row], rate: float, patch: pytest.MonkeyPatch) -> Iterator[list[Floats]]:
    """The intervals that would be printed of each study, for a named rate."""
    for row in studies:
        told = tuple((row[f"lift_top_{p}"], row[f"lift_top_{p}_log_error"]) for p in BANDS)
        patch.setattr(lifts_module, "LIFTS", dict.fromkeys(("m", *lifts_module.VOLUME), told))
        bands = lifts_module.banded_lifts(["m"], rate)["m"].values()
        yield [np.array([each["of_100_low"], each["of_100_high"]]) for each in bands]


def covered(intervals: list[Floats], truth: list[float]) -> bool:
    return all(low <= own <= high for (low, high), own in zip(intervals, truth, strict=True))


@pytest.mark.parametrize("rate", NAMED_RATES)
def test_the_printed_intervals_hold_at_once_at_every_rate(
    rate: float,
    studies: list[Row],
    truths: dict[float, list[float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = [covered(each, truths[rate]) for each in printed(studies, rate, monkeypatch)]
    # At 95% each, 40 studies miss at most 5 but once in 100 such tests.
    assert sum(held) >= SEEDS - 5


@pytest.mark.parametrize("rate", [0.005, 0.1, 0.2])
def test_the_share_seen_in_a_study_does_not_hold_elsewhere(
    rate: float, studies: list[Row], truths: dict[float, list[float]]
) -> None:
    """The planted fault: what was printed before, with the interval that it had."""
    held = []
    for row in studies:
        names = [f"precision_top_{p}" for p in BANDS]
        own = [np.array([100 * row[f"{n}_low"], 100 * row[f"{n}_high"]]) for n in names]  # type: ignore[operator] # a row's numbers
        held.append(covered(own, truths[rate]))
    assert sum(held) <= SEEDS // 20


@pytest.mark.long
def test_in_simulated_communities_the_lift_stays_and_a_multiple_of_the_rate_does_not() -> None:
    people = np.ones((2, 1500))
    lifts, multiples = [], []
    for share in (0.01, 0.03, 0.1):
        found = []
        for seed in (1, 2):
            community = draw_community(
                SimulationParameters(
                    users=1500, weeks=12, seed=seed, background_documents=1, afflicted_share=share
                )
            )
            ranking = sv.assess_posts(
                community.posts, topics=community.topics, measures="bow-t"
            ).table.to_pandas()
            truth = community.truth.to_pandas()
            for topic, rows in ranking.groupby("topic", observed=True):
                sick = truth[truth.sensitive & (truth.topic == topic)].user
                orders = orders_of([{"m": rows.score.to_numpy()}])
                afflicted = rows.user.isin(sick).to_numpy()
                ranked = BlogTopicRanks(str(topic), np.arange(1500), afflicted, orders, {})
                found.append(drawn_metrics(ranked, "m", people))
        row = metric_columns(found)
        lifts.append(float(str(row["lift_top_5"])))
        multiples.append(float(str(row["precision_top_5"])) / share)
    assert max(lifts) < 1.4 * min(lifts)
    assert multiples[0] > 1.2 * multiples[-1]


def of_messages(
    folder: Path, rate: float, patch: pytest.MonkeyPatch
) -> dict[str, tuple[list[Floats], list[float]]]:
    """By measure the intervals from one half of the messages, and the shares in the other."""
    rng, people = np.random.default_rng(3), draw_people(1000, 300, 0)
    studies = dict[str, list[dict[str, Floats]]]()
    for _ in range(4):
        for name, (own, afflicted) in texters(folder, "first", 1000, RATE, rng).items():
            ranked = BlogTopicRanks("spam", np.arange(1000), afflicted, orders_of([{"m": own}]), {})
            studies.setdefault(name, []).append(drawn_metrics(ranked, "m", people))
    found = {}
    for name, (own, afflicted) in texters(folder, "second", 20_000, rate, rng).items():
        [intervals] = printed([metric_columns(studies[name])], rate, patch)
        flags = afflicted[np.argsort(-own)]
        found[name] = intervals, [100 * flags[: 200 * p].mean() for p in BANDS]
    return found


@pytest.mark.long
@pytest.mark.parametrize("rate", [0.005, 0.02, 0.1])
def test_on_messages_too_what_one_half_says_holds_in_the_other(
    rate: float, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People of five to twenty-four messages; those concerned have one that is spam."""
    for name, (intervals, truth) in of_messages(shared_data, rate, monkeypatch).items():
        assert covered(intervals, truth), name


@pytest.mark.long
def test_where_many_are_concerned_it_would_say_too_few_and_so_is_refused(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ParameterError, match="at most 0.1"):
        lifts_module.banded_lifts(["bow-t"], 0.2)
    monkeypatch.setattr(lifts_module, "LARGEST_CONCERNED", 0.2)
    found = of_messages(shared_data, 0.2, monkeypatch).values()
    assert any(
        high < share
        for intervals, shares in found
        for (_, high), share in zip(intervals, shares, strict=True)
    )


def texters(
    folder: Path, half: str, people: int, rate: float, rng: np.random.Generator
) -> dict[str, tuple[Floats, np.ndarray]]:
    """By measure, scores for the topic of spam of people who write messages of one half."""
    kinds: dict[str, list[str]] = {"spam": [], "ham": []}
    for line in (folder / "sms.tsv").read_text(encoding="utf-8").splitlines():
        kind, text = line.split("\t", 1)
        if (hashlib.sha256(text.encode()).digest()[-1] % 2 == 0) == (half == "first"):
            kinds[kind].append(text)
    rows = []
    for number in range(people):
        texts = rng.choice(kinds["ham"], rng.integers(5, 25)).tolist()
        if number < rate * people:
            texts[0] = str(rng.choice(kinds["spam"]))
        day = (f"2024-01-{1 + each:02}" for each in rng.integers(0, 28, len(texts)))
        rows += [(f"u{number:05}", *pair) for pair in zip(day, texts, strict=True)]
    words = ("free", "win", "prize", "claim", "cash", "urgent", "award")
    measures, scoring = plan_scoring(
        Catalogue((Topic("spam", words, "money", True),)), (), ("bow-t", "keyword-kinds")
    )
    state = scoring.state_of(open_posts(rows))
    afflicted = rate * people > np.array(
        [int(name[1:]) for name in state.users.names().cast(pa.string()).to_pylist()]
    )
    # Ties are broken by chance, so that every band is full.
    return {
        name: (measure.score(state, "spam", Setting()) + 1e-9 * rng.random(people), afflicted)
        for name, measure in measures.items()
    }
