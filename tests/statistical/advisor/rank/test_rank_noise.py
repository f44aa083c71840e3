"""Claims about reports and intervals that only many draws can test, each with a planted fault."""

from fractions import Fraction

import numpy as np
import pytest
from support.rank_crowds import (
    PERIODS,
    BucketedCrowd,
    attacked,
    crowd,
    noised,
    opened,
    repeated,
    rules_for,
)

from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.advisor.rank.noise import OneHotNoise, at_another_rate, audit_reports
from sottovoce.privacy.mechanism import GeometricMechanism

# So many that the smallest epsilon's planted fault is 8 standard errors from passing.
TRIALS = 1 << 21


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 4])
def test_reports_pass_the_audit_at_their_claim_and_5_percent_less_noise_does_not(
    epsilon: Fraction,
) -> None:
    claimed = OneHotNoise(epsilon, 20)
    assert audit_reports(claimed, trials=TRIALS).holds
    assert not audit_reports(claimed, at_another_rate(claimed, 1.05), trials=TRIALS).holds


def test_unclamped_entries_fail_the_audit_of_a_bounded_report() -> None:
    claimed, unclamped = OneHotNoise(1, 20), GeometricMechanism(Fraction(1, 2)).dense
    findings = audit_reports(claimed, unclamped, trials=1 << 10).findings
    assert not next(each for each in findings if each.name == "public bound").holds


def test_debiased_counts_have_no_bias_and_raw_ones_have() -> None:
    noise = OneHotNoise(1, 5)
    people, times = 400, 500
    buckets = np.repeat(np.arange(5), 80)
    totals = np.array([noise.reports(buckets).sum(axis=0) for _ in range(times)])
    error = 5 * (noise.variance * people / times) ** 0.5
    assert np.abs(noise.estimate_counts(totals, people).mean(axis=0) - 80).max() < error
    assert np.abs(totals.mean(axis=0) - 80).min() > error


def test_intervals_of_the_noise_mode_have_their_coverage_and_narrower_ones_have_not() -> None:
    rules = rules_for("noise", Fraction(1), 20)
    people = crowd(250, rules, seed=1)
    row = repeated(people, rules, noised(people, rules), 400)
    assert 0.92 < row["coverage"] < 0.98  # type: ignore[operator] # a number
    assert row["rank_coverage"] > 0.92  # type: ignore[operator] # a number
    assert 0.88 < row["error_over_predicted"] < 1.12  # type: ignore[operator] # a number
    assert covered(people, 0.68) < 0.85


def covered(people: BucketedCrowd, coverage: float) -> float:
    """How often margins of another coverage hold."""
    rules = rules_for("noise", Fraction(1), 20)
    publish = noised(people, rules)
    hits = []
    for _ in range(200):
        histogram = publish()
        errors = np.abs(histogram.cumulative() - people.at_least)
        hits.append(np.mean((errors <= histogram.margins(rules, coverage))[1:-1]))
    return float(np.mean(hits))


def test_intervals_of_the_shares_mode_have_their_coverage_and_bands_are_right() -> None:
    rules = rules_for("shares", Fraction(1), 20)
    people = crowd(20_000, rules, seed=2)
    row = repeated(people, rules, opened(people, rules), 400)
    assert 0.92 < row["coverage"] < 0.99  # type: ignore[operator] # a number
    assert 0.88 < row["error_over_predicted"] < 1.12  # type: ignore[operator] # a number
    assert row["bands_right"] > 0.97  # type: ignore[operator] # a number


def test_one_server_s_noise_where_two_are_promised_would_show() -> None:
    rules = rules_for("shares", Fraction(1), 20)
    people = crowd(20_000, rules, seed=2)
    exact = Histogram.of_opened(rules, "topic", 0, people.people, people.counts.tolist())
    row = repeated(people, rules, lambda: exact, 2)
    assert row["error_over_predicted"] == 0


def test_adding_up_kept_reports_gains_nothing_and_drawing_anew_would_give_the_bucket_away() -> None:
    rows = {row["case"]: row["found"] for row in attacked(Fraction(1), 20, 3000)}
    once, often = rows["kept, 1 period"], rows[f"kept, {PERIODS} periods"]
    assert isinstance(once, float)
    assert isinstance(often, float)
    # The optimal guess from one report, at e^1 odds among 20 buckets, is right 8 times in 100.
    assert abs(once - often) < 0.03
    assert often < 0.12
    assert rows[f"drawn again, {PERIODS} periods"] > 0.9  # type: ignore[operator] # a number
    unclamped = rows[f"drawn again and not clamped, {PERIODS} periods"]
    assert 0.7 < unclamped < 0.8  # type: ignore[operator] # a number


def test_every_set_of_buckets_is_drawn_as_often_as_the_law_says() -> None:
    """By a chi-squared test over all ten pairs of five buckets; other odds fail it."""
    noise, people = OneHotNoise(1, 5, weight=2), 60_000
    places = noise.reports(np.zeros(people, dtype=np.int64)) @ (1 << np.arange(5))
    pairs = [1 << i | 1 << j for i in range(5) for j in range(i)]
    seen = np.array([np.count_nonzero(places == pair) for pair in pairs])
    assert seen.sum() == people

    def statistic(epsilon: float) -> float:
        odds = np.array([np.exp(epsilon) if pair & 1 else 1.0 for pair in pairs])
        expected = people * odds / odds.sum()
        return float(((seen - expected) ** 2 / expected).sum())

    # 9 degrees of freedom: above 40 with a chance of 1e-5.
    assert statistic(1) < 40
    assert statistic(1.1) > 40


def test_reports_of_a_fixed_weight_pass_the_audit_and_less_noise_or_other_weights_do_not() -> None:
    claimed = OneHotNoise(1, 6, weight=2)
    assert audit_reports(claimed, trials=1 << 19).holds
    assert not audit_reports(claimed, at_another_rate(claimed, 1.1), trials=1 << 19).holds
    findings = audit_reports(
        claimed, OneHotNoise(1, 6, weight=3).add_noise, trials=1 << 10
    ).findings
    assert not next(each for each in findings if each.name == "public bound").holds
