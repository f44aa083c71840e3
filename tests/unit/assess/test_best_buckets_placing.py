"""Slots that come as they are kept are copied; any others are folded in, to the same result."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.assess.state import buckets as best_buckets
from sottovoce.assess.state._buckets_kernels import EMPTY
from sottovoce.assess.state.buckets import BestBuckets, Lines
from sottovoce.errors import ParameterError

pytestmark = pytest.mark.kernel
USERS, TOPICS = 40, 3


def some(kept: int, seed: int, posts: int = 300) -> BestBuckets:
    """Users with any number of slots, and some with none; ties are common."""
    generator, held = np.random.default_rng(seed), BestBuckets(TOPICS, kept)
    users = generator.integers(0, USERS - 5, posts)
    buckets = generator.integers(0, 9, posts).astype(np.int32)
    held.add_posts(users, buckets, generator.integers(0, 6, (posts, TOPICS)) / 8)
    held.admit(USERS)
    return held


def same(first: BestBuckets, second: BestBuckets) -> bool:
    everyone = np.arange(USERS)
    one, other = first.lines(everyone), second.lines(everyone)
    return (
        np.array_equal(one.used, other.used)
        and np.array_equal(one.buckets, other.buckets)
        and np.array_equal(one.strengths, other.strengths)
    )


@pytest.mark.parametrize("kept", [1, 2, 3, 5, 12])
def test_what_is_copied_is_what_folding_gives_and_goes_on_growing(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, everyone = np.random.default_rng(kept).permutation(USERS), np.arange(USERS)
    copied, folded = BestBuckets(TOPICS, kept), BestBuckets(TOPICS, kept)
    lines = some(kept, 1).lines(order)
    with monkeypatch.context() as patch:
        patch.setattr(BestBuckets, "_fold", lambda *_: pytest.fail("it was folded in"))
        copied.add_lines(order, lines)
    folded._fold(np.repeat(order, lines.used), lines.buckets, lines.strengths)
    folded.admit(USERS)
    assert same(copied, folded)
    more = some(kept, 2).lines(everyone)
    copied.add_lines(everyone, more)
    folded._fold(np.repeat(everyone, more.used), more.buckets, more.strengths)
    assert same(copied, folded)
    assert np.array_equal(copied.strongest(), folded.strongest())


def upside_down(users: NDArray[np.int64], lines: Lines) -> tuple[NDArray[np.int64], Lines]:
    used, buckets, strengths = lines
    return users[::-1], Lines(used[::-1].copy(), buckets[::-1].copy(), strengths[::-1].copy())


def one_user_twice(users: NDArray[np.int64], lines: Lines) -> tuple[NDArray[np.int64], Lines]:
    return np.append(users[:-1], users[0]), lines


def with_a_gap(users: NDArray[np.int64], lines: Lines) -> tuple[NDArray[np.int64], Lines]:
    buckets = lines.buckets.copy()
    buckets[0, 1:] = EMPTY
    return users, lines._replace(buckets=buckets)


@pytest.mark.parametrize("change", [upside_down, one_user_twice, with_a_gap])
def test_what_is_not_as_it_is_kept_is_folded_in(
    change: Callable[[NDArray[np.int64], Lines], tuple[NDArray[np.int64], Lines]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    users, lines = change(np.arange(USERS - 10), some(4, 1).lines(np.arange(USERS - 10)))
    given, folded = BestBuckets(TOPICS, 4), BestBuckets(TOPICS, 4)
    monkeypatch.setattr(best_buckets, "place", lambda *_: pytest.fail("it was copied"))
    given.add_lines(users, lines)
    folded._fold(np.repeat(users, lines.used), lines.buckets, lines.strengths)
    for held in (given, folded):
        held.admit(USERS)
    assert same(given, folded)


def test_more_slots_than_are_kept_are_folded_in() -> None:
    held, more = BestBuckets(TOPICS, 2), some(4, 1)
    held.add_lines(np.arange(USERS), more.lines(np.arange(USERS)))
    assert np.array_equal(held.best(0, 2), more.best(0, 2))
    assert held.lines(np.arange(USERS)).used.max() == 2


def test_what_is_no_number_is_refused() -> None:
    lines = some(1, 1).lines(np.arange(USERS))
    lines.strengths[0, 0] = np.nan
    with pytest.raises(ParameterError, match="strengths must be numbers"):
        BestBuckets(TOPICS, 1).add_lines(np.arange(USERS), lines)
