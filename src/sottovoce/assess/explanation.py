"""What is asked of one user's rank, the posts it is about, and what an explanation says."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce._notebook import html_facts, html_table
from sottovoce.arrays import Floats, Integers
from sottovoce.assess.measures.measure import Measure, check_community
from sottovoce.assess.ranking import BANDS, REST, susceptibility
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.state import State, merge
from sottovoce.corpus.clean import of_nobody
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import InputError, ParameterError

MOST_WORK = 200_000
"""Numbers of posts times levels that are tried; beyond, the set is not proved to be smallest."""
# Scores are put on a grid of 2^-40; a sum that rounds down to the limit is within it.
_SLACK = 2.0**-41


@dataclass(frozen=True)
class BandExit:
    """Posts without which the user would no longer be in their band."""

    band: str
    posts: tuple[int, ...]
    smallest: bool
    """Whether no smaller set of posts would do."""


def band_of(score: float, others: Floats) -> str:
    """The band of a user who scores so among ``others``."""
    at_least = 1 + int((others >= score).sum())
    users = others.size + 1
    return next((f"top {p}%" for p in BANDS if at_least * 100 <= p * users), REST)


def highest_outside(band: str, others: Floats) -> float | None:
    """The highest score that is not in ``band`` nor in a narrower one; None: any is."""
    percent = next(p for p in BANDS if f"top {p}%" == band)
    needed = percent * (others.size + 1) // 100
    ordered = np.sort(others)[::-1]
    return float(ordered[needed - 1]) if 1 <= needed <= ordered.size else None


def fewest_posts(
    strengths: Floats, buckets: Integers, m: int, limit: float
) -> tuple[Integers, bool]:
    """Places of the fewest posts without which the m best buckets average at most ``limit``.

    And whether that is proved: with very many posts it is only a set that will do.
    """
    lines = _by_bucket(strengths, buckets)
    allowed = m * (limit + _SLACK)
    best = [int((strengths[line] > limit).sum()) for line in lines]
    levels = _levels(strengths, limit)
    proved = len(levels) * sum(len(line) for line in lines) <= MOST_WORK
    for level in levels if proved else ():
        found = _at_level(strengths, lines, level, allowed - m * level, sum(best) - 1)
        best = best if found is None else found
    chosen = [line[:count] for line, count in zip(lines, best, strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *chosen]), proved


def _by_bucket(strengths: Floats, buckets: Integers) -> list[Integers]:
    """The posts of each bucket that say anything, the strongest first."""
    order = np.argsort(-strengths, kind="stable")
    order = order[strengths[order] > 0]
    return [order[buckets[order] == each] for each in np.unique(buckets[order])]


def _levels(strengths: Floats, limit: float) -> list[float]:
    below = np.unique(strengths[(strengths > 0) & (strengths <= limit)])
    return [max(limit, 0.0), *below[::-1].tolist(), 0.0]


def _at_level(
    strengths: Floats, lines: list[Integers], level: float, room: float, most: int
) -> list[int] | None:
    """How many of each bucket, at most ``most`` in all, so that the excess has room."""
    if room < 0 or most < 0:
        return None
    least = np.full(most + 1, np.inf)
    least[0] = 0.0
    choices = []
    for line in lines:
        over = strengths[line][strengths[line] > level] - level
        excess = np.append(over, 0.0)
        options = np.full((excess.size, most + 1), np.inf)
        for count in range(min(excess.size, most + 1)):
            options[count, count:] = least[: most + 1 - count] + excess[count]
        choices.append(options.argmin(axis=0))
        least = options.min(axis=0)
    enough = np.flatnonzero(least <= room)
    return _trace_choices(choices, int(enough[0])) if enough.size else None


def _trace_choices(choices: list[Integers], removed: int) -> list[int]:
    counts = []
    for chosen in reversed(choices):
        counts.append(int(chosen[removed]))
        removed -= counts[-1]
    return counts[::-1]


@dataclass(frozen=True)
class Position:
    """A score, and the rank it gives among ``users``; None for who is no longer there."""

    score: float | None
    rank: int | None
    users: int


@dataclass(frozen=True)
class Interest:
    """What the measures of a vector space are made of (Definitions 5 to 9)."""

    strength: float
    breadth: float
    persistence: float


@dataclass(frozen=True)
class PostShare:
    """One post: by how much the score would fall without it, and its strength in a space."""

    number: int
    time: datetime
    bucket: date
    adds: float
    strength: float | None = None


@dataclass(frozen=True)
class WordShare:
    """One word, and what it adds to the score."""

    word: str
    adds: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """A user's position for one topic, taken apart; printed it shows no word of theirs.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> ranking = sv.assess_posts(community.posts, topics=community.topics, measures="bow")
    >>> ranking.explain("u07", "pregnancy")
    Explanation(rank=9, users=60, posts=1, words=0)
    """

    position: Position
    interest: Interest | None
    posts: tuple[PostShare, ...]
    words: tuple[WordShare, ...]
    without: Position | None
    """The user's position if the posts to leave out had never been written."""
    leaving: BandExit | None = None
    """The fewest posts without which they would leave their band; None: they are in none, or by
    this measure it is not worked out."""
    band: str = REST
    """The narrowest band they are in."""

    def __repr__(self) -> str:
        rank, users = self.position.rank, self.position.users
        shown = f"rank={rank}, users={users}, posts={len(self.posts)}, words={len(self.words)}"
        return f"Explanation({shown})"

    def _repr_html_(self) -> str:
        """The position and what adds to it; the user's posts by their times, never their texts."""
        facts: dict[str, object] = {
            "rank": self.position.rank,
            "of users": self.position.users,
            "score": self.position.score,
        }
        if self.interest is not None:
            facts |= vars(self.interest)
        if self.without is not None:
            facts["rank without the posts left out"] = self.without.rank
        posts = [{"post of": each.time.isoformat(), "adds": each.adds} for each in self.posts]
        words = [{"word": each.word, "adds": each.adds} for each in self.words]
        return html_facts(facts) + html_table(posts) + html_table(words)


class UserPosts:
    """Posts of ``user`` with their numbers: the place among the readable posts, from 1."""

    def __init__(self, user: str) -> None:
        self.user = user
        self._seen = 0
        self._numbers: list[Integers] = []
        self._batches: list[pa.RecordBatch] = []

    def note_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; the user's posts are noted on the way."""
        for batch in batches:
            own = pc.equal(batch["user"], self.user)
            self._batches.append(batch.filter(own))
            mask = own.to_numpy(zero_copy_only=False)
            self._numbers.append(self._seen + 1 + np.flatnonzero(mask))
            self._seen += batch.num_rows
            yield batch

    def __repr__(self) -> str:
        return f"UserPosts(posts={self.numbers.size})"

    @property
    def numbers(self) -> Integers:
        """The number of each of the user's posts."""
        return np.concatenate([np.zeros(0, np.int64), *self._numbers])

    @property
    def table(self) -> pa.Table:
        """The user's posts: user, time, text."""
        return pa.Table.from_batches(self._batches, POSTS).combine_chunks()

    def texts(self) -> dict[int, str]:
        """The text of each of the user's posts by its number."""
        return dict(zip(self.numbers.tolist(), self.table["text"].to_pylist(), strict=True))

    def drop_posts(self, removed: Iterable[int]) -> pa.Table:
        """The user's posts but for those numbered ``removed``, all of which must be theirs."""
        gone = np.isin(self.numbers, np.array(sorted(set(removed)), np.int64))
        if gone.sum() < len(set(removed)):
            strangers = len(set(removed)) - int(gone.sum())
            raise ParameterError(
                f"posts to leave out (--without) must be the user's own, got {strangers} that are "
                "not."
            )
        return self.table.filter(pa.array(~gone))


@dataclass(frozen=True, eq=False)
class Question:
    """Why does the writer of ``own_posts`` stand where they stand by ``measure`` for ``topic``?

    ``state`` holds everybody's posts and ``own_posts`` all of the user's.
    """

    state: State
    scoring: Scoring
    own_posts: UserPosts
    topic: str
    measure: Measure
    setting: Setting

    @cached_property
    def row(self) -> int:
        """The user's in the state, which must hold these very posts of theirs."""
        user, posts = self.own_posts.user, self.own_posts.numbers.size
        if not posts:
            raise InputError(
                "the user has no post in these files. Write the name as the file does, capitals "
                "included; sottovoce assess --show-users 10 prints those of the most "
                "exposed."
            )
        row = self.state.users.row(user)
        if row is None and self.state.header.clean and of_nobody(pa.array([user]))[0]:
            raise InputError(
                "this name is no person's ([deleted], anonymous, bots), so its posts are left "
                "out; --no-clean (in Python clean=False) keeps them."
            )
        if row is None:
            raise InputError(
                "these files have posts of the user, but the state does not: it was made from "
                "other files, or the user was erased from it."
            )
        if (held := int(self.state.posts[row])) != posts:
            raise InputError(
                f"the state holds {held} posts of the user, these files {posts}; give all files "
                "that the state was made from, each once."
            )
        return row

    @cached_property
    def scores(self) -> Floats:
        """Everybody's, as they are."""
        return self.score_users(self.state)

    @cached_property
    def buckets(self) -> NDArray[np.int32]:
        """The time bucket of each of the user's posts."""
        times = self.own_posts.table["time"].combine_chunks()
        return self.scoring.header.bucket.numbers(times)

    def score_users(self, state: State) -> Floats:
        """The scores of all users of any community."""
        return self.measure.score(state, self.topic, self.setting)

    def position(self) -> Position:
        """The user's score and rank; who is alone is the first of one, if a score needs nobody."""
        return self._position_in(self.state, self.scores)

    def position_without(self, removed: Sequence[int]) -> Position:
        """The same without the posts ``removed``: exactly as if all were scored again."""
        remaining = self.own_posts.drop_posts(removed)
        others = self.state.drop_user(self.own_posts.user)
        if not remaining.num_rows:
            return Position(None, None, len(others))
        community = merge(others, self.scoring.state_of(remaining.to_batches()))
        return self._position_in(community, self.score_users(community))

    def _position_in(self, state: State, scores: Floats) -> Position:
        if self.measure.space is None:
            check_community(len(state))
        row = state.users.row(self.own_posts.user)
        return Position(float(scores[row]), int(susceptibility(scores)[row]), scores.size)
