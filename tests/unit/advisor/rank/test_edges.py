"""Bucket edges fitted to published histograms, and their file."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rank_crowds import TOPIC, crowd, opened, repeated, rules_for

from sottovoce.advisor.rank.description import Buckets, Description, RankedTopic
from sottovoce.advisor.rank.histogram import (
    BANDS,
    FORMAT,
    Histogram,
    fitted_buckets,
    load_edges,
    save_edges,
)
from sottovoce.arrays import Floats
from sottovoce.errors import InputError, ParameterError

PEOPLE = 20_000


def described(buckets: Buckets, measure: str = "lda") -> Description:
    return Description("shares", Fraction(1), (RankedTopic(TOPIC, measure, buckets),))


def published(counts: list[int], rules: Description) -> Histogram:
    return Histogram.of_opened(rules, TOPIC, 0, sum(counts), counts)


def gaps_by_round(scores: Floats, rounds: int) -> list[float]:
    """The share of people between a limit and the last edge inside it, added over the limits."""
    buckets, gaps = Buckets.even(0, 1), []
    for _ in range(rounds):
        rules = described(buckets)
        above = (scores[:, None] >= np.array(buckets.edges)).mean(axis=0)
        gaps.append(sum(band / 100 - max([0, *above[above <= band / 100]]) for band in BANDS))
        places = np.searchsorted(buckets.edges, scores, side="right")
        counts = np.bincount(places, minlength=buckets.number)
        buckets = fitted_buckets(published(counts.tolist(), rules), rules)
    return gaps


def test_fitted_edges_come_close_to_every_limit() -> None:
    scores = crowd(PEOPLE, rules_for("shares", Fraction(1), 20), seed=3).scores
    even, once, *later = gaps_by_round(scores, 5)
    assert even > 0.15
    assert once < 0.06
    assert max(later) < 0.025


def test_they_do_so_though_all_people_began_in_one_bucket() -> None:
    """A straight line is far off there, so the first edges must lie wide apart."""
    scores = np.random.default_rng(1).beta(0.5, 8, PEOPLE) * 0.05
    even, _, *later = gaps_by_round(scores, 5)
    assert even > 0.9
    assert max(later) < 0.05


def test_after_two_fits_nearly_all_are_told_their_exact_score_s_band() -> None:
    rules, right = rules_for("shares", Fraction(4), 20), []
    for _ in range(4):
        community = crowd(PEOPLE, rules, seed=PEOPLE)
        publish = opened(community, rules)
        row = repeated(community, rules, publish, 3)
        right.append(float(row["bands_right_by_score"]))  # type: ignore[arg-type] # a number
        rules = described(fitted_buckets(publish(), rules, 20))
    assert right[0] < 0.85
    assert min(right[2:]) > 0.98


def at_least_a_hundred(counts: list[int]) -> list[int]:
    """As many more in the first bucket as are missing."""
    first, *others = counts
    return [first + max(0, 100 - sum(counts)), *others]


@given(
    counts=st.lists(st.integers(-30, 400), min_size=2, max_size=30).map(at_least_a_hundred),
    number=st.integers(2, 40),
    measure=st.sampled_from(["lda", "w2v-dt", "kld"]),
)
def test_whatever_is_published_gives_edges_that_increase(
    counts: list[int], number: int, measure: str
) -> None:
    rules = described(Buckets.even(-1, 1, len(counts)), measure)
    fitted = fitted_buckets(published(counts, rules), rules, number)
    assert 2 <= fitted.number <= number
    assert fitted == fitted_buckets(published(counts, rules), rules, number)


def test_with_few_buckets_every_band_still_has_an_edge_inside_it() -> None:
    counts = [100] * 100
    rules = described(Buckets.even(0, 1, 100))
    edges = fitted_buckets(published(counts, rules), rules, 6).edges
    # Scores are even here, so that the share above an edge is one minus the edge.
    inside = [band / 100 - (1 - edge) for band, edge in zip(BANDS[::-1], edges, strict=True)]
    assert all(0 < gap < 0.012 for gap in inside)


def test_more_or_fewer_buckets_than_a_server_may_have_are_refused() -> None:
    rules = described(Buckets.even(0, 1))
    histogram = published([50] * 20, rules)
    for number in (1, 201):
        with pytest.raises(ParameterError, match="2 to 200 buckets"):
            fitted_buckets(histogram, rules, number)


def test_edges_come_back_from_their_file_to_the_last_bit(tmp_path: Path) -> None:
    topics = {
        name: RankedTopic(name, "lda-dt", Buckets((-0.1, 0.1 + 0.2, 1 / 3)))
        for name in ("debt", "pain and sorrow")
    }
    save_edges(tmp_path / "edges.json", topics)
    assert load_edges(tmp_path / "edges.json") == topics


def edges_file(form: str, *topics: object) -> bytes:
    return json.dumps({"format": form, "topics": topics}).encode()


NAMED = {"name": "a", "measure": "lda"}


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff", b"[]", b"{}", b"[" * 100_000),
        edges_file("other"),
        edges_file(FORMAT, NAMED),
        edges_file(FORMAT, NAMED | {"edges": [2, 1]}),
        edges_file(FORMAT, NAMED | {"edges": ["x"]}),
    ],
)
def test_a_file_that_holds_no_edges_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "edges.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a file of edges; write one with"):
        load_edges(path)
    with pytest.raises(InputError, match="cannot read"):
        load_edges(tmp_path / "none")
