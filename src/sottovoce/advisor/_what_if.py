"""What if some posts were not there: exact, from values worked out once.

Leaving out one post can change a score only if no other post of its bucket is as strong in some
topic, and the bucket is one of the m best for it. So the many posts of a long history need not be
tried one by one: of each bucket the strongest and the second strongest value per topic are enough.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.crowd import Crowd, Seats
from sottovoce.advisor.person_values import PostMatrix, Variants

# Of no time that there is.
_NO_BUCKET = np.iinfo(np.int32).min


@dataclass(frozen=True, eq=False)
class BucketTops:
    """Of each bucket and topic: the strongest value, the post that has it, the second strongest."""

    posts: PostMatrix

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self.posts.buckets, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.diff(self.posts.buckets[self._order], prepend=_NO_BUCKET))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many posts each bucket has."""
        return np.diff(np.append(self._starts, len(self.posts)))

    @cached_property
    def buckets(self) -> NDArray[np.int32]:
        """The buckets that have posts, ascending."""
        return self.posts.buckets[self._order][self._starts]

    @cached_property
    def first(self) -> NDArray[np.float64]:
        """Buckets x topics."""
        if not len(self.posts):
            return self.posts.strengths
        return np.maximum.reduceat(self.posts.strengths[self._order], self._starts, axis=0)

    @cached_property
    def rows(self) -> PostMatrix:
        """One row for each bucket: as good as all the posts."""
        return PostMatrix(self.buckets, self.first, _no_words(self.buckets.size))

    @cached_property
    def holder(self) -> NDArray[np.int64]:
        """Buckets x topics: the post that alone has the strongest value; -1 where several do."""
        strengths = self.posts.strengths[self._order]
        bucket_of = np.repeat(np.arange(self.sizes.size), self.sizes)
        top = strengths == self.first[bucket_of]
        several = np.add.reduceat(top, self._starts, axis=0, dtype=np.int64) > 1
        places = np.where(top, self._order[:, np.newaxis], -1)
        found: NDArray[np.int64] = np.maximum.reduceat(places, self._starts, axis=0)
        return np.where(several, -1, found)

    @cached_property
    def second(self) -> NDArray[np.float64]:
        """Buckets x topics: the strongest value without its only holder, -inf if none is left."""
        strengths = self.posts.strengths[self._order]
        bucket_of = np.repeat(np.arange(self.sizes.size), self.sizes)
        own = self.holder[bucket_of] == self._order[:, np.newaxis]
        return np.maximum.reduceat(np.where(own, -np.inf, strengths), self._starts, axis=0)

    def mattering(self, m: int) -> NDArray[np.bool_]:
        """Buckets x topics: whether the m best values change when this one is left out."""
        if self.buckets.size <= m:
            # A missing bucket counts 0, and so more than one whose best is below 0.
            return np.not_equal(self.first, np.where(np.isneginf(self.second), 0, self.second))
        following = np.partition(self.first, -m - 1, axis=0)[-m - 1]
        found: NDArray[np.bool_] = self.first > following
        return found


def without_each(posts: PostMatrix, m: int) -> tuple[NDArray[np.int64], Variants]:
    """The posts that may matter, and for each a version of them without it."""
    tops = BucketTops(posts)
    mattering = np.unique(tops.holder[tops.mattering(m)])
    mattering = mattering[mattering >= 0]
    # One bucket more than counts, since the one left out may fall behind it.
    kept = np.flatnonzero(_needed(tops.first, m + 1))
    where = np.searchsorted(tops.buckets[kept], posts.buckets[mattering])
    first, second = tops.first[kept], tops.second[kept]
    strengths = np.repeat(first[np.newaxis], mattering.size, axis=0)
    version = np.arange(mattering.size)
    own = tops.holder[kept][where] == mattering[:, np.newaxis]
    strengths[version, where] = np.where(own, second[where], first[where])
    stays = np.ones(strengths.shape[:2], np.bool_)
    stays[version, where] = tops.sizes[kept][where] > 1
    owner, bucket = np.nonzero(stays)
    rows = PostMatrix(tops.buckets[kept][bucket], strengths[stays], _no_words(owner.size))
    return mattering, Variants(rows, owner, mattering.size)


def essential(posts: PostMatrix, m: int) -> PostMatrix:
    """As few rows as give every score of ``posts``, also when others are added."""
    tops = BucketTops(posts)
    return tops.rows.take(_needed(tops.first, m))


def remaining(tops: BucketTops, gone: NDArray[np.bool_], m: int) -> PostMatrix:
    """As few rows as give every score of the posts that are not ``gone``.

    Only buckets that lose a post are looked at again, so that a long history costs little.
    """
    posts = tops.posts
    touched = np.isin(posts.buckets, posts.buckets[gone])
    again = BucketTops(posts.take(touched & ~gone)).rows
    same = tops.rows.take(~np.isin(tops.buckets, posts.buckets[gone]))
    rows = same.joined(again)
    return rows.take(_needed(rows.strengths, m))


def words_without_each(
    posts: PostMatrix, salient: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Variants]:
    """The same for measures of word use: only who alone holds one of ``salient`` may matter."""
    bits = np.unpackbits(posts.words, axis=1, bitorder="little")[:, salient]
    holders = bits.sum(axis=0, dtype=np.int64)
    mattering = np.flatnonzero(bits[:, holders == 1].any(axis=1))
    union = np.bitwise_or.reduce(posts.words, axis=0)
    others = np.repeat(union[np.newaxis], mattering.size, axis=0)
    alone = np.unpackbits(posts.words[mattering], axis=1, bitorder="little").astype(np.bool_)
    everywhere = np.unpackbits(posts.words, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    gone = np.packbits(alone & (everywhere == 1), axis=1, bitorder="little")
    rows = PostMatrix(
        np.zeros(mattering.size, np.int32), np.zeros((mattering.size, 0)), others & ~gone
    )
    return mattering, Variants(rows, np.arange(mattering.size), mattering.size)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Their seats without each of the posts that may matter; the others change nothing."""

    whole: Seats
    posts: NDArray[np.int64]
    seats: Seats

    def falls(self, topic: int, count: int) -> NDArray[np.float64]:
        """By how much their score would fall without each of their ``count`` posts."""
        own, without = self.whole.scores[0, topic], self.seats.scores[:, topic]
        if count == 1:
            return np.array([own])
        found = np.zeros(count)
        with np.errstate(invalid="ignore"):
            # Infinity less infinity is no change.
            found[self.posts] = np.where(without == own, 0.0, own - without)
        return found


def left_out(crowd: Crowd, posts: PostMatrix, m: int, salient: NDArray[np.int64] | None) -> LeftOut:
    """Their seats, whole and without each post; without their only one they have no seat."""
    whole = crowd.seats(Variants.one(posts))
    if len(posts) == 1:
        none = np.zeros(0, np.int64)
        return LeftOut(whole, none, crowd.seats(Variants(posts.take(none), none, 0)))
    if salient is None:
        mattering, variants = without_each(posts, m)
    else:
        mattering, variants = words_without_each(posts, salient)
    return LeftOut(whole, mattering, crowd.seats(variants))


def _needed(strengths: NDArray[np.float64], m: int) -> NDArray[np.bool_]:
    """The buckets (rows) that are among the m best of any topic (column)."""
    if len(strengths) <= m:
        return np.ones(len(strengths), np.bool_)
    order = np.argpartition(-strengths, m - 1, axis=0)[:m]
    needed = np.zeros(len(strengths), np.bool_)
    needed[order.ravel()] = True
    return needed


def _no_words(rows: int) -> NDArray[np.uint8]:
    return np.zeros((rows, 0), np.uint8)
