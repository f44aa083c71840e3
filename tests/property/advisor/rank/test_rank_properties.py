"""Ranks from histograms, and what comes from a server, for whatever hypothesis thinks of."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.advisor.rank.description import Buckets, Description, Mode, RankedTopic
from sottovoce.advisor.rank.histogram import BANDS, REST, Histogram, estimate_rank
from sottovoce.advisor.rank.shares import (
    ServerSide,
    SharedReport,
    answer_shares,
    ask_shares,
    decide_reports,
    demand_sum,
    join_sums,
    list_accepted,
    yield_sum,
)
from sottovoce.errors import InputError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def rules(mode: Mode, epsilon: Fraction, buckets: int) -> Description:
    ranked = RankedTopic("debt", "lda", Buckets.even(0, 1, buckets))
    return Description(mode, epsilon, (ranked,), minimum=2)


@st.composite
def histograms(draw: st.DrawFn) -> tuple[Description, Histogram]:
    mode: Mode = draw(st.sampled_from(("noise", "shares")))
    epsilon = draw(st.fractions(Fraction(1, 10), 8, max_denominator=100))
    buckets = draw(st.integers(2, 30))
    described = rules(mode, epsilon, buckets)
    counts = draw(st.lists(st.floats(-1e6, 1e6), min_size=buckets, max_size=buckets))
    reports = draw(st.integers(2, 10**6))
    return described, Histogram("debt", 3, described.version, reports, tuple(counts))


@given(histograms(), st.data())
def test_whatever_was_published_a_rank_is_a_sensible_interval(
    published: tuple[Description, Histogram], data: st.DataObject
) -> None:
    described, histogram = published
    buckets = described.topic("debt").buckets.number
    found = estimate_rank(histogram, described, data.draw(st.integers(0, buckets - 1)))
    assert 1 <= found.low <= found.high <= histogram.reports
    assert found.low <= found.share * histogram.reports * (1 + 1e-9)
    assert found.share * histogram.reports <= found.high * (1 + 1e-9)
    assert found.band in {None, REST, f"top {found.within}%"}
    assert found.within is None or found.beyond is None or found.within > found.beyond
    assert found.within in {None, *BANDS}
    assert found.in_words()


@given(histograms())
def test_numbers_that_add_up_never_grow_with_the_bucket(
    published: tuple[Description, Histogram],
) -> None:
    at_least = published[1].at_least()
    assert (np.diff(at_least) <= 0).all(), "within nobody and everybody"
    assert at_least[0] == published[1].reports
    assert at_least[-1] == 0


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30, unique=True), st.data())
def test_a_higher_score_never_has_a_lower_bucket(edges: list[float], data: st.DataObject) -> None:
    buckets = Buckets(tuple(sorted(edges)))
    low, high = sorted(data.draw(st.tuples(*[st.floats(allow_nan=False)] * 2)))
    assert 0 <= buckets.find(low) <= buckets.find(high) < buckets.number


@given(histograms())
def test_description_and_histogram_survive_their_record(
    published: tuple[Description, Histogram],
) -> None:
    described, histogram = published
    again = Description.from_record(described.record())
    assert again == described
    assert again.version == described.version
    assert Histogram.from_record(histogram.record(), again) == histogram


@pytest.mark.parametrize("counts", [[1e308] * 3, [math.nan, 1.0, 1.0], [-1e16, 1.0, 1.0]])
def test_counts_of_more_people_than_there_can_be_are_refused(counts: list[float]) -> None:
    described = rules("noise", Fraction(1), 3)
    good = Histogram("debt", 3, described.version, 10, (1.0, 2.0, 7.0)).record()
    with pytest.raises(InputError, match="3 finite counts"):
        Histogram.from_record(good | {"counts": counts}, described)
    with pytest.raises(InputError, match="more reports than"):
        Histogram.from_record(good | {"reports": 10**16}, described)


@given(json_values, st.data())
@settings(max_examples=100)
def test_whatever_a_server_answers_only_our_own_errors_come_of_it(
    value: Any,  # noqa: ANN401 - JSON
    data: st.DataObject,
) -> None:
    described = rules("noise", Fraction(1), 3)
    record = described.record()
    broken = record | {data.draw(st.sampled_from(sorted(record))): value}
    try:
        found = Description.from_record(broken)
    except InputError:
        pass
    else:
        assert isinstance(found, Description)
    good = Histogram("debt", 3, described.version, 10, (1.0, 2.0, 7.0)).record()
    broken = good | {data.draw(st.sampled_from(sorted(good))): value}
    try:
        histogram = Histogram.from_record(broken, described)
    except InputError:
        return
    if histogram.counts is not None:
        estimate_rank(histogram, described, 1)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12), st.data())
@settings(max_examples=25, deadline=None)
def test_what_two_servers_open_is_the_count_of_what_both_hold(
    buckets: list[int], data: st.DataObject
) -> None:
    described = rules("shares", Fraction(200), 6)
    tokens = [f"{place:032x}" for place in range(len(buckets))]
    some = st.lists(st.sampled_from(tokens), unique=True)
    common = data.draw(st.lists(st.sampled_from(tokens), unique=True, min_size=2))
    held = [data.draw(st.permutations([*{*common, *data.draw(some)}])) for _ in range(2)]
    both = sorted(set(held[0]) & set(held[1]))
    made = {
        token: SharedReport.of_bucket(described, "debt", 1, token, bucket)
        for token, bucket in zip(tokens, buckets, strict=True)
    }
    sides = [ServerSide(described, "debt", 1, bytes(32), place) for place in range(2)]
    begun = [
        side.begin({token: made[token].payload(side.server) for token in own})
        for side, own in zip(sides, held, strict=True)
    ]
    answered, second = answer_shares(sides[1], begun[1], ask_shares(sides[0], begun[0]))
    first = decide_reports(sides[0], begun[0], answered)
    assert list_accepted(first) == list_accepted(second) == both
    told = yield_sum(sides[1], second, demand_sum(sides[0], first))
    expected = np.bincount([buckets[tokens.index(token)] for token in both], minlength=6)
    assert join_sums(sides[0], first, told) == (len(both), expected.tolist())
