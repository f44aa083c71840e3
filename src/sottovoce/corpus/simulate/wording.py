"""From plans to texts: draw the words, dress them with capitals and full stops, join them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.corpus.simulate.lexicon import (
    KINDS,
    MENTION,
    Lexicon,
    draw_stacked,
    stacked_cumulative,
    the_lexicon,
)

CHUNK_WORDS = 512 * 1024
MARKS = ("", ",", ".", "!", "?", "...")
NO_MARK, COMMA, FULL_STOP = range(3)
# How sentences end: full stop, exclamation mark, question mark, dots.
ENDINGS = (0.72, 0.11, 0.12, 0.05)
SENTENCE_END_SHARE = 0.09
COMMA_SHARE = 0.05
LAST_MARK_SHARE = 0.8


@dataclass(frozen=True)
class Texts:
    """What to write, one entry per text; ``mix`` is a row of the table of word kinds."""

    length: NDArray[np.int64]
    mix: NDArray[np.int64]
    subject: NDArray[np.int64]
    mention: NDArray[np.int64]
    capitalises: NDArray[np.bool_]
    punctuates: NDArray[np.bool_]

    def chunks(self) -> Iterator["Texts"]:
        """Cut into pieces of about equally many words, which bounds what memory holds."""
        piece = np.cumsum(self.length) // CHUNK_WORDS
        cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(self.length)]
        for start, end in pairwise(cuts):
            yield self._rows(slice(start, end))

    def _rows(self, rows: slice) -> "Texts":
        return Texts(
            self.length[rows],
            self.mix[rows],
            self.subject[rows],
            self.mention[rows],
            self.capitalises[rows],
            self.punctuates[rows],
        )


def draw_lengths(
    count: int, median: float, spread: float, longest: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw numbers of words: log-normal, rounded, between 1 and ``longest``."""
    drawn = np.rint(median * np.exp(spread * rng.standard_normal(count)))
    return np.clip(drawn, 1, longest).astype(np.int64)


def write_texts(
    texts: Texts, mixes: NDArray[np.float64], rng: np.random.Generator
) -> pa.ChunkedArray:
    """Write all ``texts``; ``mixes[i, kind]`` is the share of each kind of word in mix ``i``."""
    lexicon = the_lexicon()
    cumulative = stacked_cumulative(list(mixes))
    written = [_write(chunk, lexicon, cumulative, rng) for chunk in texts.chunks()]
    return pa.chunked_array(written, type=pa.string())


def _write(
    texts: Texts, lexicon: Lexicon, cumulative: NDArray[np.float64], rng: np.random.Generator
) -> pa.Array:
    text = np.repeat(np.arange(len(texts.length)), texts.length)
    kind = draw_stacked(cumulative, texts.mix[text], rng) % KINDS
    topic = np.where(kind == MENTION, texts.mention[text], texts.subject[text])
    words = lexicon.draw(lexicon.source_of[kind, topic], rng)
    ends = np.concatenate([[0], np.cumsum(texts.length)])
    dressed = words + len(lexicon.words) * _dress(texts, text, ends, rng)
    spelled = dressed_words().take(pa.array(dressed))
    lists = pa.ListArray.from_arrays(pa.array(ends, type=pa.int32()), spelled)
    return pc.binary_join(lists, " ")


def _dress(
    texts: Texts, text: NDArray[np.int64], ends: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return, for each word, which of the dressed forms of ``dressed_words`` to write."""
    last = np.zeros(len(text), dtype=np.bool_)
    last[ends[1:] - 1] = True
    draw = rng.random(len(text))
    ends_sentence = np.where(last, draw < LAST_MARK_SHARE, draw < SENTENCE_END_SHARE)
    comma = ~last & ~ends_sentence & (draw < SENTENCE_END_SHARE + COMMA_SHARE)
    ending = FULL_STOP + rng.choice(len(ENDINGS), len(text), p=ENDINGS)
    mark = np.where(ends_sentence, ending, np.where(comma, COMMA, NO_MARK))
    starts_sentence = np.roll(last | ends_sentence, 1)
    capital = starts_sentence & texts.capitalises[text]
    form: NDArray[np.int64] = capital * len(MARKS) + mark * texts.punctuates[text]
    return form


@cache
def dressed_words() -> pa.Array:
    """Return every word with each mark, first plain and then capitalised."""
    words = pa.array(the_lexicon().words, type=pa.string())
    forms = [
        pc.binary_join_element_wise(word, mark, "")
        for word in (words, pc.utf8_capitalize(words))
        for mark in MARKS
    ]
    return pa.concat_arrays(forms)
