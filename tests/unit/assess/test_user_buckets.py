"""Posts grouped by user and bucket fold in as single ones do, on any number of threads."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.assess.state import buckets as best_buckets
from sottovoce.assess.state.buckets import BestBuckets, UserBuckets
from sottovoce.compiled import on_threads
from sottovoce.errors import ParameterError

Posts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def _posts(seed: int, posts: int = 80, topics: int = 9) -> Posts:
    """Few users, buckets and strengths, so that all kinds of ties occur."""
    generator = np.random.default_rng(seed)
    users = generator.integers(0, 6, posts)
    buckets = generator.integers(-2, 4, posts).astype(np.int32)
    return users, buckets, generator.integers(-3, 4, (posts, topics)) / 3


def _one_by_one(kept: int, posts: Posts) -> BestBuckets:
    """As lines of another state are folded in: a post at a time, a topic at a time."""
    users, buckets, strengths = posts
    held = BestBuckets(strengths.shape[1], kept)
    for user, bucket, line in zip(users, buckets, strengths, strict=True):
        wide = np.full((1, line.size), bucket, np.int32)
        held._fold(np.array([user]), wide, line[np.newaxis])
    return held


@pytest.mark.kernel
@pytest.mark.parametrize("kept", [1, 2, 3, 12])
@pytest.mark.parametrize("threads", [1, 4])
def test_groups_are_folded_in_like_single_posts(kept: int, threads: int) -> None:
    for seed in range(4):
        users, buckets, strengths = posts = _posts(seed)
        held = BestBuckets(strengths.shape[1], kept)
        for part in np.array_split(np.arange(users.size), 3):
            groups = UserBuckets.group_posts(users[part], buckets[part])
            held.add_groups(groups.users, groups, groups.strongest(strengths[part]), threads)
        found, wanted = held.lines(np.arange(6)), _one_by_one(kept, posts).lines(np.arange(6))
        assert np.array_equal(found.used, wanted.used)
        assert np.array_equal(found.buckets, wanted.buckets)
        assert np.array_equal(found.strengths, wanted.strengths)


@pytest.mark.parametrize("parts", [1, 2, 3, 50])
def test_no_user_is_cut_in_two(parts: int) -> None:
    users, buckets, _ = _posts(1)
    groups = UserBuckets.group_posts(users, buckets)
    cuts = groups.cuts(parts)
    assert cuts[0] == 0
    assert cuts[-1] == groups.users.size
    assert len(cuts) - 1 <= min(parts, 6)
    assert cuts == sorted(set(cuts))
    assert all(groups.users[cut] != groups.users[cut - 1] for cut in cuts[1:-1])
    assert parts < 2 or len(cuts) > 2


def test_strengths_that_are_no_numbers_are_refused_before_anything_is_folded() -> None:
    users, buckets, strengths = _posts(2)
    strengths[7, 3] = np.nan
    held = BestBuckets(strengths.shape[1], 2)
    with pytest.raises(ParameterError, match="strengths must be numbers"):
        held.add_posts(users, buckets, strengths)
    assert len(held) == 0


def test_threads_share_out_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(tasks: Sequence[Callable[[], object]]) -> list[object]:
        seen.append(len(tasks))
        return on_threads(tasks)

    monkeypatch.setattr(best_buckets, "on_threads", watched)
    users, buckets, strengths = _posts(3)
    groups = UserBuckets.group_posts(users, buckets)
    held = BestBuckets(strengths.shape[1], 2)
    held.add_groups(groups.users, groups, groups.strongest(strengths), 3)
    assert seen == [3]
