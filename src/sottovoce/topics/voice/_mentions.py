"""Which words each background text holds, and which of them stand near a first-person word."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.codes import DROPPED, OUTSIDE, WordCoder
from sottovoce.corpus.words.normal import normal_texts
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.corpus.words.scan import text_buffers


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
