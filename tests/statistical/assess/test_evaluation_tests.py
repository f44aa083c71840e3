"""Do the tests and intervals hold what they promise, and fail where they should?"""

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.arrays import Flags, Floats, Integers
from sottovoce.assess.evaluation.metrics import JudgedTopic, average_topics, metrics_by_topic
from sottovoce.assess.evaluation.significance import (
    bootstrap_metrics,
    paired_difference,
    paired_test,
    percentile_interval,
    stratified_test,
    user_hits,
    volume_strata,
)
from sottovoce.errors import ParameterError


def topic_of(sensitive: Flags) -> JudgedTopic:
    users = pa.array([f"u{place}" for place in range(len(sensitive))])
    return JudgedTopic("t", users, sensitive, np.where(sensitive, 0.8, 0.0))


def drawn_topic(rng: np.random.Generator, users: int, shift: float) -> tuple[JudgedTopic, Floats]:
    """A measure whose scores are ``shift`` higher for the sensitive."""
    sensitive = np.arange(users) < users // 5
    return topic_of(sensitive), rng.normal(size=users) + shift * sensitive


def test_bootstrap_intervals_hold_the_true_value_about_as_often_as_they_say() -> None:
    """The true MAP is that of a very large community; a planted wrong one is left out."""
    rng = np.random.default_rng(0)
    large, scores = drawn_topic(rng, 200_000, 1.0)
    true = float(average_topics(metrics_by_topic([large], [scores]))["map"])
    inside = wrong = 0
    for seed in range(100):
        topic, own = drawn_topic(rng, 300, 1.0)
        value = float(average_topics(metrics_by_topic([topic], [own]))["map"])
        draws = bootstrap_metrics([topic], {"m": [own]}, replicates=200, seed=seed)["m"]["map"]
        interval = percentile_interval(value, draws)
        inside += interval.low <= true <= interval.high
        wrong += interval.low <= true - 0.2 <= interval.high
    assert inside >= 86
    assert wrong <= 50


def test_paired_tests_find_a_better_measure_and_no_difference_where_there_is_none() -> None:
    rng = np.random.default_rng(1)
    sensitive = np.arange(400) < 100
    topic = topic_of(sensitive)
    better_found = false_alarms = 0
    for _ in range(100):
        one, two = rng.normal(size=(2, 400)) + sensitive
        better = rng.normal(size=400) + 2.0 * sensitive
        hits = {
            name: user_hits([topic], [scores])
            for name, scores in (("1", one), ("2", two), ("+", better))
        }
        alike = paired_test(hits["1"], hits["2"])
        apart = paired_test(hits["+"], hits["1"])
        false_alarms += min(alike.p_t, alike.p_permutation) < 0.05
        better_found += max(apart.p_t, apart.p_permutation) < 0.05
    # Twelve of a hundred would be a test at 5% with probability below 0.002.
    assert false_alarms <= 12
    assert better_found >= 90


def same_people(name: str, sensitive: Flags, prefix: str) -> JudgedTopic:
    users = pa.array([f"{prefix}{place}" for place in range(len(sensitive))])
    return JudgedTopic(name, users, sensitive, np.where(sensitive, 0.8, 0.0))


def rejections(prefixes: list[str], runs: int) -> tuple[int, int, int, int]:
    """How often two equally good measures, the same in all topics, seem to differ at 5%.

    Bootstrap, t-test, permutations; and how often a measure of nothing passes the shuffles.
    """
    drawn = student = swapped = shuffled = 0
    sensitive = np.arange(100) < 30
    judged = [same_people(f"t{place}", sensitive, each) for place, each in enumerate(prefixes)]
    strata = [np.zeros(100, dtype=np.int64)] * len(judged)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        one, two = ([scores] * len(judged) for scores in rng.normal(size=(2, 100)) + sensitive)
        draws = bootstrap_metrics(judged, {"1": one, "2": two}, replicates=100, seed=seed)
        drawn += paired_difference(0.0, draws["1"]["map"], draws["2"]["map"]).p_value < 0.05
        test = paired_test(user_hits(judged, one), user_hits(judged, two))
        student += test.p_t < 0.05
        swapped += test.p_permutation < 0.05
        nothing = [rng.normal(size=100)] * len(judged)
        found = stratified_test(judged, nothing, strata, permutations=99, seed=seed)
        shuffled += found.p_value < 0.05
    return drawn, student, swapped, shuffled


def test_the_same_people_in_five_topics_are_not_five_times_as_many() -> None:
    """Planted: when every topic's people have names of their own, all four see finds in nothing."""
    runs = 60
    # Nine of sixty would be a test at 5% with probability 0.003.
    assert max(rejections(["u"] * 5, runs)) <= 8
    assert min(rejections(["a", "b", "c", "d", "e"], runs)) >= 10


def test_shuffling_within_volume_unmasks_a_measure_that_only_sees_volume() -> None:
    """Labels depend on volume alone: without strata volume looks like a find, within them not."""
    rng = np.random.default_rng(2)
    volume = np.exp(rng.normal(size=2000))
    fooled = fooled_by_tenths = unmasked = found = 0
    for seed in range(12):
        sensitive = rng.random(2000) < np.clip(0.04 * volume, 0, 1)
        topic = topic_of(sensitive)
        honest = volume * (1.0 + 2.0 * sensitive)
        strata = volume_strata(volume)
        tenths = volume_strata(volume, 200)
        one_stratum = np.zeros(2000, dtype=np.int64)

        def p_value(scores: Floats, strata: Integers, seed: int = seed) -> float:
            test = stratified_test([topic], [scores], [strata], permutations=99, seed=seed)  # noqa: B023 - called at once
            return test.p_value

        fooled += p_value(volume, one_stratum) < 0.05
        fooled_by_tenths += p_value(volume, tenths) < 0.05
        unmasked += p_value(volume, strata) >= 0.05
        found += p_value(honest, strata) < 0.05
    assert fooled == 12
    # Why strata are small: the most active tenth is not of like volume.
    assert fooled_by_tenths >= 10
    assert unmasked >= 10
    assert found == 12


def test_shuffles_keep_every_label_in_its_stratum() -> None:
    """A measure that follows the strata exactly keeps its value in every shuffle."""
    strata = np.repeat([0, 1, 2], 20)
    sensitive = np.zeros(60, dtype=bool)
    sensitive[[0, 1, 21, 45]] = True
    found = stratified_test(
        [topic_of(sensitive)], [strata.astype(float)], [strata], permutations=50
    )
    assert found.by_volume == pytest.approx(found.value)
    assert found.p_value == 1.0
    everyone = stratified_test(
        [topic_of(sensitive)],
        [strata.astype(float)],
        [np.zeros(60, dtype=np.int64)],
        permutations=50,
    )
    assert everyone.by_volume != pytest.approx(everyone.value)


def test_strata_have_about_equally_many_users_and_never_part_equal_volumes() -> None:
    strata = volume_strata(np.arange(100.0), 20)
    assert np.bincount(strata).tolist() == [20] * 5
    assert set(volume_strata(np.ones(50), 10).tolist()) == {0}
    with pytest.raises(ParameterError, match="users per stratum must be >= 1, got 0"):
        volume_strata(np.ones(3), 0)
    with pytest.raises(ParameterError, match="permutations must be >= 1"):
        stratified_test([], [], [], permutations=0)
