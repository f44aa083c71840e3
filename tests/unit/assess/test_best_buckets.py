"""Each user keeps their best buckets, however posts and lines come, and memory stays bounded."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.assess.state import _buckets_kernels as kernels
from sottovoce.assess.state.buckets import BestBuckets, Lines
from sottovoce.errors import ParameterError

USERS, TOPICS = 6, 9
EVERYONE = np.arange(USERS)
Posts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def some_posts(seed: int, posts: int = 80) -> Posts:
    """Few users, buckets and strengths, so that all kinds of ties occur."""
    generator = np.random.default_rng(seed)
    users = generator.integers(0, USERS, posts)
    buckets = generator.integers(-2, 4, posts).astype(np.int32)
    return users, buckets, generator.integers(-3, 4, (posts, TOPICS)) / 3


def held_of(kept: int, posts: Posts) -> BestBuckets:
    held = BestBuckets(TOPICS, kept)
    held.add_posts(*posts)
    held.admit(USERS)
    return held


def check_best(held: BestBuckets, posts: Sequence[Posts]) -> None:
    """Compare with the definition: of each bucket the largest strength, the best ``kept``."""
    lines = held.lines(EVERYONE)
    begin = 0
    for user, used in enumerate(lines.used.tolist()):
        for topic in range(TOPICS):
            best: dict[int, float] = {}
            for users, buckets, strengths in posts:
                for row in np.flatnonzero(users == user):
                    bucket, strength = int(buckets[row]), float(strengths[row, topic])
                    best[bucket] = max(strength, best.get(bucket, strength))
            wanted = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[: held.kept]
            own = slice(begin, begin + used)
            found = zip(lines.buckets[own, topic], lines.strengths[own, topic], strict=True)
            assert [(int(bucket), float(each)) for bucket, each in found] == wanted
        begin += used


@pytest.mark.kernel
@pytest.mark.parametrize("kept", [1, 3, 12])
def test_lines_of_a_user_from_several_states_come_together(kept: int) -> None:
    """As Spark brings them: each user's lines of all parts, one part after another."""
    parts = [some_posts(seed, 20) for seed in range(3)]
    states = [held_of(kept, part) for part in parts]
    lines = [state.lines(np.array([user])) for user in range(USERS) for state in states]
    together = Lines(*(np.concatenate(each) for each in zip(*lines, strict=True)))
    held = BestBuckets(TOPICS, kept)
    held.add_lines(np.repeat(EVERYONE, len(parts)), together)
    check_best(held, parts)


def upside_down(lines: Lines) -> Lines:
    return Lines(lines.used[::-1].copy(), lines.buckets[::-1].copy(), lines.strengths[::-1].copy())


def with_a_gap(lines: Lines) -> Lines:
    lines.buckets[0, 1:] = kernels.EMPTY
    return lines


def with_no_number(lines: Lines) -> Lines:
    lines.strengths[0, 0] = np.nan
    return lines


def too_many(lines: Lines) -> Lines:
    return lines._replace(used=np.append(lines.used[:-1], 13))


@pytest.mark.parametrize("change", [upside_down, with_a_gap, with_no_number, too_many])
def test_lines_that_no_state_gives_are_refused(change: Callable[[Lines], Lines]) -> None:
    lines = change(held_of(12, some_posts(1)).lines(EVERYONE))
    with pytest.raises(ValueError, match="slots are not in order"):
        BestBuckets(TOPICS, 12).add_lines(EVERYONE, lines)


def test_strengths_that_are_no_numbers_are_refused_before_anything_is_folded() -> None:
    users, buckets, strengths = some_posts(2)
    strengths[7, 3] = np.nan
    held = BestBuckets(TOPICS, 2)
    with pytest.raises(ParameterError, match="strengths must be numbers"):
        held.add_posts(users, buckets, strengths)
    assert len(held) == 0


def test_gaps_are_closed_rather_than_room_doubled() -> None:
    """All users move from one slot to two: half as many slots again would be lost."""
    held, users = BestBuckets(1, 3), 1000
    for week in range(3):
        held.add_posts(np.arange(users), np.full(users, week, np.int32), np.ones((users, 1)))
    assert held._free[0] < 1.5 * 3 * users


def test_blocks_that_users_outgrow_are_used_again() -> None:
    """Room for a thousand users with three buckets each stays close to what they need."""
    best = BestBuckets(topics=2, kept=4)
    for bucket in range(3):
        users = np.arange(1000)
        best.add_posts(users, np.full(1000, bucket, np.int32), np.full((1000, 2), 0.5))
    assert best._free[0] <= 7000
    best.add_posts(np.arange(1000, 1500), np.zeros(500, np.int32), np.zeros((500, 2)))
    assert best._free[0] <= 7000
