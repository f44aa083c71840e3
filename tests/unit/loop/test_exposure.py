"""How much of a ranking survives a release."""

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.assess.evaluation.metrics import JudgedTopic
from sottovoce.loop._round import (
    RoundOutcome,
    chance,
    correlation,
    luckiest_chance,
    overlap,
    place_of_afflicted,
    r_precision,
    worst_adversary,
)

USERS = pa.array([f"u{number}" for number in range(100)])


def judged(sensitive: slice) -> JudgedTopic:
    flags = np.zeros(100, bool)
    flags[sensitive] = True
    return JudgedTopic("t", USERS, flags, flags.astype(float))


def test_a_ranking_overlaps_fully_with_itself_and_not_with_its_reverse() -> None:
    scores = {"t": np.arange(100.0)}
    reverse = {"t": -np.arange(100.0)}
    assert overlap(scores, scores, 5) == 1
    assert overlap(scores, reverse, 5) == 0
    assert correlation(scores, scores) == pytest.approx(1)
    assert correlation(scores, reverse) == pytest.approx(-1)


def test_where_everybody_ties_the_overlap_is_the_share_itself() -> None:
    scores, flat = {"t": np.arange(100.0)}, {"t": np.zeros(100)}
    assert overlap(scores, flat, 10) == pytest.approx(0.1)
    assert correlation(scores, flat) == 0


def test_who_ties_at_the_edge_counts_by_the_chance_to_be_inside() -> None:
    before = {"t": np.arange(100.0)}
    after = {"t": np.where(np.arange(100) >= 90, 1.0, 0.0)}
    assert overlap(before, after, 5) == pytest.approx(0.5)


def test_the_afflicted_at_the_top_are_all_found_and_stand_in_the_first_per_cent() -> None:
    topic = judged(slice(98, 100))
    scores = {"t": np.arange(100.0)}
    assert r_precision([topic], USERS, scores) == 1
    assert place_of_afflicted([topic], USERS, scores) == pytest.approx(1.5)


def test_chance_is_the_r_precision_of_random_orders_on_average() -> None:
    topic = judged(slice(0, 20))
    generator = np.random.default_rng(0)
    drawn = [r_precision([topic], USERS, {"t": generator.random(100)}) for _ in range(2000)]
    assert np.mean(drawn) == pytest.approx(chance([topic]), abs=0.006)


def test_the_luckiest_of_several_random_orders_beats_chance() -> None:
    topics = [[judged(slice(0, 20))]] * 5
    one, nine = luckiest_chance(topics, 1), luckiest_chance(topics, 9)
    assert one == pytest.approx(chance(topics[0]), abs=0.02)
    assert nine > one + 0.03


def test_the_worst_adversary_is_the_best_on_average_over_communities() -> None:
    def found(one: float, other: float) -> RoundOutcome:
        exposure = {("a", "x"): {"r_precision": one}, ("b", "y"): {"r_precision": other}}
        return RoundOutcome(exposure, {})

    worst = worst_adversary([found(0.9, 0.6), found(0.1, 0.6)])
    assert worst.view == ("b", "y")
    assert worst.numbers["r_precision"] == [0.6, 0.6]
