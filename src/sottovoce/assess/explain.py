"""Why one user stands where they stand, and where they would stand without some of their posts.

What single posts and words do for the score is worked out in one of two ways: ``SpaceParts`` for a
measure of a vector space (posts by strength, words by what they add to them), ``WordParts`` for
ENT and DIFF-PRIV, which look at which words were used.
"""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.assess.explanation import (
    BandExit,
    Explanation,
    Interest,
    Position,
    PostShare,
    UserPosts,
    WordShare,
    band_held,
    band_of,
    fewest_posts,
    highest_outside,
)
from sottovoce.assess.measures.breadth import breadth_of_interest, domain_columns
from sottovoce.assess.measures.measure import Measure, check_community
from sottovoce.assess.measures.persistence import time_aware_risk
from sottovoce.assess.ranking import REST, susceptibility
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.state import State, merge
from sottovoce.assess.state.words import WordUse
from sottovoce.corpus.clean import of_nobody
from sottovoce.errors import InputError, ParameterError

MOST = 10
MOST_REMOVED = 40
"""So many posts at most are removed one by one to see when the band changes."""


@dataclass(frozen=True)
class Question:
    """Why does ``user`` stand where they stand by ``measure`` for ``topic``?"""

    user: str
    topic: str
    measure: Measure
    setting: Setting


def explain(
    state: State,
    scoring: Scoring,
    own_posts: UserPosts,
    question: Question,
    *,
    without: tuple[int, ...] = (),
    most: int = MOST,
) -> Explanation:
    """The user's position, the ``most`` posts and words that matter most, and what if.

    ``state`` holds everybody's posts and ``own_posts`` all of the user's. All numbers are exact.
    """
    if most < 1:
        raise ParameterError(f"most must be >= 1, got {most}.")
    row = _checked_row(state, question.user, own_posts)
    space = question.measure.space
    parts: SpaceParts | WordParts
    if space is None:
        parts = WordParts(
            state, scoring, own_posts, question.topic, question.measure, question.setting, row
        )
    else:
        parts = SpaceParts(
            state, scoring, own_posts, question.topic, question.measure, question.setting
        )
    return Explanation(
        position=position(state, question),
        interest=parts.interest(row),
        posts=_shares(scoring, own_posts, parts, most),
        words=parts.words(most),
        without=what_if(state, scoring, own_posts, question, without) if without else None,
        leaving=None if isinstance(parts, WordParts) else _leaving(own_posts, parts, row),
        band=band_held(state, row, question.topic, question.measure, question.setting),
    )


def _leaving(own_posts: UserPosts, parts: "SpaceParts", row: int) -> BandExit | None:
    """The fewest of the user's posts without which they would leave their band.

    Others' scores do not depend on the user's posts, so that only theirs is worked out again.
    """
    scores = parts.everybodys()
    others = np.delete(scores, row)
    band = band_of(float(scores[row]), others)
    limit = None if band == REST else highest_outside(band, others)
    if limit is None or limit == math.inf:
        return None
    found, proved = parts.fewest(limit)
    if band_of(parts.score_without(found), others) == band:
        return None
    numbers = sorted(own_posts.numbers[found].tolist())
    return BandExit(band, tuple(numbers), smallest=proved)


def what_if(
    state: State,
    scoring: Scoring,
    own_posts: UserPosts,
    question: Question,
    removed: tuple[int, ...],
) -> Position:
    """The user's position without the posts ``removed``: exactly as if all were scored again."""
    remaining = own_posts.drop_posts(removed)
    others = state.drop_user(question.user)
    if not remaining.num_rows:
        return Position(None, None, len(others))
    return position(merge(others, scoring.state_of(remaining.to_batches())), question)


def position(state: State, question: Question) -> Position:
    """The user's score and rank; who is alone is the first of one, where a score needs nobody."""
    if question.measure.space is None:
        check_community(len(state))
    row = state.users.row(question.user)
    scores = question.measure.score(state, question.topic, question.setting)
    return Position(float(scores[row]), int(susceptibility(scores)[row]), scores.size)


def _shares(
    scoring: Scoring, own_posts: UserPosts, parts: "SpaceParts | WordParts", most: int
) -> tuple[PostShare, ...]:
    """The posts without which the user's score would fall most, of equals the strongest first."""
    strengths = parts.strengths()
    weights = np.zeros(own_posts.numbers.size) if strengths is None else strengths
    # Only as many are tried as could be shown: a weaker post of a bucket adds nothing.
    tried = np.argsort(-weights, kind="stable")[: None if strengths is None else 4 * most]
    adds = parts.adds(tried)
    order = np.lexsort((-weights[tried], -adds))[:most]
    return tuple(_share(scoring, own_posts, strengths, tried[i], float(adds[i])) for i in order)


def _share(
    scoring: Scoring,
    own_posts: UserPosts,
    strengths: NDArray[np.float64] | None,
    post: int,
    adds: float,
) -> PostShare:
    bucket, times = scoring.header.bucket, own_posts.table["time"].combine_chunks()
    return PostShare(
        number=int(own_posts.numbers[post]),
        time=times[int(post)].as_py(),
        bucket=bucket.first_day(int(bucket.numbers(times.slice(int(post), 1))[0])),
        adds=adds,
        strength=None if strengths is None else float(strengths[post]),
    )


def _checked_row(state: State, user: str, own_posts: UserPosts) -> int:
    row = state.users.row(user)
    if not own_posts.numbers.size:
        raise InputError(
            "the user has no post in these files. Names are taken as the file writes them, "
            "capitals included; sottovoce assess --show-users 10 prints those of the most exposed."
        )
    if row is None and state.header.clean and of_nobody(pa.array([user]))[0]:
        raise InputError(
            "this name stands for nobody ([deleted], anonymous, bots), and its posts are left out; "
            "--no-clean (in Python clean=False) keeps them."
        )
    if row is None:
        raise InputError(
            "the user has posts in these files but is not in the state: it was made from other "
            "files, or they were erased from it."
        )
    held = int(state.posts[row])
    if held != own_posts.numbers.size:
        raise InputError(
            f"the state holds {held} posts of the user, these files {own_posts.numbers.size}; "
            "give all files that were folded in, each once."
        )
    return row


class SpaceParts:
    """What one user's posts and words do for their score by a measure of a vector space."""

    def __init__(
        self,
        state: State,
        scoring: Scoring,
        own_posts: UserPosts,
        topic: str,
        measure: Measure,
        setting: Setting,
    ) -> None:
        self._state, self._topic = state, topic
        self._measure, self._setting = measure, setting
        self._space = str(measure.space)
        self._scorer = scoring.scorers[self._space]
        posts = own_posts.table
        self._buckets = scoring.header.bucket.numbers(posts["time"].combine_chunks())
        self._counts = scoring.counts(self._scorer, posts["text"].combine_chunks())
        self._strengths = self._scorer.strengths(self._counts)

    def interest(self, row: int) -> Interest:
        """Strength, breadth and persistence apart."""
        state, setting = self._state, self._setting
        column = state.column(self._topic)
        strongest = state.strongest(self._space)[[row]]
        itself = setting.mode == "paper" and not self._measure.buckets
        domain = domain_columns(state.domains, column, with_itself=itself)
        best = state.best(self._space, self._topic, setting.m)[[row]]
        return Interest(
            strength=float(strongest[0, column]),
            breadth=float(breadth_of_interest(strongest[:, domain], k=setting.k)[0]),
            persistence=float(time_aware_risk(best)[0]),
        )

    def strengths(self) -> NDArray[np.float64]:
        """Of each post in the topic."""
        return self._strengths[:, self._state.column(self._topic)]

    def adds(self, posts: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much the score would fall without each of ``posts``."""
        all_posts = np.arange(len(self._strengths))
        whole = self._scores(np.zeros_like(all_posts), all_posts, 1)
        # One made-up user for each post: the user without it.
        user, post = np.nonzero(all_posts != posts[:, np.newaxis])
        return whole - self._scores(user, post, posts.size)

    def words(self, most: int) -> tuple[WordShare, ...]:
        """What each word adds to the posts that hold the score up, on the scale of the score.

        These are the strongest post, or with time buckets the strongest of each of the m best.
        """
        posts, size = self._supporting()
        added = self._scorer.contributions(self._counts[posts], self._topic)
        sums = np.asarray(added.sum(axis=0)).ravel() / size
        order = np.argsort(-sums, kind="stable")[:most]
        terms = self._scorer.vocabulary.terms
        return tuple(WordShare(terms[i], float(sums[i])) for i in order if sums[i] > 0)

    def everybodys(self) -> NDArray[np.float64]:
        """The scores of all users as they are."""
        return self._measure.score(self._state, self._topic, self._setting)

    def score_without(self, posts: NDArray[np.int64]) -> float:
        """The user's score without these of their posts; without any post, less than anybody's."""
        rest = np.setdiff1d(np.arange(len(self._strengths)), posts)
        if not rest.size:
            return -math.inf
        return float(self._scores(np.zeros_like(rest), rest, 1)[0])

    def fewest(self, limit: float) -> tuple[NDArray[np.int64], bool]:
        """Places of the fewest posts without which the score is at most ``limit``; if proved.

        A measure that looks at the breadth of interest may fall sooner, or need other posts: there
        posts are removed one by one, each time the one without which the score is lowest.
        """
        buckets = self._buckets if self._measure.buckets else np.zeros_like(self._buckets)
        m = self._setting.m if self._measure.buckets else 1
        found, proved = fewest_posts(self.strengths(), buckets.astype(np.int64), m, limit)
        if not self._broad and self.score_without(found) <= limit:
            return found, proved
        return self._one_by_one(limit), False

    @property
    def _broad(self) -> bool:
        """Whether the score depends on other topics: tried on the posts alone."""
        column = self._state.column(self._topic)
        alone = np.zeros_like(self._strengths)
        alone[:, column] = self._strengths[:, column]
        everything = np.arange(len(alone))
        rows = np.zeros_like(everything)
        whole = self._scores(rows, everything, 1)[0]
        return bool(self._scores(rows, everything, 1, alone)[0] != whole)

    def _one_by_one(self, limit: float) -> NDArray[np.int64]:
        removed: list[int] = []
        tried = np.argsort(-self.strengths(), kind="stable")[:MOST_REMOVED]
        while len(removed) < tried.size and self.score_without(np.array(removed)) > limit:
            left = [int(post) for post in tried if post not in removed]
            scores = [self.score_without(np.array([*removed, post])) for post in left]
            removed.append(left[int(np.argmin(scores))])
        return np.array(removed, np.int64)

    def _supporting(self) -> tuple[NDArray[np.int64], int]:
        order = np.argsort(-self.strengths(), kind="stable")
        if not self._measure.buckets:
            return order[:1], 1
        _, first = np.unique(self._buckets[order], return_index=True)
        return order[np.sort(first)[: self._setting.m]], self._setting.m

    def _scores(
        self,
        users: NDArray[np.int64],
        posts: NDArray[np.int64],
        population: int,
        strengths: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """The scores of made-up users with these of the user's posts."""
        strengths = self._strengths if strengths is None else strengths
        community = State(self._state.header)
        community.rows(pa.array([str(number) for number in range(population)]))
        community.count_posts(users)
        community.spaces[self._space].add_posts(users, self._buckets[posts], strengths[posts])
        return self._measure.score(community, self._topic, self._setting)


class WordParts:
    """What one user's posts and words do for their score by a measure of word use."""

    def __init__(
        self,
        state: State,
        scoring: Scoring,
        own_posts: UserPosts,
        topic: str,
        measure: Measure,
        setting: Setting,
        row: int,
    ) -> None:
        self._state, self._topic, self._row = state, topic, row
        self._measure, self._setting = measure, setting
        scorer = scoring.words
        self._terms = scorer.vocabulary.terms
        posts = own_posts.table
        # One line of bits for each post, as if each had a writer of its own.
        counts = scoring.counts(scorer, posts["text"].combine_chunks())
        self._bits = WordUse.of_incidence(counts).bits
        self._buckets = scoring.header.bucket.numbers(posts["time"].combine_chunks())
        self._score = self._score_with(self._bits, self._buckets)

    def interest(self, _row: int) -> None:
        """These measures know no strength, breadth or persistence."""
        return

    def strengths(self) -> None:
        """These measures know no strength of a post."""
        return

    def adds(self, posts: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much the score would fall without each of ``posts``."""
        gone = self._gone_with_each()
        falls: dict[bytes, float] = {}
        for post in posts:
            if gone[post] not in falls:
                bits, buckets = np.delete(self._bits, post, axis=0), np.delete(self._buckets, post)
                falls[gone[post]] = self._fall(bits, buckets)
        return np.array([falls[gone[post]] for post in posts])

    def _gone_with_each(self) -> list[bytes]:
        """For each post what of the topic's words no other post has, in all and in its bucket.

        Posts with which the same is gone change the score alike; most take nothing with them.
        """
        words = self._state.salient(self._topic)
        used = (self._bits[:, words // 8] >> (words % 8).astype(np.uint8)) & 1
        _, bucket = np.unique(self._buckets, return_inverse=True)
        by_bucket = np.zeros((bucket.max() + 1, words.size), np.int64)
        np.add.at(by_bucket, bucket, used)
        lost = used.astype(bool) & (used.sum(axis=0) == 1)
        lost_there = used.astype(bool) & (by_bucket[bucket] == 1)
        packed = np.packbits(np.hstack([lost, lost_there]), axis=1)
        where = np.where(lost_there.any(axis=1), bucket + 1, 0)
        return [
            bits.tobytes() + int(number).to_bytes(8)
            for bits, number in zip(packed, where, strict=True)
        ]

    def words(self, most: int) -> tuple[WordShare, ...]:
        """By how much the score would fall had the user never used each word of the topic."""
        shares = []
        for word in self._state.salient(self._topic).tolist():
            bits = self._bits.copy()
            bits[:, word // 8] &= ~np.uint8(1 << word % 8)
            if (bits[:, word // 8] != self._bits[:, word // 8]).any():
                shares.append(WordShare(self._terms[word], self._fall(bits, self._buckets)))
        return tuple(sorted(shares, key=lambda share: -share.adds)[:most])

    def _fall(self, bits: NDArray[np.uint8], buckets: NDArray[np.int32]) -> float:
        score = self._score_with(bits, buckets)
        # Infinity less infinity is no change.
        return 0.0 if score == self._score else self._score - score

    def _score_with(self, bits: NDArray[np.uint8], buckets: NDArray[np.int32]) -> float:
        """The user's score in the same community, had their posts these words."""
        community = self._state.supposing(self._row, bits, buckets)
        return float(self._measure.score(community, self._topic, self._setting)[self._row])
