"""Which words each background text holds, and which of them stand near a first-person word."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.codes import DROPPED, OUTSIDE, WordCoder
from sottovoce.corpus.words.rules import ENGLISH, TokenRules, fold_case, normal_texts
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import ParameterError
from sottovoce.topics.space import (
    PostScorer,
    checked_rows,
    contributions_of_words,
    score_rows,
    topic_number,
)


class Mentions(NamedTuple):
    """Texts x words as sparse rows: the distinct words of each text, in ascending columns."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    near: NDArray[np.uint8]
    """1 where some occurrence in this text stands near a first-person word."""


def find_mentions(
    arrays: Iterable[pa.Array],
    vocabulary: Vocabulary,
    rules: TokenRules,
    *,
    first_person: Iterable[str],
    span: int,
) -> Mentions:
    """Read texts once; near means at most ``span`` words apart."""
    persons = frozenset(first_person)
    parts = list(_parts(arrays, vocabulary, WordCoder(rules), persons, span))
    sizes = np.concatenate([np.zeros(1, np.int64), *(part.pointers for part in parts)])
    return Mentions(
        np.cumsum(sizes),
        np.concatenate([np.zeros(0, np.int32), *(part.columns for part in parts)]),
        np.concatenate([np.zeros(0, np.uint8), *(part.near for part in parts)]),
    )


def _parts(
    arrays: Iterable[pa.Array],
    vocabulary: Vocabulary,
    coder: WordCoder,
    persons: frozenset[str],
    span: int,
) -> Iterator[Mentions]:
    """The same of each array, with the number of words in place of pointers."""
    for array in arrays:
        stream, codes = coder.encode(text_buffers(normal_texts(array)), 0, len(array))
        forms = coder.forms
        column = np.array([vocabulary.column.get(form, OUTSIDE) for form in forms], np.int32)
        person = np.array([form in persons for form in forms], np.bool_)
        tokens = codes[stream.words]
        kept = tokens != DROPPED
        texts = np.repeat(np.arange(len(array)), np.diff(stream.ends, prepend=0))[kept]
        near = np.zeros(int(kept.sum()), np.uint8)
        mark_near(texts, person[tokens[kept]], span, near)
        yield _distinct(texts, column[tokens[kept]], near, len(array))


def _distinct(
    texts: NDArray[np.int64], columns: NDArray[np.int32], near: NDArray[np.uint8], rows: int
) -> Mentions:
    known = columns != OUTSIDE
    texts, columns, near = texts[known], columns[known], near[known]
    order = np.lexsort((columns, texts))
    texts, columns, near = texts[order], columns[order], near[order]
    changed = (np.diff(texts, prepend=-1) != 0) | (np.diff(columns, prepend=-1) != 0)
    starts = np.flatnonzero(changed)
    any_near = np.maximum.reduceat(near, starts) if starts.size else near
    return Mentions(np.bincount(texts[starts], minlength=rows), columns[starts], any_near)


@kernel
def mark_near(
    texts: NDArray[np.int64], person: NDArray[np.bool_], span: Whole, near: NDArray[np.uint8]
) -> None:
    """Mark the words at most ``span`` words before or after a first-person word of their text."""
    size = texts.size
    last = -1
    for place in range(size):
        if person[place]:
            last = place
        if last >= 0 and texts[last] == texts[place] and place - last <= span:
            near[place] = 1
    following = -1
    for step in range(size):
        place = size - 1 - step
        if person[place]:
            following = place
        if following >= 0 and texts[following] == texts[place] and following - place <= span:
            near[place] = 1


FIRST_PERSON = ("i", "me", "mine", "my", "myself")
SECOND_PERSON = ("you", "your", "yours", "yourself", "yourselves")
# What is left of "isn't" or "I'd" when words end at the apostrophe, and as it is typed without.
_PIECES = """
    a ain aren cant couldn d didn didnt doesn doesnt don dont hadn hasn haven i im isn ive m o s
    shouldn t u wasn weren won wont wouldn
    """
FUNCTION_WORDS = ENGLISH | frozenset(_PIECES.split())


@dataclass(frozen=True)
class VoiceParameters:
    """Who speaks, how near a mention is, and which words are no evidence.

    >>> VoiceParameters(first_person=("ich", "mein")).span
    5
    """

    first_person: tuple[str, ...] = FIRST_PERSON
    span: int = 5
    """A word is near a first-person word when at most so many words apart."""
    second_person: tuple[str, ...] = SECOND_PERSON
    """Who speaks to others uses these; ``voice-s`` and ``voice-st`` weigh them."""
    function_words: frozenset[str] = FUNCTION_WORDS
    """Words that hold sentences together: no evidence for any topic, nor are the persons."""

    def __post_init__(self) -> None:
        if self.span < 1:
            raise ParameterError(f"span must be >= 1, got {self.span}.")
        if not self.first_person:
            raise ParameterError("first_person must name at least 1 word, got none.")
        for name in ("first_person", "second_person"):
            words = tuple(fold_case(word.strip()) for word in getattr(self, name))
            if not all(words):
                raise ParameterError(f"{name} must name words, got an empty one.")
            object.__setattr__(self, name, words)
        dropped = frozenset(map(fold_case, self.function_words))
        object.__setattr__(self, "function_words", dropped)

    @property
    def without_evidence(self) -> frozenset[str]:
        """The words that speak for no topic."""
        return self.function_words | {*self.first_person, *self.second_person}

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        lists = {name: list(getattr(self, name)) for name in ("first_person", "second_person")}
        return {**asdict(self), **lists, "function_words": sorted(self.function_words)}


FIRST, SECOND = 1, 2


@dataclass(frozen=True, eq=False)
class SpeakerScorer:
    """The evidence of a post's words times the share of the first person in it."""

    words: PostScorer
    """The evidence alone."""
    person: NDArray[np.uint8]
    """Of each word: the first person, the second, or 0."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The catalogue's topics, in its order."""
        return self.words.topics

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that tell something, and the persons."""
        return self.words.vocabulary

    @property
    def rules(self) -> TokenRules:
        """How texts become counts."""
        return self.words.rules

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """For each post and topic, evidence e (1 + f) / (2 + f + s), in nats.

        f and s are how often the post has words of the first and of the second person. The factor
        is the mean share of the first person after f + s draws from a uniform prior (Laplace's rule
        of succession): 1/2 without either, towards 1 for who speaks of themselves, towards 0 for
        who speaks to others.
        """
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            weigh_speaker(*rows, self.person, first, last, out)

        strengths = self.words.strengths(counts, threads=threads)
        return strengths * score_rows(rows, 1, work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it.

        A word of the second person takes some away, so its number is below 0.
        """
        return contributions_of_words(counts, self, topic_number(self.topics, topic))


@kernel
def weigh_speaker(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.float64],
    person: NDArray[np.uint8],
    first: Whole,
    last: Whole,
    out: NDArray[np.float64],
) -> None:
    """The factor of each post: (1 + f) / (2 + f + s)."""
    for row in range(first, last):
        own, others = 0.0, 0.0
        for cell in range(pointers[row], pointers[row + 1]):
            if person[columns[cell]] == FIRST:
                own += counts[cell]
            elif person[columns[cell]] == SECOND:
                others += counts[cell]
        out[row, 0] = (1.0 + own) / (2.0 + own + others)
