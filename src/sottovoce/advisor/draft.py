"""What a post would do if it were published: checked before anybody sees it."""

import threading
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sottovoce.advisor.person_values import PostMatrix, Variants, in_utc
from sottovoce.advisor.standing import Standing
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.corpus.counts import count_batches
from sottovoce.topics.rows import without_each_word

if TYPE_CHECKING:
    from scipy import sparse

    from sottovoce.advisor.crowd import Seats
    from sottovoce.advisor.person import Person
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

    @property
    def rises(self) -> bool:
        """Whether publishing would raise their score."""
        if self.before.score is None or self.after.score is None:
            return False
        return self.after.score > self.before.score


@dataclass(frozen=True)
class DraftCheck:
    """What publishing the draft would do, for each sensitive topic."""

    time: datetime
    topics: tuple[DraftTopic, ...]
    known_words: int
    """So many different words of the draft are known to the model; others do not count."""
    words_read: int = 0
    """So many words the draft has."""

    @property
    def standings(self) -> list[Standing]:
        """Where they would stand."""
        return [topic.after for topic in self.topics]


def check_draft(person: "Person", text: str, time: datetime, most: int = 10) -> DraftCheck:
    """Exactly as if they had been assessed with the draft among their posts."""
    values, counts = person.values, person.counter.counts(text)
    own = values.matrix_of(counts, values.buckets_of([in_utc(time)]))
    without = values.matrix_of(without_each_word(counts), np.repeat(own.buckets, counts.nnz))
    hers = person.essential
    seats = person.crowd.seats(_each_with(hers, own.joined(without)))
    after = person.standings_with(hers.joined(own))
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
    rows = base.take(np.tile(np.arange(len(base)), count)).joined(added)
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
