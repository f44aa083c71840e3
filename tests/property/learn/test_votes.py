"""A vote is bounded, and a function of one document alone."""

from dataclasses import replace
from random import Random
from typing import TypeAlias

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.learn.documents import Documents
from sottovoce.learn.run.count import VotePlan

WORDS = ("bank", "debt", "doctor", "hill", "loan", "sea")
LABELS = ("ham", "spam")
Found: TypeAlias = list[tuple[str, str, int, str]]
texts = st.lists(st.sampled_from([*WORDS, "unlisted"]), max_size=12).map(" ".join)
rows = st.lists(
    st.tuples(texts, st.sampled_from(LABELS), st.integers(0, 2), st.sampled_from("abc")),
    min_size=1,
    max_size=8,
)
plans = st.builds(
    lambda what, votes, by_label: VotePlan(
        what, WORDS, LABELS if by_label and what == "words" else (), votes
    ),
    st.sampled_from(["words", "pairs"]),
    st.integers(2, 9),
    st.booleans(),
)
keys = st.binary(min_size=16, max_size=32)


def documents(found: Found) -> Documents:
    columns = [tuple(each) for each in zip(*found, strict=True)]
    return Documents(columns[0], columns[1], np.array(columns[2]), columns[3])


@settings(max_examples=40)
@given(plans, keys, rows, st.data())
def test_without_a_row_the_sum_is_less_by_exactly_its_vector(
    plan: VotePlan, key: bytes, found: Found, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(found) - 1))
    whole = plan.sum_votes(key, documents(found))
    alone = plan.sum_votes(key, documents([found[at]]))
    rest = found[:at] + found[at + 1 :]
    without = plan.sum_votes(key, documents(rest)) if rest else np.zeros(plan.cells, np.int64)
    assert np.array_equal(whole - without, alone)


@settings(max_examples=40)
@given(plans, keys, rows)
def test_no_vector_is_larger_than_the_bound(plan: VotePlan, key: bytes, found: Found) -> None:
    for row in found:
        vector = plan.sum_votes(key, documents([row]))
        words = [word for word in row[0].split() if word in WORDS]
        assert vector.min() >= 0
        assert vector.sum() <= plan.votes
        if plan.what == "pairs":
            assert vector.sum() == (plan.votes if len(words) > 1 else 0)
        else:
            assert vector.sum() == 1 + min(plan.votes - 1, len(set(words)))


@settings(max_examples=30)
@given(plans, keys, rows, st.integers(1, 3))
def test_all_that_a_user_wrote_has_a_bounded_vector(
    plan: VotePlan, key: bytes, found: Found, bound: int
) -> None:
    bounded = replace(plan, documents_per_user=bound)
    whole = bounded.sum_votes(key, documents(found))
    for user in {row[2] for row in found}:
        others = [row for row in found if row[2] != user]
        rest = bounded.sum_votes(key, documents(others)) if others else np.zeros_like(whole)
        assert np.abs(whole - rest).sum() <= bound * plan.votes
        assert (whole >= rest).all()


@settings(max_examples=30)
@given(plans, keys, rows, st.randoms())
def test_the_order_of_the_rows_does_not_count(
    plan: VotePlan, key: bytes, found: Found, random: Random
) -> None:
    bounded = replace(plan, documents_per_user=2)
    mixed = list(found)
    random.shuffle(mixed)
    for each in (plan, bounded):
        assert np.array_equal(
            each.sum_votes(key, documents(found)), each.sum_votes(key, documents(mixed))
        )
