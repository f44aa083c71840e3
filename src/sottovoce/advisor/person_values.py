"""What is known of a person's posts, by their setting, worked out once; every what-if starts here.

A variant is a made-up version of the person: without a post, with a draft, up to some week. It is a
set of rows of a ``PostMatrix``. A score in a vector space depends on one's own posts alone, so all
variants are scored at once as users of one small state, by the very code that scores a community:
what-if is exact because nothing else computes scores.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.assess.alerts import HYSTERESIS
from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.disclosure.levels import Disclosure, DisclosureLevel
from sottovoce.assess.measures.catalogue import MEASURES, RECOMMENDED
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.ranking import BANDS
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Bucket, StateHeader
from sottovoce.assess.setting import Setting as Risk
from sottovoce.assess.state.state import State
from sottovoce.assess.state.words import WordUse
from sottovoce.corpus.schema import POSTS
from sottovoce.corpus.vocabulary import SHARE
from sottovoce.corpus.words.rules import ENGLISH
from sottovoce.errors import ParameterError
from sottovoce.topics.space import Mode

BEST = "recommended"
OWN_AMONG_SIMULATED = "bow-t"
"""Of real posts among made-up people, unless they choose: a model of made-up texts misleads."""
_WHOLE = 100


@dataclass(frozen=True)
class AdvisorSetting:
    """How scores are made, and which bands raise an alert.

    Attributes:
        measure: its name, such as ``bow-t``; ``Community.measures`` lists those at hand, of which
            ``recommended`` takes the first that is recommended.
        k: the share of a domain's topics that a broad interest covers (Definition 7).
        m: how many time buckets a lasting interest covers (Definition 8).
        bucket: the time bucket, ``1w``, ``10d`` or ``1mo``.
        thresholds: percentages p; they are alerted when they enter or leave the top p%.
        hysteresis: they leave the top p% only when more than p (1 + h)% stand as high as they do.
        mode: ``corrected``, or ``paper`` for the formulas as printed.
    """

    measure: str = BEST
    k: float = 0.3
    m: int = 3
    bucket: str = "1w"
    thresholds: tuple[int, ...] = BANDS
    hysteresis: float = HYSTERESIS
    mode: Mode = "corrected"

    def __post_init__(self) -> None:
        if self.measure not in MEASURES and self.measure != BEST:
            raise ParameterError(f"measure must be one of {', '.join(MEASURES)}, got another.")
        _ = self.risk, self.buckets
        if not self.thresholds:
            raise ParameterError("thresholds must be at least 1, got none.")
        for percent in self.thresholds:
            if not 0 < percent < _WHOLE:
                raise ParameterError(f"a threshold must be > 0 and < 100 percent, got {percent}.")
        # Written so that a NaN is refused too.
        if not 0 <= self.hysteresis < float("inf"):
            raise ParameterError(f"hysteresis must be >= 0, got {self.hysteresis}.")

    def choose_measure(self, measures: Sequence[str]) -> "AdvisorSetting":
        """The same with a measure of its own: where it asks for the recommended one, that."""
        if self.measure != BEST or not measures:
            return self
        lasting = [name for name in measures if name.endswith("-t")]
        found = [*(name for name in RECOMMENDED if name in measures), *lasting, *measures]
        return replace(self, measure=found[0])

    @cached_property
    def risk(self) -> Risk:
        """As the measures take it."""
        return Risk(self.k, self.m, self.mode)

    @cached_property
    def buckets(self) -> Bucket:
        """The length of time by which posts are grouped."""
        return Bucket.parse(self.bucket)

    def how(self) -> Measure:
        """The measure itself."""
        return MEASURES[self.measure]


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


@dataclass(frozen=True)
class TopicSaid:
    """What a person's posts say of one topic, and how much was read to find it.

    ``outright``: the ids of posts that say it of their author; ``about``: those that speak of the
    topic without saying so; both in the order of their times.
    """

    topic: str
    outright: tuple[int, ...]
    about: tuple[int, ...]
    posts: int
    words: int

    @property
    def level(self) -> DisclosureLevel:
        """How plainly the plainest post speaks."""
        if self.outright:
            return DisclosureLevel.OUTRIGHT
        return DisclosureLevel.ABOUT if self.about else DisclosureLevel.NONE


@dataclass(frozen=True, eq=False)
class SaidByPosts:
    """What each of some posts says of each topic of a catalogue; read when it is first asked."""

    reader: DisclosureReader
    posts: tuple[Post, ...]

    @cached_property
    def _by_post(self) -> dict[int, dict[str, Disclosure]]:
        found = {post.id: self.reader.read(post.text) for post in self.posts}
        return {number: {each.topic: each for each in told} for number, told in found.items()}

    def select(self, posts: tuple[Post, ...]) -> "SaidByPosts":
        """The same of some of the posts, nothing read again."""
        fewer = SaidByPosts(self.reader, posts)
        fewer.__dict__["_by_post"] = {post.id: self._by_post[post.id] for post in posts}
        return fewer

    @cached_property
    def words(self) -> int:
        """How many words were read."""
        return sum(len(post.text.split()) for post in self.posts)

    def of_post(self, number: int, topic: str) -> Disclosure | None:
        """What one post says of a topic; None where it has no word of it."""
        return self._by_post[number].get(topic)

    def of_topic(self, topic: str) -> TopicSaid:
        """What all of them say of a topic."""
        told = [
            (number, each[topic].level) for number, each in self._by_post.items() if topic in each
        ]
        outright = tuple(number for number, level in told if level is DisclosureLevel.OUTRIGHT)
        about = tuple(number for number, level in told if level is DisclosureLevel.ABOUT)
        return TopicSaid(topic, outright, about, len(self.posts), self.words)


FEWEST_WORDS = 15
"""Fewer do not tell. Of 1,667 posts of ours in English with so many, none seems foreign."""
FUNCTION_WORDS = ENGLISH | {"a", "i"}
# A letter that is not Latin counts as a word: not all scripts leave gaps between words.
_WORD_OR_LETTER = re.compile(r"[^\W\u0000-\u024f]|\w+")
_BUILT_IN = (
    "The built-in topics and the reading of posts are for English only. They find nothing in "
    "another language, so finding nothing means nothing."
)
_GIVEN = "The page reads what posts say outright in English only, so finding nothing means nothing."


def seems_foreign(texts: Sequence[str]) -> bool:
    """Whether so few are function words of English that it is another language.

    Fewer than ``FEWEST_WORDS`` words do not tell.

    >>> seems_foreign(["Ich habe Depressionen und nehme Tabletten."] * 3)
    True
    >>> seems_foreign(["Relapse, heroin, detox."]), seems_foreign(["I went to the sea again."] * 9)
    (False, False)
    """
    words = [word for text in texts for word in _WORD_OR_LETTER.findall(text.casefold())]
    known = sum(word in FUNCTION_WORDS for word in words)
    return len(words) >= FEWEST_WORDS and known < SHARE * len(words)


def posts_warning(texts: Sequence[str], *, built_in: bool) -> str | None:
    """What to say above a verdict; ``built_in``: by the built-in topics. None for English."""
    if seems_foreign(texts):
        return _warning("These posts do not seem", built_in=built_in)
    foreign = sum(seems_foreign([text]) for text in texts)
    if not foreign:
        return None
    seem = "post does not seem" if foreign == 1 else "posts do not seem"
    return _warning(f"Of your {len(texts):,} posts, {foreign:,} {seem}", built_in=built_in)


def draft_warning(text: str, *, built_in: bool) -> str | None:
    """The same of a draft."""
    return _warning("The draft does not seem", built_in=built_in) if seems_foreign([text]) else None


def _warning(which: str, *, built_in: bool) -> str:
    return f"{which} to be in English. {_BUILT_IN if built_in else _GIVEN}"
