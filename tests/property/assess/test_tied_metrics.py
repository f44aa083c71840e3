"""Metrics of rankings with ties: closed forms against all orders, and against ir-measures."""

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.arrays import Floats
from sottovoce.assess.evaluation.metrics import (
    average_precision,
    hits_of_sensitive_users,
    ndcg,
    precision_at,
    r_precision,
    tie_order,
    tied_ranking,
)
from sottovoce.corpus.simulate.write import r_precision as counted_r_precision

Sample = tuple[Floats, "np.ndarray[tuple[int], np.dtype[np.bool_]]", Floats]
Plain = Callable[[Sequence[bool], Sequence[float]], float]


@st.composite
def small_communities(draw: st.DrawFn, most: int = 6) -> Sample:
    """Few users, few different scores, at least one sensitive user."""
    users = draw(st.integers(2, most))
    scores = draw(st.lists(st.integers(-1, 2), min_size=users, max_size=users))
    sensitive = draw(st.lists(st.booleans(), min_size=users, max_size=users).filter(any))
    grades = draw(st.lists(st.integers(0, 4), min_size=users, max_size=users))
    graded = np.array(grades) / 4 + 0.25 * np.array(sensitive)
    return np.array(scores, dtype=float), np.array(sensitive), graded


def plain_r_precision(sensitive: Sequence[bool], _grades: Sequence[float]) -> float:
    r = sum(sensitive)
    return sum(sensitive[:r]) / r


def plain_precision_at_5(sensitive: Sequence[bool], _grades: Sequence[float]) -> float:
    return sum(sensitive[:5]) / 5


def plain_average_precision(sensitive: Sequence[bool], _grades: Sequence[float]) -> float:
    at = [place for place, hit in enumerate(sensitive, 1) if hit]
    return sum(found / place for found, place in enumerate(at, 1)) / len(at)


def plain_dcg(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(1 + place) for place, grade in enumerate(grades, 1))


def plain_ndcg(_sensitive: Sequence[bool], grades: Sequence[float]) -> float:
    return plain_dcg(grades) / plain_dcg(sorted(grades, reverse=True))


def mean_over_orders(sample: Sample, metric: Plain) -> float:
    """All orders of users that do not put a lower score before a higher one."""
    scores, sensitive, grades = sample
    values = [
        metric(sensitive[list(order)].tolist(), grades[list(order)].tolist())
        for order in permutations(range(len(scores)))
        if (np.diff(scores[list(order)]) <= 0).all()
    ]
    return float(np.mean(values))


def closed_forms(sample: Sample) -> dict[str, float]:
    scores, sensitive, grades = sample
    ranking = tied_ranking(scores, sensitive, grades)
    ideal = tied_ranking(grades, sensitive, grades)
    return {
        "r": float(r_precision(ranking)),
        "p5": float(precision_at(ranking, 5)),
        "ap": float(average_precision(ranking)),
        "ndcg": float(ndcg(ranking, ideal)),
    }


PLAIN: dict[str, Plain] = {
    "r": plain_r_precision,
    "p5": plain_precision_at_5,
    "ap": plain_average_precision,
    "ndcg": plain_ndcg,
}


@settings(max_examples=60, deadline=None)
@given(small_communities())
def test_every_metric_is_its_mean_over_all_orders_of_tied_users(sample: Sample) -> None:
    expected = {name: mean_over_orders(sample, metric) for name, metric in PLAIN.items()}
    assert closed_forms(sample) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(small_communities(most=12), st.integers(2, 4))
def test_a_user_drawn_twice_counts_like_two_tied_users(sample: Sample, times: int) -> None:
    scores, sensitive, grades = sample
    order = tie_order(scores)
    weights = np.full(len(scores), float(times))
    drawn = tied_ranking(
        np.repeat(scores, times), np.repeat(sensitive, times), np.repeat(grades, times)
    )
    assert order.totals(weights) == pytest.approx(drawn.size)
    assert order.totals(weights * sensitive) == pytest.approx(drawn.relevant)
    assert order.totals(weights * grades) == pytest.approx(drawn.gain)


@settings(max_examples=100, deadline=None)
@given(small_communities(most=30))
def test_hits_of_sensitive_users_average_to_r_precision(sample: Sample) -> None:
    scores, sensitive, _ = sample
    hits = hits_of_sensitive_users(tie_order(scores), sensitive)
    assert len(hits) == sensitive.sum()
    assert hits.mean() == pytest.approx(float(r_precision(tied_ranking(scores, sensitive))))


@settings(max_examples=100, deadline=None)
@given(small_communities(most=30))
def test_r_precision_is_that_by_which_difficulties_were_chosen(sample: Sample) -> None:
    scores, sensitive, _ = sample
    expected = counted_r_precision(scores, sensitive)
    assert float(r_precision(tied_ranking(scores, sensitive))) == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_metrics_without_ties_are_those_of_ir_measures(users: int, seed: int) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 4, users)
    levels[rng.integers(users)] = 3
    scores = rng.permutation(users).astype(float)
    found = closed_forms((scores, levels >= 2, levels / 3))
    qrels = [ir_measures.Qrel("t", f"u{user}", int(level)) for user, level in enumerate(levels)]
    run = [ir_measures.ScoredDoc("t", f"u{user}", score) for user, score in enumerate(scores)]
    names = {
        "r": ir_measures.Rprec(rel=2),
        "p5": ir_measures.P(rel=2) @ 5,
        "ap": ir_measures.AP(rel=2),
        "ndcg": ir_measures.nDCG,
    }
    theirs = ir_measures.calc_aggregate(names.values(), qrels, run)
    assert found == pytest.approx({name: theirs[each] for name, each in names.items()}, abs=1e-9)
