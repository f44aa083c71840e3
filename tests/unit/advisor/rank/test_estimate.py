"""From a histogram to a rank: bounds, bands and the words for them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.rank_servers import description

from sottovoce.advisor.rank.histogram import REST, Histogram, band_of, estimate_rank, share_margins
from sottovoce.advisor.rank.noise import deviations, noise_margins
from sottovoce.errors import InputError

RULES = replace(description("shares", minimum=2), epsilon=Fraction(100))
"""So little noise that the margins are a few people at most."""


def histogram(counts: list[float]) -> Histogram:
    return Histogram("debt", 7, RULES.version, round(sum(counts)), tuple(counts))


def test_the_position_lies_between_those_above_and_those_in_her_bucket() -> None:
    counts = [1000.0] * 10 + [500.0] * 9 + [30.0]
    found = estimate_rank(histogram(counts), RULES, 18)
    assert (found.low, found.high) == (31, 530)
    assert found.share == pytest.approx(530 / sum(counts))
    assert found.band == "top 5%"


def test_a_band_is_told_only_when_the_interval_lies_in_it() -> None:
    rules = replace(RULES, epsilon=Fraction(1))
    counts = [475.0, *[0.0] * 17, 0.0, 25.0]
    # 25 of 500 are the top 5% exactly, and the noise of a few people reaches beyond.
    found = estimate_rank(replace(histogram(counts), version=rules.version), rules, 19)
    assert (found.band, found.within, found.beyond) == (None, 10, 1)
    assert "the noise hides whether you are in a narrower band" in found.in_words()
    assert estimate_rank(histogram(counts), RULES, 19).band == "top 5%"


def test_whoever_is_below_the_widest_band_is_in_the_rest() -> None:
    found = estimate_rank(histogram([400.0, *[0.0] * 18, 100.0]), RULES, 0)
    assert (found.band, found.beyond) == (REST, 50)
    assert "range reaches beyond the top 50%" in found.in_words()


def test_noise_that_hides_every_band_is_said_in_words() -> None:
    rules = description(minimum=2)
    counts = tuple([5.0] * 20)
    found = estimate_rank(Histogram("debt", 7, rules.version, 100, counts), rules, 10)
    assert found.band is None
    assert "hides which band" in found.in_words()
    assert 1 <= found.low <= found.high <= 100


@pytest.mark.parametrize(
    ("at_least", "band"),
    [(1, "top 1%"), (2, "top 5%"), (5, "top 5%"), (10, "top 10%"), (26, "top 50%"), (51, REST)],
)
def test_bands_follow_the_rule_of_assess(at_least: int, band: str) -> None:
    assert band_of(at_least, 100) == band


def test_who_shares_a_bucket_that_reaches_beyond_a_band_is_not_told_to_be_outside_it() -> None:
    """Of 100 people 40 are above her bucket and 30 in it: by score she may be the 41st."""
    rules = description("shares", epsilon="100")
    counts = (30.0, *[0.0] * 9, 30.0, *[0.0] * 8, 40.0)
    found = estimate_rank(Histogram("debt", 7, rules.version, 100, counts), rules, 10)
    assert (found.low, found.high, found.band) == (41, 70, "rest")
    assert "You are not" not in found.in_words()


def test_moving_estimates_to_the_known_number_leaves_no_doubt_about_everybody() -> None:
    rules = description()
    total = np.arange(20) + 40
    made = Histogram.of_noised(rules, "debt", 7, 100, total)
    assert sum(made.counts or ()) == pytest.approx(100)
    spread = deviations(rules.noise("debt"), 100)
    assert spread[0] == spread[-1] == 0
    assert spread[10] == spread.max()


def test_too_few_reports_are_withheld_with_their_number() -> None:
    made = Histogram.of_noised(description(minimum=5), "debt", 7, 4, np.zeros(20, dtype=np.int64))
    assert made.counts is None
    assert made.reports == 0
    with pytest.raises(InputError, match="withheld"):
        made.cumulative()


@pytest.mark.parametrize(
    "change",
    [
        {"counts": [1.0]},
        {"counts": [float("nan")] * 20},
        {"counts": "x"},
        {"description": "another"},
        {"reports": 1},
        {"topic": None},
    ],
)
def test_a_histogram_that_does_not_fit_its_description_is_refused(
    change: dict[str, object],
) -> None:
    rules = description(minimum=5)
    record = Histogram("debt", 7, rules.version, 100, tuple([5.0] * 20)).record()
    assert Histogram.from_record(record, rules).counts == tuple([5.0] * 20)
    with pytest.raises(InputError):
        Histogram.from_record(record | change, rules)


def test_margins_of_shares_are_quantiles_of_the_noise_that_is_added() -> None:
    margins = share_margins(0.5, 20, 0.95)
    assert margins[0] == margins[20] == 0
    draws = np.random.default_rng(0).geometric(1 - np.exp(-0.5), (2, 200_000, 2))
    two = (draws[0] - draws[1]).sum(axis=1)
    assert np.mean(two <= margins[19]) >= 0.975
    assert np.mean(two <= margins[19] - 1) < 0.976
    assert noise_margins(description().noise("debt"), 400, 0.95)[10] == pytest.approx(
        1.95996 * deviations(description().noise("debt"), 400)[10], rel=1e-4
    )
