"""For each user and topic the best time buckets, in memory that does not grow with the posts.

A user has a block of slots, each a line over the topics. Per topic the slots hold pairs (bucket,
largest strength in it), the strongest first and of equals the earlier bucket first. At most
``kept`` pairs are kept, which is enough: a bucket among the overall best is among the best of that
part of the posts which holds its maximum. So states of parts merge to exactly the state of the
whole, in whatever order and however the posts were cut. The slots lie in arrays that grow to many
times their size without being copied, nor held twice meanwhile.
"""

import mmap
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sottovoce.assess.state._buckets_kernels import (
    EMPTY,
    NOWHERE,
    close_gaps,
    count_used,
    gather_best,
    gather_strongest,
    in_order,
    insert,
    largest_in_each,
    make_way,
    place,
)
from sottovoce.compiled import on_threads
from sottovoce.errors import ParameterError

_WORTH_LARGE_PAGES = 1 << 23
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)


class GrowingRows:
    """Rows of ``width`` numbers, zero at first; those that nobody writes to take no memory."""

    def __init__(self, width: int, kind: DTypeLike) -> None:
        self._width = width
        self._kind = np.dtype(kind)
        self._pages: mmap.mmap | None = None
        self.array: NDArray[Any] = np.zeros((0, width), self._kind)

    def grow(self, rows: int) -> None:
        """Make room for ``rows``, which is more than there are."""
        size = max(1, rows * self._width * self._kind.itemsize)
        old, self.array = self.array, np.zeros((0, self._width), self._kind)
        if self._pages is None:
            self._pages = mmap.mmap(-1, size, flags=_PRIVATE)
        else:
            del old
            self._pages = _resize_pages(self._pages, size)
        _in_large_pages(self._pages)
        whole = np.frombuffer(self._pages, self._kind, count=rows * self._width)
        self.array = whole.reshape(rows, self._width)


def _in_large_pages(pages: mmap.mmap) -> None:
    """Ask for large pages, where the system has them: users are looked up all over the rows."""
    if len(pages) >= _WORTH_LARGE_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):
            pages.madvise(mmap.MADV_HUGEPAGE)


def _resize_pages(pages: mmap.mmap, size: int) -> mmap.mmap:
    try:
        # The system moves the pages to where there is room for more.
        pages.resize(size)
    except (BufferError, SystemError, OSError, ValueError):
        # Somebody looks at the rows, or this system cannot.
        wider = mmap.mmap(-1, size, flags=_PRIVATE)
        wider[: len(pages)] = pages[:]
        return wider
    return pages


TOPICS_AT_ONCE = 16
"""So that what the processor fetches at once is used."""
_FIRST_SLOTS = 64
_BUCKET_BITS = 32
_GAPS_WORTH_CLOSING = 0.2


class Lines(NamedTuple):
    """The slots of some users, one after another."""

    used: NDArray[np.int64]
    """How many slots each user has."""
    buckets: NDArray[np.int32]
    """Slots x topics."""
    strengths: NDArray[np.float64]
    """Slots x topics."""


class UserBuckets(NamedTuple):
    """Posts grouped by user and bucket, a user's groups together."""

    users: NDArray[np.int64]
    """Of each group."""
    buckets: NDArray[np.int32]
    """Of each group."""
    begins: NDArray[np.int64]
    """Where each group begins in ``order``, and where the last one ends."""
    order: NDArray[np.int64]
    """The posts, group by group."""

    @classmethod
    def group_posts(cls, users: NDArray[np.int64], buckets: NDArray[np.int32]) -> "UserBuckets":
        """Group posts by the number of each one's user and its bucket."""
        keys = (users << _BUCKET_BITS) + (buckets.astype(np.int64) - np.int64(EMPTY))
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        new = np.ones(keys.size, np.bool_)
        new[1:] = ordered[1:] != ordered[:-1]
        firsts = np.flatnonzero(new)
        posts = order[firsts]
        begins = np.append(firsts, keys.size)
        return cls(users[posts], buckets[posts], begins, order)

    def strongest(self, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Groups x topics: the largest of the posts' strengths; what is no number is refused."""
        found = np.empty((self.users.size, strengths.shape[1]))
        if not largest_in_each(self.order, self.begins, strengths, found):
            raise ParameterError("strengths must be numbers, got some that are not.")
        return found

    def cuts(self, parts: int) -> list[int]:
        """Where to cut the groups into about equal parts, none within a user."""
        goals = [self.users.size * part // parts for part in range(1, parts)]
        firsts = np.flatnonzero(np.diff(self.users, prepend=-1))
        inner = firsts[np.minimum(np.searchsorted(firsts, goals), firsts.size - 1)]
        return [0, *np.unique(inner[inner > 0]).tolist(), self.users.size]


class BestBuckets:
    """The best (bucket, strength) pairs of each user and topic."""

    def __init__(self, topics: int, kept: int) -> None:
        if kept < 1:
            raise ParameterError(f"m kept must be >= 1, got {kept}.")
        self.topics = topics
        self.kept = kept
        self._users = 0
        self._strengths = GrowingRows(topics, np.float64)
        self._buckets = GrowingRows(topics, np.int32)
        # For the first slot of a free block: the next free block of its size.
        self._following = np.empty(0, np.int64)
        self._start = np.empty(0, np.int64)
        self._room = np.empty(0, np.int32)
        # The first slot never given away, then a free block of each size: 1, 2, 4, ... kept.
        self._free = np.array([0] + [NOWHERE] * (1 + (kept - 1).bit_length()), np.int64)

    def __len__(self) -> int:
        return self._users

    def admit(self, population: int) -> None:
        """Make rows for users up to ``population``."""
        if population > self._start.size:
            size = max(population, 2 * self._start.size)
            self._start, self._room = _longer(self._start, size), _longer(self._room, size)
        self._users = max(self._users, population)

    def add_posts(
        self, users: NDArray[np.int64], buckets: NDArray[np.int32], strengths: NDArray[np.float64]
    ) -> None:
        """Fold in posts: the row of each one's user, its bucket and its strength per topic."""
        groups = UserBuckets.group_posts(users, buckets)
        self.add_groups(groups.users, groups, groups.strongest(strengths))

    def add_groups(
        self,
        users: NDArray[np.int64],
        groups: "UserBuckets",
        strengths: NDArray[np.float64],
        threads: int = 1,
    ) -> None:
        """Fold in the largest strengths of ``groups``, whose users have these rows.

        Each thread has users of its own, so that the result does not depend on how many there are.
        """
        if users.size:
            self._insert(users, groups.buckets, strengths, groups.cuts(threads))

    def add_lines(self, users: NDArray[np.int64], lines: Lines) -> None:
        """Fold in what other states hold of ``users``, each one's lines together; ``ValueError``.

        Lines that no state gives are refused: a user's best bucket comes first.
        """
        if (lines.used > self.kept).any() or not in_order(*lines):
            raise ValueError("slots are not in order")
        if users.size:
            self.admit(int(users.max()) + 1)
        if not self._room[users].any() and np.unique(users).size == users.size:
            self._place(users, lines)
        elif (rows := np.repeat(users, lines.used)).size:
            self._insert(rows, lines.buckets, lines.strengths, [0, rows.size])

    def count_used(self, users: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many slots each of ``users`` has in use."""
        used: NDArray[np.int64] = count_used(self._buckets.array, self._start, self._room, users)
        return used

    def lines(self, users: NDArray[np.int64]) -> Lines:
        """What is held of ``users``, as ``add_lines`` takes it."""
        used = self.count_used(users)
        ends = np.cumsum(used)
        first = np.repeat(self._start[users] - (ends - used), used)
        places = np.arange(first.size) + first
        return Lines(used, self._buckets.array[places], self._strengths.array[places])

    def best(self, topic: int, m: int) -> NDArray[np.float64]:
        """Users x m: the strengths of the best buckets for one topic, 0 where there is none."""
        best: NDArray[np.float64] = self._best(topic, topic + 1, m)[0].T
        return best

    def best_of_block(self, block: int, m: int) -> NDArray[np.float64]:
        """Topics x m x users: the same for `TOPICS_AT_ONCE` topics, or as many as there are."""
        first = block * TOPICS_AT_ONCE
        return self._best(first, min(first + TOPICS_AT_ONCE, self.topics), m)

    def _best(self, first: int, last: int, m: int) -> NDArray[np.float64]:
        if m > self.kept:
            raise ParameterError(
                f"m must be <= {self.kept}, the number of buckets kept, got {m}; "
                "score again and keep more buckets."
            )
        found = np.zeros((last - first, m, self._users))
        slots = (self._strengths.array, self._buckets.array)
        gather_best(*slots, self._start, self._room, first, found)
        return found

    def strongest(self) -> NDArray[np.float64]:
        """Users x topics: the largest strength over all posts; 0 for who has no post.

        The numbers of a topic lie side by side, as rankings look at one topic at a time.
        """
        found = np.zeros((self.topics, self._users))
        gather_strongest(self._strengths.array, self._start, self._room, found)
        return found.T

    def _insert(
        self,
        users: NDArray[np.int64],
        buckets: NDArray[np.int32],
        strengths: NDArray[np.float64],
        cuts: Sequence[int],
    ) -> None:
        """Make room for rows, those of a user together, and insert them on a thread a cut.

        Their buckets are for all topics, or for each.
        """
        self.admit(int(users.max()) + 1)
        first = buckets if buckets.ndim == 1 else np.ascontiguousarray(buckets[:, 0])
        done = 0
        while done < users.size:
            done = make_way(
                self._strengths.array, self._buckets.array, self._following, self._start,
                self._room, self._free, self.kept, users, first, done,
            )  # fmt: skip
            if done < users.size:
                self._make_room()
        into = (self._strengths.array, self._buckets.array, self._start, self._room)
        tasks = [
            partial(insert, *into, users, buckets.ravel(), buckets.ndim - 1, strengths, *cut)
            for cut in pairwise(cuts)
        ]
        on_threads(tasks)

    def _place(self, users: NDArray[np.int64], lines: Lines) -> None:
        """Copy the slots of users who have none."""
        sizes = self._block_sizes()[lines.used]
        first = int(self._free[0])
        end = first + int(sizes.sum())
        if end > len(self._strengths.array):
            self._grow(max(end, self._more_slots()))
        tables = (self._strengths.array, self._buckets.array)
        used, buckets, strengths = lines
        place(*tables, self._start, self._room, first, sizes, users, used, buckets, strengths)
        self._free[0] = end

    def _block_sizes(self) -> NDArray[np.int64]:
        """For each number of slots the size of the block that holds them: 0, 1, 2, 4, ... kept."""
        sizes = [0, *(1 << (used - 1).bit_length() for used in range(1, self.kept + 1))]
        return np.minimum(np.array(sizes, np.int64), self.kept)

    def _more_slots(self) -> int:
        # By little: growing moves no number, but slots once touched take memory.
        slots = len(self._strengths.array)
        return slots + max(_FIRST_SLOTS, 2 * self.kept, slots // 4)

    def _make_room(self) -> None:
        """Close the gaps that users left who moved to larger blocks; grow where that is too few."""
        slots, live = len(self._strengths.array), int(self._room.sum())
        if slots - live >= max(self.kept, _GAPS_WORTH_CLOSING * slots):
            order = np.argsort(self._start, kind="stable")
            tables = (self._strengths.array, self._buckets.array)
            self._free[0] = close_gaps(*tables, self._start, self._room, order)
            self._free[1:] = NOWHERE
        else:
            self._grow(self._more_slots())

    def _grow(self, slots: int) -> None:
        self._strengths.grow(slots)
        self._buckets.grow(slots)
        self._following = _longer(self._following, slots)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy with room for ``size``; pages that nobody writes to take no memory."""
    grown = np.zeros((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
