"""Why one user stands where they stand, and where they would stand without some of their posts.

What single posts and words do for the score is worked out in one of two ways: ``SpaceParts`` for a
measure of a vector space (posts by strength, words by what they add to them), ``WordParts`` for
ENT and DIFF-PRIV, which look at which words were used.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.assess.alerts import Alerts, check_alerts
from sottovoce.assess.explanation import (
    BandExit,
    Explanation,
    Interest,
    PostShare,
    Question,
    UserPosts,
    WordShare,
    band_of,
    fewest_posts,
    highest_outside,
)
from sottovoce.assess.job import Assessment
from sottovoce.assess.measures.interest import breadth_of_interest, domain_columns, time_aware_risk
from sottovoce.assess.ranking import REST, RankedTopicUsers
from sottovoce.assess.request import AssessRequest, choose_measure
from sottovoce.assess.state.state import State
from sottovoce.assess.state.words import WordUse
from sottovoce.corpus.read.corpus import Corpus, Source, Sources, open_posts
from sottovoce.corpus.read.guessed import warned_reading
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import ParameterError
from sottovoce.files import FilePath

MOST = 10
MOST_REMOVED = 40
"""So many posts at most are removed one by one to see when the band changes."""


def explain(question: Question, *, without: Sequence[int] = (), most: int = MOST) -> Explanation:
    """The user's position, the ``most`` posts and words that matter most, and what if.

    All numbers are exact.
    """
    if most < 1:
        raise ParameterError(f"most must be >= 1, got {most}.")
    row, scores = question.row, question.scores
    in_space = question.measure.space is not None
    parts = SpaceParts(question) if in_space else WordParts(question)
    others = np.delete(scores, row)
    # Where nobody has evidence nobody is in a band.
    evident = question.measure.evident(question.state, question.topic).any()
    return Explanation(
        position=question.position(),
        interest=parts.interest(),
        posts=_shares(question, parts, most),
        words=parts.words(most),
        without=question.position_without(without) if without else None,
        leaving=_leaving(question, parts, others) if isinstance(parts, SpaceParts) else None,
        band=band_of(float(scores[row]), others) if evident else REST,
    )


def _leaving(question: Question, parts: "SpaceParts", others: Floats) -> BandExit | None:
    """The fewest of the user's posts without which they would leave their band.

    Others' scores do not depend on the user's posts, so that only theirs is worked out again.
    """
    band = band_of(float(question.scores[question.row]), others)
    limit = None if band == REST else highest_outside(band, others)
    if limit is None or limit == math.inf:
        return None
    found, proved = parts.fewest(limit)
    if band_of(parts.score_without(found), others) == band:
        return None
    numbers = sorted(question.own_posts.numbers[found].tolist())
    return BandExit(band, tuple(numbers), smallest=proved)


def _shares(
    question: Question, parts: "SpaceParts | WordParts", most: int
) -> tuple[PostShare, ...]:
    """The posts without which the user's score would fall most, of equals the strongest first."""
    own_posts, bucket = question.own_posts, question.scoring.header.bucket
    strengths, times = parts.strengths(), own_posts.table["time"]
    weights = np.zeros(own_posts.numbers.size) if strengths is None else strengths
    # Only as many are tried as could be shown: a weaker post of a bucket adds nothing.
    tried = np.argsort(-weights, kind="stable")[: None if strengths is None else 4 * most]
    adds = parts.adds(tried)
    order = np.lexsort((-weights[tried], -adds))[:most]
    return tuple(
        PostShare(
            number=int(own_posts.numbers[post]),
            time=times[int(post)].as_py(),
            bucket=bucket.first_day(int(question.buckets[post])),
            adds=float(added),
            strength=None if strengths is None else float(strengths[post]),
        )
        for post, added in zip(tried[order], adds[order], strict=True)
    )


class SpaceParts:
    """What one user's posts and words do for their score by a measure of a vector space."""

    def __init__(self, question: Question) -> None:
        self._asked = question
        self._space = str(question.measure.space)
        self._column = question.state.column(question.topic)
        self._scorer = question.scoring.scorers[self._space]
        texts = question.own_posts.table["text"].combine_chunks()
        self._counts = question.scoring.counts(self._scorer, texts)
        self._strengths = self._scorer.strengths(self._counts)

    def interest(self) -> Interest:
        """Strength, breadth and persistence apart."""
        state, setting, row = self._asked.state, self._asked.setting, [self._asked.row]
        strongest = state.strongest(self._space)[row]
        itself = setting.mode == "paper" and not self._asked.measure.buckets
        domain = domain_columns(state.domains, self._column, with_itself=itself)
        best = state.best(self._space, self._asked.topic, setting.m)[row]
        return Interest(
            strength=float(strongest[0, self._column]),
            breadth=float(breadth_of_interest(strongest[:, domain], k=setting.k)[0]),
            persistence=float(time_aware_risk(best)[0]),
        )

    def strengths(self) -> Floats:
        """Of each post in the topic."""
        return self._strengths[:, self._column]

    def adds(self, posts: Integers) -> Floats:
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
        added = self._scorer.contributions(self._counts[posts], self._asked.topic)
        sums = np.asarray(added.sum(axis=0)).ravel() / size
        order = np.argsort(-sums, kind="stable")[:most]
        terms = self._scorer.vocabulary.terms
        return tuple(WordShare(terms[i], float(sums[i])) for i in order if sums[i] > 0)

    def score_without(self, posts: Integers) -> float:
        """The user's score without these of their posts; without any post, less than anybody's."""
        rest = np.setdiff1d(np.arange(len(self._strengths)), posts)
        if not rest.size:
            return -math.inf
        return float(self._scores(np.zeros_like(rest), rest, 1)[0])

    def fewest(self, limit: float) -> tuple[Integers, bool]:
        """Places of the fewest posts without which the score is at most ``limit``; if proved.

        A measure that looks at the breadth of interest may fall sooner, or need other posts: there
        posts are removed one by one, each time the one without which the score is lowest.
        """
        in_buckets, buckets = self._asked.measure.buckets, self._asked.buckets.astype(np.int64)
        m = self._asked.setting.m if in_buckets else 1
        groups = buckets if in_buckets else np.zeros_like(buckets)
        found, proved = fewest_posts(self.strengths(), groups, m, limit)
        if not self._broad and self.score_without(found) <= limit:
            return found, proved
        return self._one_by_one(limit), False

    @property
    def _broad(self) -> bool:
        """Whether the score depends on other topics: tried on the posts alone."""
        alone = np.zeros_like(self._strengths)
        alone[:, self._column] = self._strengths[:, self._column]
        everything = np.arange(len(alone))
        rows = np.zeros_like(everything)
        whole = self._scores(rows, everything, 1)[0]
        return bool(self._scores(rows, everything, 1, alone)[0] != whole)

    def _one_by_one(self, limit: float) -> Integers:
        removed: list[int] = []
        tried = np.argsort(-self.strengths(), kind="stable")[:MOST_REMOVED]
        while len(removed) < tried.size and self.score_without(np.array(removed)) > limit:
            left = [int(post) for post in tried if post not in removed]
            scores = [self.score_without(np.array([*removed, post])) for post in left]
            removed.append(left[int(np.argmin(scores))])
        return np.array(removed, np.int64)

    def _supporting(self) -> tuple[Integers, int]:
        order = np.argsort(-self.strengths(), kind="stable")
        if not self._asked.measure.buckets:
            return order[:1], 1
        _, first = np.unique(self._asked.buckets[order], return_index=True)
        return order[np.sort(first)[: self._asked.setting.m]], self._asked.setting.m

    def _scores(
        self, users: Integers, posts: Integers, population: int, strengths: Floats | None = None
    ) -> Floats:
        """The scores of made-up users with these of the user's posts."""
        strengths = self._strengths if strengths is None else strengths
        community = State(self._asked.state.header)
        community.rows(pa.array([str(number) for number in range(population)]))
        community.count_posts(users)
        space = community.spaces[self._space]
        space.add_posts(users, self._asked.buckets[posts], strengths[posts])
        return self._asked.score_users(community)


class WordParts:
    """What one user's posts and words do for their score by a measure of word use.

    Such a measure knows no strength, breadth or persistence, nor the strength of a post.
    """

    def __init__(self, question: Question) -> None:
        self._asked = question
        scorer = question.scoring.words
        self._terms = scorer.vocabulary.terms
        # One line of bits for each post, as if each had a writer of its own.
        texts = question.own_posts.table["text"].combine_chunks()
        self._bits = WordUse.of_incidence(question.scoring.counts(scorer, texts)).bits
        self._score = self._score_with(self._bits, question.buckets)

    def interest(self) -> None:
        """Nothing is known of it."""

    def strengths(self) -> None:
        """Nothing is known of them."""

    def adds(self, posts: Integers) -> Floats:
        """By how much the score would fall without each of ``posts``."""
        gone = self._gone_with_each()
        falls: dict[bytes, float] = {}
        for post in posts:
            if gone[post] not in falls:
                bits = np.delete(self._bits, post, axis=0)
                buckets = np.delete(self._asked.buckets, post)
                falls[gone[post]] = self._fall(bits, buckets)
        return np.array([falls[gone[post]] for post in posts])

    def _gone_with_each(self) -> list[bytes]:
        """For each post what of the topic's words no other post has, in all and in its bucket.

        Posts with which the same is gone change the score alike; most take nothing with them.
        """
        words = self._asked.state.salient(self._asked.topic)
        used = (self._bits[:, words // 8] >> (words % 8).astype(np.uint8)) & 1
        _, bucket = np.unique(self._asked.buckets, return_inverse=True)
        by_bucket = np.zeros((bucket.max() + 1, words.size), np.int64)
        np.add.at(by_bucket, bucket, used)
        lost = used.astype(bool) & (used.sum(axis=0) == 1)
        lost_there = used.astype(bool) & (by_bucket[bucket] == 1)
        packed = np.packbits(np.hstack([lost, lost_there]), axis=1)
        where = np.where(lost_there.any(axis=1), bucket + 1, 0)
        pairs = zip(packed, where, strict=True)
        return [bits.tobytes() + int(number).to_bytes(8) for bits, number in pairs]

    def words(self, most: int) -> tuple[WordShare, ...]:
        """By how much the score would fall had the user never used each word of the topic."""
        shares = []
        for word in self._asked.state.salient(self._asked.topic).tolist():
            bits = self._bits.copy()
            bits[:, word // 8] &= ~np.uint8(1 << word % 8)
            if (bits[:, word // 8] != self._bits[:, word // 8]).any():
                fall = self._fall(bits, self._asked.buckets)
                shares.append(WordShare(self._terms[word], fall))
        return tuple(sorted(shares, key=lambda share: -share.adds)[:most])

    def _fall(self, bits: NDArray[np.uint8], buckets: NDArray[np.int32]) -> float:
        score = self._score_with(bits, buckets)
        # Infinity less infinity is no change.
        return 0.0 if score == self._score else self._score - score

    def _score_with(self, bits: NDArray[np.uint8], buckets: NDArray[np.int32]) -> float:
        """The user's score in the same community, had their posts these words."""
        community = self._asked.state.supposing(self._asked.row, bits, buckets)
        return float(self._asked.score_users(community)[self._asked.row])


@dataclass(frozen=True)
class Assessed:
    """What an assessment came to, for whatever is asked of it next."""

    request: AssessRequest
    assessment: Assessment
    posts: Corpus | None
    read: dict[str, object]
    """What became of the posts' rows."""
    summary: list[dict[str, object]]
    """How many users are in each band; empty where nobody was ranked."""
    ranks: Sequence[RankedTopicUsers] = ()

    def explain(
        self,
        user: str,
        topic: str,
        measure: str | None,
        *,
        posts: Sources | None,
        without: Sequence[int],
        most: int,
    ) -> Explanation:
        """Why ``user`` stands where they stand."""
        if self.posts is None and posts is None:
            raise ParameterError(
                "a state does not keep the posts; give the posts it was made from: posts=."
            )
        request, own_posts = self.request, UserPosts(user)
        ranked = tuple(self.assessment.measures)
        self.assessment.state.column(topic)
        named = choose_measure(measure, request.state_file, ranked)
        if named not in ranked:
            raise ParameterError(f"measure must be one of {', '.join(ranked)}, got {measure!r}.")
        opened = [] if self.posts is None else [self.posts]
        if posts is not None:
            # In one frame, so that a warning names the caller's line.
            opened = []
            for each in _each(posts):
                beside = request.state_file
                how = warned_reading(each, POSTS, request.columns, beside=beside, stacklevel=4)
                opened.append(open_posts(each, options=how))
        for corpus in opened:
            deque(own_posts.note_batches(corpus), maxlen=0)
        asked = ask(self.assessment, own_posts, topic, named)
        return explain(asked, without=without, most=most)

    def alerts(self, *, bands: Sequence[int], hysteresis: float, out: FilePath | None) -> Alerts:
        """Who entered or left a band since the last check."""
        if self.request.state_file is None:
            raise ParameterError(
                "alerts need a state, which keeps who was in which band; give assess_posts a state."
            )
        return check_alerts(
            self.request.state_file,
            measures=tuple(self.assessment.measures),
            topics=self.request.topic_names,
            k=self.assessment.setting.k,
            m=self.assessment.setting.m,
            bands=bands,
            hysteresis=hysteresis,
            out=None if out is None else Path(out),
        )


def _each(posts: Sources) -> Sequence[Source]:
    """One source of posts, or several; rows are one."""
    several = isinstance(posts, list | tuple) and not isinstance(posts[0], dict | list | tuple)
    return cast("Sequence[Source]", posts if several else [posts])


def ask(assessment: Assessment, own_posts: UserPosts, topic: str, measure: str) -> Question:
    """The question about a user of an assessment by one measure for one topic."""
    chosen, setting = assessment.measures[measure], assessment.setting
    return Question(assessment.state, assessment.scoring, own_posts, topic, chosen, setting)
