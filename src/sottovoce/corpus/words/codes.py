"""From texts to streams of word codes, and from these to rows of counts.

A text is scanned, then the token rules are applied to each distinct word; the kernel below fills a
sparse matrix.

`tokenize` gives the words themselves, for people and for short lists; counting does not go through
it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.words.rules import TokenRules, normal_form, normal_texts
from sottovoce.corpus.words.scan import Lexicon, TextBuffers, WordStream, find_words, text_buffers
from sottovoce.errors import ParameterError

# A word that is not in the vocabulary still stands between its neighbours; a dropped one does not.
OUTSIDE = -1
DROPPED = -2

# Beyond this many distinct words a coder of known words starts its cache again.
_CACHE_WORDS = 1 << 20


class WordCoder:
    """Gives each word of a text the code of its form.

    With ``known`` forms, all others are OUTSIDE and memory is bounded; without, every new form
    gets the next code.
    """

    def __init__(self, rules: TokenRules, known: Mapping[str, int] | None = None) -> None:
        self._rules = rules
        self._form = rules.former()
        self._open = known is None
        self._forms = dict(known or {})
        # Words of a list may be spelt otherwise than texts are when they are read.
        self._spelt = {normal_form(form): code for form, code in self._forms.items()}
        # Stemming maps many words to a form, so the words cannot be listed beforehand.
        self._growing = self._open or rules.stem is not None
        self._forget()
        if not self._growing:
            other = [word for word in self._spelt if word not in self._forms]
            self._learn([*self._forms, *other, *rules.stop_words])

    @property
    def is_shared(self) -> bool:
        """Whether several threads may use this coder at once."""
        return not self._growing

    @property
    def forms(self) -> list[str]:
        """The forms in the order of their codes."""
        return list(self._forms)

    def encode(
        self, texts: TextBuffers, first: int, last: int
    ) -> tuple[WordStream, NDArray[np.int32]]:
        """The words of some texts, by their numbers, and the code of each number."""
        if self._growing and not self._open and len(self._lexicon) > _CACHE_WORDS:
            self._forget()
        stream = find_words(
            texts, first, last, self._lexicon, shortest=self._rules.shortest, growing=self._growing
        )
        if self._growing:
            self._code(self._lexicon.words(self._codes.size))
        return stream, self._codes

    def _forget(self) -> None:
        self._lexicon = Lexicon()
        self._codes = np.empty(0, np.int32)

    def _learn(self, words: list[str]) -> None:
        texts = text_buffers(pa.array(words, pa.large_string()))
        find_words(texts, 0, len(words), self._lexicon, shortest=1, growing=True)
        self._code(self._lexicon.words())

    def _code(self, words: Iterable[str]) -> None:
        codes = np.array([self._code_of(word) for word in words], np.int32)
        self._codes = np.concatenate([self._codes, codes])

    def _code_of(self, word: str) -> int:
        form = self._form(word)
        if form is None:
            return DROPPED
        if self._open:
            return self._forms.setdefault(form, len(self._forms))
        return self._forms.get(form, self._spelt.get(form, OUTSIDE))


def tokenize(texts: Sequence[str], rules: TokenRules | None = None) -> list[list[str]]:
    """The words of each text in the form in which they count, without bigrams.

    >>> tokenize(["A loan!", "The sea"])
    [['loan'], ['the', 'sea']]
    """
    if isinstance(texts, str):
        raise ParameterError("texts must be a list of texts, got one text: put it into a list.")
    coder = WordCoder(rules or TokenRules())
    spelt = normal_texts(pa.array(texts, pa.large_string()))
    stream, codes = coder.encode(text_buffers(spelt), 0, len(texts))
    forms = coder.forms
    words = [forms[code] if code != DROPPED else None for code in codes[stream.words].tolist()]
    begins = [0, *stream.ends.tolist()]
    return [
        [word for word in words[begin:end] if word is not None] for begin, end in pairwise(begins)
    ]


Cell = TypeVar("Cell", np.int32, np.int64)

NO_COLUMN = -1
_NO_PAIR = -1
_FIRST_ROOM = 1 << 12


class Columns(NamedTuple):
    """The column of each word and of each pair of neighbours, and back.

    The pairs are a hash table with open addressing; its key is ``first << 32 | second``.
    """

    of_word: NDArray[np.int32]
    pair_keys: NDArray[np.int64]
    pair_columns: NDArray[np.int32]
    members: NDArray[np.int32]
    """For each column its words; the second is OUTSIDE for a single word."""
    used: NDArray[np.int64]
    """How many columns there are."""


class TermRows(NamedTuple):
    """Counts as compressed sparse rows, and where each column was last seen."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int32]
    seen_in: NDArray[np.int64]
    place: NDArray[np.int64]


class TermCounter:
    """Counts terms by column. Closed: the columns are given. Open: each new term gets the next."""

    def __init__(self, *, bigrams: bool, columns: Columns | None = None, width: int = 0) -> None:
        self._bigrams = bigrams
        self._growing = columns is None
        self._width = width
        self._columns = columns or _empty_columns(_FIRST_ROOM)

    @property
    def members(self) -> NDArray[np.int32]:
        """The word codes of each column; the second is OUTSIDE for a single word."""
        return self._columns.members[: self._columns.used[0]]

    def count(self, stream: WordStream, codes: NDArray[np.int32]) -> sparse.csr_array:
        """One row for each text of ``stream``; in column order if the columns were given."""
        if self._growing:
            self._make_room(codes)
        rows = self._empty_rows(stream)
        done = 0
        while (
            done := _fill(stream, codes, self._columns, rows, done, self._bigrams, self._growing)
        ) < stream.ends.size:
            self._columns = _grow_columns(self._columns)
            rows = rows._replace(
                seen_in=_extend_array(rows.seen_in, self._capacity, NO_COLUMN),
                place=_extend_array(rows.place, self._capacity, 0),
            )
        width = int(self._columns.used[0]) if self._growing else self._width
        size = rows.pointers[-1]
        if not self._growing:
            sort_rows(rows.pointers, rows.columns, rows.counts, width)
        parts = (rows.counts[:size], rows.columns[:size], narrow(rows.pointers))
        return sparse.csr_array(parts, shape=(stream.ends.size, width))

    @property
    def _capacity(self) -> int:
        return len(self._columns.members) if self._growing else self._width

    def _empty_rows(self, stream: WordStream) -> TermRows:
        most = stream.words.size * (2 if self._bigrams else 1)
        return TermRows(
            pointers=np.zeros(stream.ends.size + 1, np.int64),
            columns=np.empty(most, np.int32),
            counts=np.empty(most, np.int32),
            seen_in=np.full(self._capacity, -1, np.int64),
            place=np.empty(self._capacity, np.int64),
        )

    def _make_room(self, codes: NDArray[np.int32]) -> None:
        words = int(codes.max(initial=0)) + 1
        of_word = _extend_array(self._columns.of_word, words, NO_COLUMN)
        self._columns = self._columns._replace(of_word=of_word)


def narrow(pointers: NDArray[np.int64]) -> NDArray[np.signedinteger]:
    """As narrow as columns are, where they fit: else scipy copies the columns to widen them."""
    return pointers.astype(np.int32) if pointers[-1] <= np.iinfo(np.int32).max else pointers


def closed_columns(column_of: Mapping[str, int], code_of: Mapping[str, int]) -> Columns:
    """The columns of a fixed vocabulary, given the codes of its words."""
    columns = _empty_columns(_room_for(len(column_of)))
    columns = columns._replace(of_word=np.full(len(code_of), NO_COLUMN, np.int32))
    pairs = []
    for term, column in column_of.items():
        first, _, second = term.partition(" ")
        if second:
            pairs.append(((code_of[first] << 32) | code_of[second], column))
        else:
            columns.of_word[code_of[first]] = column
    keys, places = np.array(pairs, np.int64).reshape(-1, 2).T
    _put_pairs(columns.pair_keys, columns.pair_columns, keys, places)
    return columns


def _room_for(pairs: int) -> int:
    return max(_FIRST_ROOM, 1 << (2 * pairs).bit_length())


def _empty_columns(room: int) -> Columns:
    return Columns(
        of_word=np.empty(0, np.int32),
        pair_keys=np.full(room, _NO_PAIR, np.int64),
        pair_columns=np.empty(room, np.int32),
        members=np.full((room // 2, 2), OUTSIDE, np.int32),
        used=np.zeros(1, np.int64),
    )


def _grow_columns(columns: Columns) -> Columns:
    new = _empty_columns(2 * columns.pair_keys.size)
    new.members[: len(columns.members)] = columns.members
    new = new._replace(of_word=columns.of_word, used=columns.used)
    filled = columns.pair_keys != _NO_PAIR
    keys, places = columns.pair_keys[filled], columns.pair_columns[filled].astype(np.int64)
    _put_pairs(new.pair_keys, new.pair_columns, keys, places)
    return new


def _extend_array(array: NDArray[Cell], size: int, fill: int) -> NDArray[Cell]:
    if array.size >= size:
        return array
    new = np.full(max(size, 2 * array.size), fill, array.dtype)
    new[: array.size] = array
    return new


@kernel
def _put_pairs(
    pair_keys: NDArray[np.int64],
    pair_columns: NDArray[np.int32],
    keys: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> None:
    """Enter pairs that are not in the table yet."""
    last_slot = pair_keys.size - 1
    for i in range(keys.size):
        slot = _first_slot(keys[i] >> 32, keys[i] & 0xFFFFFFFF) & last_slot
        while pair_keys[slot] != _NO_PAIR:
            slot = (slot + 1) & last_slot
        pair_keys[slot], pair_columns[slot] = keys[i], columns[i]


# One function on purpose, like the scanner: what is called here is called for new terms only.
@kernel
def _fill(  # noqa: C901, PLR0912 - see above
    stream: WordStream,
    codes: NDArray[np.int32],
    columns: Columns,
    rows: TermRows,
    done: Whole,
    bigrams: bool,
    growing: bool,
) -> Whole:
    """Count the texts after the first ``done``; stop before one whose terms might not fit."""
    words, ends = stream
    of_word, pair_keys, pair_columns, members, used = columns
    pointers, out_columns, out_counts, seen_in, place = rows
    last_slot = pair_keys.size - 1
    for row in range(done, ends.size):
        begin = ends[row - 1] if row else 0
        if growing and members.shape[0] - used[0] < (ends[row] - begin) * (2 if bigrams else 1):
            return row
        size = pointers[row]
        previous = np.int64(OUTSIDE)
        for position in range(begin, ends[row]):
            code = np.int64(codes[words[position]]) if words[position] >= 0 else np.int64(OUTSIDE)
            if code == DROPPED:
                continue
            column, pair_column = NO_COLUMN, NO_COLUMN
            if code != OUTSIDE:
                column = of_word[code]
                if growing and column == NO_COLUMN:
                    column = _new_column(columns, code, OUTSIDE)
                    of_word[code] = column
            if bigrams and code >= 0 and previous >= 0:
                key = (previous << 32) | code
                slot = _first_slot(previous, code) & last_slot
                while pair_keys[slot] != _NO_PAIR and pair_keys[slot] != key:
                    slot = (slot + 1) & last_slot
                if growing and pair_keys[slot] == _NO_PAIR:
                    pair_keys[slot] = key
                    pair_columns[slot] = _new_column(columns, previous, code)
                if pair_keys[slot] == key:
                    pair_column = pair_columns[slot]
            previous = code
            for found in (column, pair_column):
                if found == NO_COLUMN:
                    continue
                if seen_in[found] == row:
                    out_counts[place[found]] += 1
                else:
                    seen_in[found], place[found] = row, size
                    out_columns[size], out_counts[size] = found, 1
                    size += 1
        pointers[row + 1] = size
    return ends.size


@kernel
def _first_slot(first: Whole, second: Whole) -> Whole:
    """Where the search for a pair begins; codes are our own numbers, so no secret is needed."""
    return (first * 0x9E3779B1 + second * 0x85EBCA6B) >> 12


@kernel
def _new_column(columns: Columns, first: Whole, second: Whole) -> Whole:
    column = columns.used[0]
    columns.members[column, 0], columns.members[column, 1] = first, second
    columns.used[0] = column + 1
    return column


@kernel
def sort_rows(
    pointers: NDArray[np.int64], columns: NDArray[np.int32], counts: NDArray[np.int32], width: Whole
) -> None:
    """Put the cells of each row into column order, by transposing twice: no comparisons."""
    size = pointers[-1]
    next_in_column = np.zeros(width + 1, np.int64)
    for cell in range(size):
        next_in_column[columns[cell] + 1] += 1
    for column in range(width):
        next_in_column[column + 1] += next_in_column[column]
    by_column = np.empty(size, np.int64)
    for row in range(pointers.size - 1):
        for cell in range(pointers[row], pointers[row + 1]):
            place = next_in_column[columns[cell]]
            next_in_column[columns[cell]] = place + 1
            by_column[place] = (np.int64(row) << 32) | np.int64(counts[cell])
    next_in_row = pointers[:-1].copy()
    cell = 0
    for column in range(width):
        # After the second pass each entry holds the end of its column.
        while cell < next_in_column[column]:
            row = by_column[cell] >> 32
            place = next_in_row[row]
            next_in_row[row] = place + 1
            columns[place], counts[place] = column, by_column[cell] & 0xFFFFFFFF
            cell += 1
