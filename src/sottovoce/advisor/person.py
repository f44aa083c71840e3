"""A person: their posts, where these put them, what if, and what a draft would do."""

import copy
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.advisor.community import Community
from sottovoce.advisor.crowd import Crowd, Seats
from sottovoce.advisor.evidence import Evidence, Timeline, evidence_of, timeline_of
from sottovoce.advisor.person_values import (
    AdvisorSetting,
    MeasuredPosts,
    Post,
    PostMatrix,
    SaidByPosts,
    Variants,
    checked_posts,
    in_utc,
    posts_warning,
)
from sottovoce.advisor.standing import (
    BucketTops,
    LeftOut,
    Standing,
    essential,
    left_out,
    remaining,
    standings_of,
)
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.corpus.counts import count_batches
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.space import without_each_word

if TYPE_CHECKING:
    from scipy import sparse

    from sottovoce.topics.space import PostScorer


@dataclass(frozen=True)
class DraftWord:
    """A word of the draft, and where they would stand if the draft did without it."""

    word: str
    adds: float
    """By how much their score after publishing would fall without the word."""
    low: int
    high: int


@dataclass(frozen=True)
class DraftTopic:
    """What the draft would do for one topic."""

    before: Standing
    after: Standing
    strength: float | None
    """How close the draft itself comes to the topic; None for a measure of word use."""
    words: tuple[DraftWord, ...]
    """Words that push them up, the strongest first."""
    level: DisclosureLevel = DisclosureLevel.NONE
    """How plainly the draft itself speaks of the topic, whatever their place."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where its telling words stand in the draft."""
    covering: int = 0
    """So many of their posts come as close to the topic, and hold their place without it."""


@dataclass(frozen=True)
class DraftCheck:
    """What publishing the draft would do, for each sensitive topic."""

    time: datetime
    topics: tuple[DraftTopic, ...]
    known_words: int
    """So many different words of the draft are known to the model; others do not count."""
    words_read: int = 0
    """So many words the draft has."""


class TextCounter:
    """Counts single texts as a scorer wants them; threads may share it."""

    def __init__(self, scorer: "PostScorer") -> None:
        self._scorer = scorer
        self._lock = threading.Lock()
        self._open()

    def counts(self, text: str) -> "sparse.csr_array":
        """One row: the counts of ``text``."""
        array = pa.array([text], pa.string())
        with self._lock:
            self._waiting.append(array)
            try:
                return next(self._stream)
            except BaseException:
                # A stream that failed is over.
                self._open()
                raise

    def _open(self) -> None:
        self._waiting: list[pa.Array] = []
        # A stream asks for its next text when it is asked for its next counts.
        texts = iter(self._waiting.pop, None)
        scorer = self._scorer
        self._stream = count_batches(texts, scorer.vocabulary, scorer.rules, threads=1)


class Person:
    """One person in, or new to, a community.

    ``posts`` are all of theirs: (id, time, text); None takes what the community holds of ``user``.
    A ``user`` of the community is replaced by these posts; anybody else is added to it. So every
    answer equals that of assessing the whole community with exactly these posts of theirs. Threads
    may share a person.
    """

    def __init__(
        self,
        community: Community,
        posts: Iterable[Post] | None = None,
        user: str | None = None,
        setting: AdvisorSetting | None = None,
    ) -> None:
        if posts is None:
            if user is None:
                raise ParameterError("a person needs posts, or the name of a user, got neither.")
            posts = community.posts_of(user)
        if setting is not None and setting != community.setting:
            community = community.with_setting(setting)
        self.community, self.user, self.setting = community, user, community.setting
        self.posts = checked_posts(posts)
        if not self.posts:
            raise InputError("a person must have at least 1 post, got none.")
        self.measure = self.setting.how()
        self.values = MeasuredPosts(community.scoring, self.measure.space, self.posts)

    def with_setting(self, setting: AdvisorSetting) -> "Person":
        """The same person by another setting."""
        other = Person(self.community, self.posts, self.user, setting)
        if other.community.catalogue == self.community.catalogue:
            other.__dict__["disclosures"] = self.disclosures
        return other

    @property
    def among_simulated(self) -> bool:
        """Whether they are real, as far as is known, and all the others are made up."""
        return self.community.simulated and self.user not in self.community

    @cached_property
    def language_warning(self) -> str | None:
        """That posts of theirs do not seem to be in English; None where they do."""
        texts = [post.text for post in self.posts]
        return posts_warning(texts, built_in=self.community.topics_built_in)

    @cached_property
    def crowd(self) -> Crowd:
        """Everybody but them."""
        return self.community.crowd(self.user)

    @property
    def matrix(self) -> PostMatrix:
        """All that their scores depend on."""
        return self.values.matrix

    def standings(self) -> list[Standing]:
        """Where they stand for each sensitive topic, with what single posts do to it."""
        return list(self._standings)

    @cached_property
    def _standings(self) -> list[Standing]:
        return standings_of(self, self.essential, self.left_out.whole, self.left_out)

    @property
    def topics(self) -> tuple[str, ...]:
        """The sensitive topics, in the catalogue's order."""
        return self.community.topics

    def standing(self, topic: str) -> Standing:
        """Where they stand for one topic."""
        return self.standings()[self.column(topic)]

    def evidence(self, topic: str, most: int = 10) -> Evidence:
        """The posts and words that put them there, those that matter most first."""
        return evidence_of(self, topic, most)

    def timeline(self, topic: str) -> Timeline:
        """Strength bucket by bucket, the score so far, and the alerts it would have raised."""
        return timeline_of(self, topic)

    @cached_property
    def disclosures(self) -> SaidByPosts:
        """What their posts say of each topic, whatever others write."""
        return SaidByPosts(self.community.reader, self.posts)

    def standings_without(self, ids: Sequence[int]) -> list[Standing]:
        """Where they would stand had they never written these posts: exactly."""
        gone = np.zeros(len(self.posts), np.bool_)
        gone[self.values.rows(ids)] = True
        if self.measure.space is None:
            return self.standings_with(self.matrix.take(~gone))
        return self.standings_with(remaining(self.tops, gone, self.setting.m))

    def with_draft(self, text: str, time: datetime | None = None) -> DraftCheck:
        """Where they would stand had they also written ``text``, and which of its words matter."""
        return check_draft(self, text, time or self.now())

    def lacking(self, ids: Sequence[int]) -> "Person":
        """The same person without these posts, of which not all may go; nothing is scored again."""
        rows = np.delete(np.arange(len(self.posts)), self.values.rows(ids))
        if not rows.size:
            raise ParameterError("at least 1 post must stay, got none.")
        fewer = copy.copy(self)
        worked_out = ("left_out", "tops", "essential", "_standings", "language_warning")
        kept = {name: value for name, value in self.__dict__.items() if name not in worked_out}
        fewer.__dict__ = {**kept, "crowd": self.crowd}
        fewer.values = self.values.select(rows)
        fewer.posts = fewer.values.posts
        fewer.disclosures = self.disclosures.select(fewer.posts)
        return fewer

    def without_words(self, words: Iterable[str]) -> list[Standing]:
        """Where they would stand had all their posts done without these words: exactly."""
        return self.standings_with(self.values.without_words(words))

    def standings_with(self, posts: PostMatrix) -> list[Standing]:
        """Where they would stand with other posts than theirs."""
        return standings_of(self, posts, self.crowd.seats(Variants.one(posts)))

    def now(self) -> datetime:
        """The community's now, or the clock's."""
        return self.community.now or datetime.now(UTC)

    def column(self, topic: str) -> int:
        """The place of ``topic`` among the sensitive ones."""
        if topic not in self.community.topics:
            count = len(self.community.topics)
            raise ParameterError(f"topic must be one of the {count} sensitive ones, got another.")
        return self.community.topics.index(topic)

    @cached_property
    def left_out(self) -> LeftOut:
        """Their seats, whole and without each post."""
        return left_out(self.crowd, self.matrix, self.setting.m, self._salient)

    @cached_property
    def counter(self) -> TextCounter:
        """Counts the words of drafts."""
        return TextCounter(self.values.scorer)

    @cached_property
    def tops(self) -> BucketTops:
        """Of each bucket what is strongest."""
        return BucketTops(self.matrix)

    @cached_property
    def essential(self) -> PostMatrix:
        """Few rows that stand for all their posts, also when others are added."""
        if self.measure.space is not None:
            return essential(self.matrix, self.setting.m)
        posts = self.matrix
        union = np.bitwise_or.reduce(posts.words, axis=0)[np.newaxis]
        return PostMatrix(posts.buckets[:1], posts.strengths[:1], union)

    @property
    def seats(self) -> Seats:
        """Where they stand, as numbers."""
        return self.left_out.whole

    @property
    def _salient(self) -> NDArray[np.int64] | None:
        """The words of the sensitive topics, for a measure that looks at words."""
        if self.measure.space is not None:
            return None
        salient = self.community.scoring.header.salient or {}
        return np.unique(np.concatenate([salient[topic] for topic in self.community.topics]))


def check_draft(person: "Person", text: str, time: datetime, most: int = 10) -> DraftCheck:
    """Exactly as if they had been assessed with the draft among their posts."""
    values, counts = person.values, person.counter.counts(text)
    own = values.matrix_of(counts, values.buckets_of([in_utc(time)]))
    without = values.matrix_of(without_each_word(counts), np.repeat(own.buckets, counts.nnz))
    hers = person.essential
    seats = person.crowd.seats(_each_with(hers, own.join(without)))
    after = person.standings_with(hers.join(own))
    told = {each.topic: each for each in person.community.reader.read(text)}
    terms = [values.scorer.vocabulary.terms[word] for word in counts.indices]
    found = []
    for column, before in enumerate(person.standings()):
        words = _words(terms, seats, column)
        strength = _strength(person, own, before.topic)
        covering = 0 if strength is None else _at_least(person, strength, before.topic)
        draft = DraftTopic(before, after[column], strength, words[:most], covering=covering)
        said = told.get(before.topic)
        found.append(draft if said is None else replace(draft, level=said.level, spans=said.spans))
    return DraftCheck(in_utc(time), tuple(found), len(terms), len(text.split()))


def _each_with(base: PostMatrix, added: PostMatrix) -> Variants:
    """For each added row a version of them: the base and that row."""
    count = len(added)
    rows = base.take(np.tile(np.arange(len(base)), count)).join(added)
    owner = np.concatenate([np.repeat(np.arange(count), len(base)), np.arange(count)])
    return Variants(rows, owner, count)


def _words(terms: list[str], seats: "Seats", column: int) -> tuple[DraftWord, ...]:
    """The words without which their score would be lower; row 0 is the whole draft."""
    scores = seats.scores[:, column]
    found = [
        DraftWord(
            term,
            float(scores[0] - scores[row]),
            int(seats.low[row, column]),
            int(seats.high[row, column]),
        )
        for row, term in enumerate(terms, start=1)
        if scores[row] < scores[0]
    ]
    return tuple(sorted(found, key=lambda word: (-word.adds, word.word)))


def _strength(person: "Person", own: PostMatrix, topic: str) -> float | None:
    if person.measure.space is None:
        return None
    return float(own.strengths[0, person.community.catalogue.names.index(topic)])


def _at_least(person: "Person", strength: float, topic: str) -> int:
    column = person.community.catalogue.names.index(topic)
    return int((person.matrix.strengths[:, column] >= strength).sum())
