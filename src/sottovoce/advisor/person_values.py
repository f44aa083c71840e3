"""What is known of each of a person's posts, worked out once; every what-if starts from here.

A variant is a made-up version of the person: without a post, with a draft, up to some week. It is a
set of rows of a ``PostMatrix``. A score in a vector space depends on one's own posts alone, so all
variants are scored at once as users of one small state, by the very code that scores a community:
what-if is exact because nothing else computes scores.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.advisor.settings import AdvisorSetting
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import StateHeader
from sottovoce.assess.state.state import State
from sottovoce.assess.state.words import WordUse
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import ParameterError


class Post(NamedTuple):
    """One post of theirs; ``id`` is unique among them."""

    id: int
    time: datetime
    text: str


@dataclass(frozen=True, eq=False)
class PostMatrix:
    """Their posts as numbers, a row each: buckets, strengths, words."""

    buckets: NDArray[np.int32]
    strengths: NDArray[np.float64]
    """Posts x topics of the catalogue, in the measure's space; no column where it has none."""
    words: NDArray[np.uint8]
    """Posts x bytes: a bit for each salient word; no column where the measure has a space."""

    def __len__(self) -> int:
        return self.buckets.size

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "PostMatrix":
        """Some of the rows."""
        return PostMatrix(self.buckets[rows], self.strengths[rows], self.words[rows])

    def join(self, other: "PostMatrix") -> "PostMatrix":
        """These rows, then the other's."""
        return PostMatrix(
            np.concatenate([self.buckets, other.buckets]),
            np.concatenate([self.strengths, other.strengths]),
            np.concatenate([self.words, other.words]),
        )


class MeasuredPosts:
    """Posts with their word counts and their numbers by one measure."""

    def __init__(self, scoring: Scoring, space: str | None, posts: Sequence[Post]) -> None:
        self._scoring, self._space = scoring, space
        self.posts = tuple(posts)
        self.scorer = scoring.words if space is None else scoring.scorers[space]

    @cached_property
    def place(self) -> dict[int, int]:
        """The row of each id."""
        return {post.id: row for row, post in enumerate(self.posts)}

    @cached_property
    def counts(self) -> sparse.csr_array:
        """Posts x vocabulary of the scorer."""
        texts = pa.array([post.text for post in self.posts], pa.string())
        return self._scoring.counts(self.scorer, texts)

    @cached_property
    def matrix(self) -> PostMatrix:
        """Everything a score depends on."""
        return self.matrix_of(self.counts, self.buckets)

    @cached_property
    def buckets(self) -> NDArray[np.int32]:
        """The time bucket of each post."""
        return self.buckets_of([post.time for post in self.posts])

    def buckets_of(self, times: Sequence[datetime]) -> NDArray[np.int32]:
        """The time buckets of some times in UTC."""
        instants = pa.array(times, POSTS.field("time").type)
        return self._scoring.header.bucket.numbers(instants)

    def matrix_of(self, counts: sparse.csr_array, buckets: NDArray[np.int32]) -> PostMatrix:
        """The numbers of posts with these counts."""
        rows = counts.shape[0]
        if self._space is None:
            words = WordUse.of_incidence(counts).bits
            return PostMatrix(buckets, np.zeros((rows, 0)), words)
        strengths = self.scorer.strengths(counts)
        return PostMatrix(buckets, strengths, np.zeros((rows, 0), np.uint8))

    def rows(self, ids: Sequence[int]) -> NDArray[np.int64]:
        """The rows of some ids, all of which must be theirs."""
        if strangers := sum(one not in self.place for one in ids):
            raise ParameterError(f"posts must be theirs, got {strangers} that are not.")
        return np.array(sorted({self.place[one] for one in ids}), np.int64)

    def without_words(self, terms: Iterable[str]) -> PostMatrix:
        """The numbers of their posts had they done without these words."""
        column = self.scorer.vocabulary.column
        columns = np.array([column[term] for term in terms if term in column], np.int64)
        counts = self.counts.copy()
        counts.data[np.isin(counts.indices, columns)] = 0
        counts.eliminate_zeros()
        return self.matrix_of(counts, self.buckets)

    def select(self, rows: NDArray[np.int64]) -> "MeasuredPosts":
        """Some of the posts, nothing worked out again."""
        fewer = MeasuredPosts(self._scoring, self._space, [self.posts[row] for row in rows])
        fewer.__dict__.update(
            counts=self.counts[rows], buckets=self.buckets[rows], matrix=self.matrix.take(rows)
        )
        return fewer


def posts_of_table(table: pa.Table) -> list[Post]:
    """Posts (time, text) numbered from 1 in the order of their times."""
    pairs = zip(table["time"].to_pylist(), table["text"].to_pylist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: pair[0])
    return [Post(number, *pair) for number, pair in enumerate(ordered, start=1)]


def checked_posts(posts: Iterable[Post]) -> tuple[Post, ...]:
    """The posts in the order of their times, these in UTC; ids must differ."""
    found = sorted((Post(one[0], in_utc(one[1]), one[2]) for one in posts), key=lambda p: p.time)
    if repeated := len(found) - len({post.id for post in found}):
        raise ParameterError(f"the ids of posts must differ, got {repeated} repeated.")
    return tuple(found)


def in_utc(time: datetime) -> datetime:
    """A time without a zone is in UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


@dataclass(frozen=True, eq=False)
class Variants:
    """``count`` versions of a person; row r of ``posts`` belongs to version ``owner[r]``."""

    posts: PostMatrix
    owner: NDArray[np.int64]
    count: int

    @classmethod
    def one(cls, posts: PostMatrix) -> "Variants":
        """A single version."""
        return cls(posts, np.zeros(len(posts), np.int64), 1)

    def empty(self) -> NDArray[np.bool_]:
        """Which versions have no post at all."""
        return np.equal(np.bincount(self.owner, minlength=self.count), 0)


def state_of_variants(header: StateHeader, setting: AdvisorSetting, variants: Variants) -> State:
    """The state of a community of nobody but the variants, in the measure's space."""
    space = str(setting.how().space)
    small = replace(
        header,
        spaces={space: header.spaces[space]},
        salient=None,
        words=0,
        counted="",
        kept=setting.m,
        posts=False,
    )
    state = State(small)
    rows = state.rows(pa.array([str(number) for number in range(variants.count)], pa.string()))
    posts = variants.posts
    state.count_posts(rows[variants.owner])
    state.spaces[space].add_posts(rows[variants.owner], posts.buckets, posts.strengths)
    return state
