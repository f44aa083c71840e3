"""Bootstrap, paired tests and Holm's correction, on cases whose answer is known."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from sottovoce.assess.evaluation import significance as bootstrapping
from sottovoce.assess.evaluation.metrics import (
    JudgedTopic,
    average_topics,
    constant_scores,
    metrics_by_topic,
    tied_ranking,
    topic_metrics,
)
from sottovoce.assess.evaluation.significance import (
    bootstrap_metrics,
    holm,
    paired_difference,
    paired_t,
    paired_test,
    percentile_interval,
    sign_flip_p,
    user_hits,
)
from sottovoce.errors import InputError, ParameterError


def judged_topic(sensitive: list[bool], name: str = "t") -> JudgedTopic:
    flags = np.array(sensitive)
    users = pa.array([f"u{place}" for place in range(len(flags))])
    return JudgedTopic(name, users, flags, np.where(flags, 0.8, 0.1))


def test_a_draw_is_the_ranking_of_the_users_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = judged_topic([True, False, True, False])
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    drawn = np.array([0, 0, 1, 3])
    weights = np.bincount(drawn, minlength=4).astype(float)
    monkeypatch.setattr(
        bootstrapping, "_draws", lambda rows, users, rng: np.tile(weights, (rows, 1))
    )
    found = bootstrap_metrics([topic], {"m": [scores]}, replicates=3)["m"]
    ranking = tied_ranking(scores[drawn], topic.sensitive[drawn], topic.grades[drawn])
    ideal = tied_ranking(topic.grades[drawn], topic.sensitive[drawn], topic.grades[drawn])
    expected = average_topics([topic_metrics(ranking, ideal)])
    for name, values in found.items():
        assert values == pytest.approx(np.full(3, expected[name]))


def test_all_measures_see_the_same_draws() -> None:
    topic = judged_topic([True, False, False, True, False])
    scores = [np.array([5.0, 4.0, 3.0, 2.0, 1.0])]
    found = bootstrap_metrics([topic], {"one": scores, "same": scores}, replicates=50)
    assert (found["one"]["map"] == found["same"]["map"]).all()
    assert len(set(found["one"]["map"].tolist())) > 5


def test_a_user_is_drawn_for_all_her_topics_or_for_none() -> None:
    """The same people in another order: both topics have the same metrics in every draw."""
    sensitive = np.array([True, False, True, False, False, False])
    users = pa.array([f"u{place}" for place in range(6)])
    turned = np.array([3, 1, 0, 5, 4, 2])
    grades = np.where(sensitive, 0.8, 0.1)
    one = JudgedTopic("one", users, sensitive, grades)
    two = JudgedTopic("two", users.take(pa.array(turned)), sensitive[turned], grades[turned])
    scores = np.array([4.0, 5, 1, 2, 6, 3])
    both = bootstrap_metrics([one, two], {"m": [scores, scores[turned]]}, replicates=40)["m"]
    single = bootstrap_metrics([one], {"m": [scores]}, replicates=40)["m"]
    for name, values in both.items():
        assert values == pytest.approx(single[name])
    assert len(set(single["map"].tolist())) > 5


def test_every_topic_keeps_its_size_and_a_lone_user_is_not_always_drawn() -> None:
    """Users 0 to 29 for both topics, 30 to 59 for the second, 60 for the first only."""
    people = [np.r_[np.arange(30), 60], np.arange(60)]
    strata = bootstrapping.judging_strata(people)
    assert [len(set(strata[part].tolist())) for part in (slice(30), slice(30, 60))] == [1, 1]
    assert len(set(strata.tolist())) == 3
    few = bootstrapping.judging_strata([np.arange(3), np.arange(1, 5)])
    assert len(set(few.tolist())) == 1


def test_a_topic_is_never_without_a_sensitive_user(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = judged_topic([True, False, False])
    monkeypatch.setattr(
        bootstrapping, "_draws", lambda rows, users, rng: np.tile([0.0, 2.0, 1.0], (rows, 1))
    )
    found = bootstrap_metrics([topic], {"m": [np.array([1.0, 2.0, 3.0])]}, replicates=2)["m"]
    assert found["map"] == pytest.approx([0.25, 0.25])


def test_a_seed_gives_the_same_draws_again_and_another_seed_others() -> None:
    topic = judged_topic([True, False] * 10)
    runs = {"m": [np.arange(20.0)]}
    first, again, other = (
        bootstrap_metrics([topic], runs, seed=seed)["m"]["map"] for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_an_interval_is_the_middle_of_its_replicates() -> None:
    interval = percentile_interval(0.5, np.linspace(0.0, 1.0, 1001))
    assert (interval.value, interval.low, interval.high) == pytest.approx((0.5, 0.025, 0.975))


def test_a_difference_is_paired_draw_by_draw() -> None:
    theirs = np.linspace(0.0, 1.0, 999)
    found = paired_difference(0.1, theirs + 0.1, theirs)
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))
    assert found.p_value == pytest.approx(2 / 1000)
    assert paired_difference(0.0, theirs, theirs[::-1]).p_value == 1.0


def test_the_t_test_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.random(40), rng.random(40)
    found = paired_test(ours, theirs)
    expected = stats.ttest_rel(ours, theirs)
    assert (found.t, found.p_t) == pytest.approx((expected.statistic, expected.pvalue))


@pytest.mark.parametrize(
    ("differences", "expected"),
    [([0.0, 0.0, 0.0], (0.0, 1.0)), ([0.4], (0.0, 1.0)), ([0.5, 0.5], (np.inf, 0.0))],
)
def test_the_t_test_says_what_it_can_of_degenerate_samples(
    differences: list[float], expected: tuple[float, float]
) -> None:
    assert paired_t(np.array(differences)) == expected


def test_few_differences_are_permuted_exactly() -> None:
    """Of 2^5 sign changes of five ones, two have a sum of 5 or -5; zeros change nothing."""
    assert sign_flip_p(np.array([1.0] * 5 + [0.0] * 30)) == 2 / 32
    assert sign_flip_p(np.array([1.0, -1.0])) == 1.0
    assert sign_flip_p(np.zeros(4)) == 1.0


def test_many_differences_are_permuted_at_random_close_to_the_exact_answer() -> None:
    values = np.r_[np.ones(14), -np.ones(6)]
    exact = stats.binomtest(6, 20).pvalue
    assert sign_flip_p(values) == pytest.approx(exact, abs=0.015)
    assert sign_flip_p(np.ones(40)) == pytest.approx(1 / 10_001)


CORRECTED = {
    (0.01, 0.04, 0.03, 0.005): (0.03, 0.06, 0.06, 0.02),
    (0.5, 0.9): (1.0, 1.0),
    (0.2,): (0.2,),
    (0.001, 0.001, 0.001): (0.003, 0.003, 0.003),
}


@pytest.mark.parametrize("given", CORRECTED)
def test_holm_s_correction_is_that_worked_out_by_hand(given: tuple[float, ...]) -> None:
    assert holm(list(given)) == pytest.approx(CORRECTED[given])


@pytest.mark.long
def test_holm_s_correction_is_that_of_statsmodels() -> None:
    # Its import takes longer than all tests here.
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - see above

    for p_values in CORRECTED:
        expected = multipletests(p_values, method="holm")[1]
        assert holm(list(p_values)) == pytest.approx(expected.tolist())


def test_a_user_is_one_sample_whatever_her_topics_and_the_mean_is_micro_r_precision() -> None:
    """Three pairs of two people: u0 hits with 1/4 and 1/2, u1 with 1/2."""
    judged = [judged_topic([True, False, False, False]), judged_topic([True, True, False, False])]
    scores = constant_scores(judged)
    hits = user_hits(judged, scores)
    assert hits == pytest.approx(np.array([0.75, 0.5]) * 2 / 3)
    assert hits.mean() == pytest.approx(
        average_topics(metrics_by_topic(judged, scores))["r_precision_micro"]
    )


def test_micro_counts_users_and_macro_counts_topics() -> None:
    judged = [judged_topic([True, False, False, False]), judged_topic([True, True, True, False])]
    scores = [np.array([4.0, 3, 2, 1]), np.array([1.0, 2, 3, 4])]
    found = average_topics(metrics_by_topic(judged, scores))
    assert float(found["r_precision_micro"]) == pytest.approx(3 / 4)
    assert float(found["r_precision_macro"]) == pytest.approx((1 + 2 / 3) / 2)


def test_what_cannot_be_computed_is_refused() -> None:
    topic = judged_topic([True, False])
    with pytest.raises(ParameterError, match="replicates must be >= 1, got 0"):
        bootstrap_metrics([topic], {"m": [np.arange(2.0)]}, replicates=0)
    with pytest.raises(InputError, match="equally many, got 2 and 3"):
        paired_test(np.zeros(2), np.zeros(3))
    with pytest.raises(InputError, match="NaN"):
        tied_ranking(np.array([1.0, np.nan]), np.array([True, False]))
    with pytest.raises(InputError, match="at least 1 user"):
        tied_ranking(np.zeros(0), np.zeros(0, dtype=bool))
