"""What is counted is what was reported, however reports are mutated; planted faults are seen."""

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.prio3 import CONTEXT, counted, mutated, outputs

from sottovoce.privacy.vdaf._circuits import HistogramCircuit
from sottovoce.privacy.vdaf._proof import Proof
from sottovoce.privacy.vdaf.field import Words
from sottovoce.privacy.vdaf.prio3 import Prio3Histogram, Prio3SumVec

SMALL = 6, 2
USUAL = 20, 4
"""Buckets and chunk length."""


@given(
    st.integers(1, 9).flatmap(
        lambda length: st.tuples(
            st.just(length), st.lists(st.integers(0, length - 1), min_size=1, max_size=4)
        )
    ),
    st.integers(1, 11),
    st.integers(2, 4),
)
@settings(max_examples=25)
def test_a_histogram_of_shares_is_the_histogram(
    drawn: tuple[int, list[int]], chunk: int, shares: int
) -> None:
    length, buckets = drawn
    histogram = Prio3Histogram(length, chunk, context=CONTEXT, shares=shares)
    taken = [outputs(histogram, histogram.shard(bucket)) for bucket in buckets]
    sums = [histogram.aggregate(each) for each in zip(*taken, strict=True)]
    assert histogram.unshard(sums) == [buckets.count(bucket) for bucket in range(length)]


@given(
    st.integers(1, 40).flatmap(
        lambda most: st.tuples(
            st.just(most),
            st.lists(st.lists(st.integers(0, most), min_size=3, max_size=3), max_size=3),
        )
    ),
    st.integers(1, 6),
)
@settings(max_examples=15)
def test_sums_of_shares_are_the_sums(drawn: tuple[int, list[list[int]]], chunk: int) -> None:
    most, vectors = drawn
    sums = Prio3SumVec(3, most, chunk, context=CONTEXT)
    taken = [outputs(sums, sums.shard(vector)) for vector in vectors]
    totals = [sums.aggregate(each[place] for each in taken) for place in range(2)]
    assert sums.unshard(totals) == [sum(vector[i] for vector in vectors) for i in range(3)]


def changes(
    number: int, sizes: tuple[int, int], seed: int
) -> tuple[Counter[str], list[tuple[str, list[int]]]]:
    """Of so many reports, most of them mutated: which were taken, and those that were no bucket."""
    buckets, chunk = sizes
    histogram = Prio3Histogram(buckets, chunk, context=CONTEXT)
    chance = random.Random(seed)
    taken: Counter[str] = Counter()
    wrong = []
    for _ in range(number):
        way, report = mutated(histogram, buckets, chance)
        change = counted(histogram, report)
        if change is not None:
            taken[way] += 1
            if sorted(change) != [0] * (buckets - 1) + [1]:
                wrong.append((way, change))
    return taken, wrong


@pytest.mark.parametrize(
    ("number", "sizes"), [(500, SMALL), pytest.param(10_000, USUAL, marks=pytest.mark.long)]
)
def test_no_mutated_report_changes_anything_but_one_bucket(
    number: int, sizes: tuple[int, int]
) -> None:
    taken, wrong = changes(number, sizes, seed=23)
    assert wrong == []
    # Those with which nothing was done are taken, one in thirteen; no other is.
    assert set(taken) == {"nothing"}
    assert number / 26 < taken["nothing"] < number / 6


def _no_sum(self: HistogramCircuit, results: Words, vector: Words, shares: int) -> Words:
    return np.concatenate([self.field.total(results), self.field.zeros(1)])


def _no_range(self: HistogramCircuit, results: Words, vector: Words, shares: int) -> Words:
    one = self.field.minus(self.field.total(vector), self.field.part(shares))
    return np.concatenate([self.field.zeros(1), one])


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        pytest.param(Proof, "holds", lambda *_: True, id="the proof is not checked"),
        pytest.param(HistogramCircuit, "outputs", _no_sum, id="buckets are not added up"),
        pytest.param(HistogramCircuit, "outputs", _no_range, id="entries may be any number"),
    ],
)
def test_a_planted_fault_lets_wrong_counts_pass_and_is_seen(
    where: type, name: str, fault: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, fault)
    _, wrong = changes(120, SMALL, seed=29)
    assert wrong
