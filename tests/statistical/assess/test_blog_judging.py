"""Judging real timelines: draws of people, matching by weeks, labels shuffled within strata."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sottovoce_lab.assess.blogs._judges import (
    BlogTopicRanks,
    draw_people,
    drawn_metrics,
    matched_metrics,
    one_sided_p,
    orders_of,
    shuffled_precision,
    week_strata,
)

from sottovoce.arrays import Floats
from sottovoce.assess.evaluation.metrics import JudgedTopic, metrics_by_topic

USERS = 400


def topic(
    scores: Sequence[Mapping[str, Floats]], afflicted: np.ndarray, weeks: np.ndarray
) -> BlogTopicRanks:
    strata = week_strata(weeks.astype(float))
    return BlogTopicRanks("debt", np.arange(USERS), afflicted, orders_of(scores), {"weeks": strata})


def matched_precision(ranked: BlogTopicRanks, measure: str, people: Floats) -> Floats:
    return matched_metrics(ranked, measure, people, "weeks")["average_precision"]


def long_timelines_are_labelled(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Weeks, and labels that the number of weeks alone makes likely."""
    generator = np.random.default_rng(seed)
    weeks = generator.integers(1, 31, USERS)
    return weeks, generator.random(USERS) < 0.01 * weeks


def test_all_people_once_give_the_metrics_of_the_product() -> None:
    generator = np.random.default_rng(0)
    afflicted = generator.random(USERS) < 0.1
    samples = [{"m": generator.integers(0, 20, USERS).astype(float)} for _ in range(3)]
    people = draw_people(USERS, 5, seed=1)
    found = drawn_metrics(topic(samples, afflicted, np.ones(USERS)), "m", people)
    judged = JudgedTopic("debt", np.arange(USERS), afflicted, afflicted.astype(float))
    expected = [metrics_by_topic([judged], [each["m"]])[0] for each in samples]
    for name in ("r_precision", "average_precision"):
        mean = np.mean([getattr(each, name) for each in expected])
        assert found[name][0] == pytest.approx(mean, rel=1e-12)
        assert found[name].shape == (6,)


def test_the_first_draw_is_everybody_and_all_draws_are_as_many() -> None:
    people = draw_people(50, 20, seed=3)
    assert people[0].tolist() == [1] * 50
    assert people.sum(axis=1).tolist() == [50] * 21
    assert (people[1:] == 0).any()


def test_in_one_stratum_matching_changes_nothing() -> None:
    generator = np.random.default_rng(1)
    afflicted = generator.random(USERS) < 0.1
    ranked = topic([{"m": generator.random(USERS)}], afflicted, np.ones(USERS))
    people = draw_people(USERS, 8, seed=1)
    expected = drawn_metrics(ranked, "m", people)["average_precision"]
    np.testing.assert_allclose(matched_precision(ranked, "m", people), expected)


def test_matching_takes_away_what_weeks_alone_explain() -> None:
    weeks, afflicted = long_timelines_are_labelled(2)
    rng = np.random.default_rng(2)
    told = afflicted + rng.normal(0, 0.7, USERS)
    scores = {"weeks": weeks.astype(float), "told": told, "chance": rng.random(USERS)}
    ranked = topic([scores], afflicted, weeks)
    people = draw_people(USERS, 1, seed=0)
    plain = {name: drawn_metrics(ranked, name, people)["average_precision"][0] for name in scores}
    matched = {name: matched_precision(ranked, name, people)[0] for name in scores}
    assert plain["weeks"] > 1.3 * plain["chance"]
    assert matched["weeks"] < 1.3 * matched["chance"]
    assert matched["told"] > 1.5 * matched["chance"]


def test_a_stratum_without_anybody_drawn_is_left_out() -> None:
    afflicted = np.zeros(USERS, bool)
    afflicted[[0, 399]] = True
    weeks = np.where(np.arange(USERS) < 200, 1, 30)
    ranked = topic([{"m": -np.arange(USERS).astype(float)}], afflicted, weeks)
    people = np.ones((2, USERS))
    people[1, 399] = 0
    found = matched_precision(ranked, "m", people)
    assert found[0] == pytest.approx((1 + 1 / 200) / 2)
    assert found[1] == pytest.approx(1.0)


def p_values(score: str, seeds: int = 60) -> np.ndarray:
    found = []
    for seed in range(seeds):
        weeks, afflicted = long_timelines_are_labelled(seed)
        rng = np.random.default_rng(seed)
        scores = {
            "weeks": week_strata(weeks.astype(float)) + rng.random(USERS) * 0.5,
            "told": afflicted + rng.normal(0, 1.0, USERS),
        }
        ranked = topic([scores], afflicted, weeks)
        alike = ranked.strata["weeks"]
        found.append(one_sided_p(shuffled_precision(ranked, score, alike, 60, seed)))
    return np.array(found)


def test_shuffling_within_strata_passes_signal_and_stops_volume() -> None:
    by_volume, told = p_values("weeks"), p_values("told")
    assert 0.35 < by_volume.mean() < 0.65
    assert (by_volume < 0.05).mean() < 0.2
    assert np.median(told) < 0.03


def test_shuffling_over_everybody_would_let_volume_pass() -> None:
    """The planted fault: without strata, a measure of nothing but volume looks like a finding."""
    weeks, afflicted = long_timelines_are_labelled(5)
    ranked = topic([{"weeks": weeks.astype(float)}], afflicted, weeks)
    nobody_alike = np.zeros(USERS, np.int64)
    assert one_sided_p(shuffled_precision(ranked, "weeks", nobody_alike, 200, 0)) < 0.02
    assert one_sided_p(shuffled_precision(ranked, "weeks", ranked.strata["weeks"], 200, 0)) > 0.02


def test_auc_is_that_of_scikit_learn_ties_and_draws_included() -> None:
    generator = np.random.default_rng(6)
    afflicted = generator.random(USERS) < 0.1
    scores = generator.integers(0, 20, USERS).astype(float) + 3 * afflicted
    people = draw_people(USERS, 4, seed=2)
    found = drawn_metrics(topic([{"m": scores}], afflicted, np.ones(USERS)), "m", people)["auc"]
    expected = [roc_auc_score(afflicted, scores, sample_weight=drawn) for drawn in people]
    assert found == pytest.approx(expected, rel=1e-9)


def test_volume_has_no_auc_left_among_people_of_like_volume() -> None:
    """Number of weeks finds who is labelled for being long there; within like weeks it does not."""
    weeks, afflicted = long_timelines_are_labelled(2)
    ranked = topic([{"weeks": weeks.astype(float)}], afflicted, weeks)
    people = draw_people(USERS, 1, seed=0)
    assert drawn_metrics(ranked, "weeks", people)["auc"][0] > 0.62
    assert matched_metrics(ranked, "weeks", people, "weeks")["auc"][0] < 0.57
