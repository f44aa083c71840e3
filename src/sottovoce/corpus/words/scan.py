"""From text to word numbers: the kernel that finds the words of a batch of texts.

It walks the UTF-8 bytes of an Arrow string array once. Bytes that are not valid UTF-8 separate
words, as the replacement character would.

Words are numbered by a lexicon: flat arrays, so that a kernel can look words up without Python, by
open addressing with linear probing. A word of up to seven bytes *is* its key, packed big-endian; a
longer one has a hash with the top bit set for a key, and its bytes decide. Words lie in the pool in
whole chunks of eight bytes, padded with zeros, which no word contains: NUL is not a word character.
Where probing begins depends on secrets drawn for each lexicon, so that text written to collide in
one run does not collide in the next; the words found never depend on them.
"""

import os
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.words.rules import (
    DOTTED_I,
    EXTEND,
    IGNORE,
    LONGEST_WORD,
    NOT_ASCII,
    SEPARATOR,
    Characters,
    character_tables,
)
from sottovoce.errors import ParameterError

UNKNOWN = -1
NO_ROOM = -2
CHUNK = 8
PACKED_BYTES = 7
# An empty slot's key, and the packed form of no letters.
NOTHING = np.uint64(0)

ONE = np.uint64(1)
_BYTE_BITS = np.uint64(8)
_BYTE_MASK = np.uint64(0xFF)
LONG = np.uint64(1 << 63)
_FOLD = np.uint64(29)

_FIRST_SLOTS = 1 << 12


class LexiconArrays(NamedTuple):
    """What the kernels read and write."""

    keys: NDArray[np.uint64]
    """One for each slot: a packed word, the hash of a long one, or 0."""
    numbers: NDArray[np.int32]
    """One for each slot: the number of its word."""
    starts: NDArray[np.int64]
    """One for each word: its first chunk in the pool."""
    sizes: NDArray[np.int32]
    """One for each word: its length in bytes."""
    pool: NDArray[np.uint64]
    used: NDArray[np.int64]
    """How much is taken: [words, chunks]."""
    hashing: NDArray[np.uint64]
    """Two secret odd factors, and how far to shift a product so that its top bits are a slot."""


@kernel
def pack(packed: np.uint64, byte: np.uint8) -> np.uint64:
    """One byte more at the end of a packed word."""
    return (packed << _BYTE_BITS) | np.uint64(byte)


@kernel
def mix(key: np.uint64, chunk: np.uint64, step: np.uint64) -> np.uint64:
    """One chunk further in the hash of a long word."""
    key = (key ^ chunk) * step
    return key ^ (key >> _FOLD)


@kernel
def unpack_chunk(packed: np.uint64, size: Whole) -> np.uint64:
    """The chunk of a packed word: its bytes in memory order, padded with zeros."""
    chunk = NOTHING
    for _ in range(size):
        chunk = (chunk << _BYTE_BITS) | (packed & _BYTE_MASK)
        packed >>= _BYTE_BITS
    return chunk


@kernel
def add_word(
    lexicon: LexiconArrays, slot: np.uint64, key: np.uint64, chunks: NDArray[np.uint64], size: Whole
) -> Whole:
    """Give the word in ``chunks``, padded with zeros, the next number.

    NO_ROOM when the lexicon must grow first.
    """
    word, begin = lexicon.used[0], lexicon.used[1]
    width = (size + CHUNK - 1) // CHUNK
    if 2 * (word + 1) > lexicon.keys.size or begin + width > lexicon.pool.size:
        return NO_ROOM
    lexicon.pool[begin : begin + width] = chunks[:width]
    lexicon.starts[word], lexicon.sizes[word] = begin, size
    lexicon.used[0], lexicon.used[1] = word + 1, begin + width
    lexicon.keys[slot], lexicon.numbers[slot] = key, word
    return word


@kernel
def _rebuild(old: LexiconArrays, new: LexiconArrays) -> None:
    """Put the words of one table of slots into a larger, empty one."""
    last = np.uint64(new.keys.size - 1)
    for row in range(old.keys.size):
        if old.keys[row] != NOTHING:
            slot = (old.keys[row] * new.hashing[0]) >> new.hashing[2]
            while new.keys[slot] != NOTHING:
                slot = (slot + ONE) & last
            new.keys[slot], new.numbers[slot] = old.keys[row], old.numbers[row]


class Lexicon:
    """Words numbered in the order in which they were first seen."""

    def __init__(self) -> None:
        factors = np.frombuffer(os.urandom(16), np.uint64) | ONE
        self.arrays = _empty_arrays(_FIRST_SLOTS, factors)

    def __len__(self) -> int:
        return int(self.arrays.used[0])

    def words(self, first: int = 0) -> list[str]:
        """The words from number ``first`` on."""
        sizes = self.arrays.sizes[first : len(self)]
        if not sizes.size:
            return []
        letters = self.arrays.pool[self.arrays.starts[first] : self.arrays.used[1]].view(np.uint8)
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(letters[letters != 0])]
        return list(pa.Array.from_buffers(pa.large_string(), sizes.size, buffers).to_pylist())

    def grow(self) -> None:
        """Double the room."""
        old, new = self.arrays, _empty_arrays(2 * self.arrays.keys.size, self.arrays.hashing[:2])
        for grown, full in ((new.starts, old.starts), (new.sizes, old.sizes), (new.pool, old.pool)):
            grown[: full.size] = full
        new.used[:] = old.used
        _rebuild(old, new)
        self.arrays = new


def _empty_arrays(slots: int, factors: NDArray[np.uint64]) -> LexiconArrays:
    words = slots // 2
    shift = np.uint64(65 - slots.bit_length())
    return LexiconArrays(
        keys=np.zeros(slots, np.uint64),
        numbers=np.zeros(slots, np.int32),
        starts=np.zeros(words, np.int64),
        sizes=np.zeros(words, np.int32),
        pool=np.zeros(2 * words, np.uint64),
        used=np.zeros(2, np.int64),
        hashing=np.array([*factors, shift], np.uint64),
    )


INVALID = -1

_DOT_ABOVE = 0x307
_PLAIN = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
_TEXT = (*_PLAIN, pa.string_view(), pa.binary_view())


class TextBuffers(NamedTuple):
    """The bytes of a batch of texts: text *t* is ``data[offsets[t]:offsets[t + 1]]``."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """The number of texts."""
        return self.offsets.size - 1


class WordStream(NamedTuple):
    """Word numbers of all texts in a row: those of text *t* end before ``ends[t]``."""

    words: NDArray[np.int32]
    ends: NDArray[np.int64]


def text_buffers(texts: pa.Array) -> TextBuffers:
    """Look into an Arrow array of strings (or bytes) without copying; a null is an empty text."""
    texts = _with_offsets(texts)
    if texts.null_count:
        texts = texts.fill_null("")
    wide = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    _, offsets, data = texts.buffers()
    if len(texts) == 0:
        return TextBuffers(np.empty(0, np.uint8), np.zeros(1, np.int64))
    starts = np.frombuffer(offsets, np.int64 if wide else np.int32)
    window = starts[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return TextBuffers(np.frombuffer(data or b"", np.uint8), window)


def _with_offsets(texts: pa.Array) -> pa.Array:
    """Other layouts of text, such as views and dictionaries, as the plain one."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if texts.type in _PLAIN:
        return texts
    kind = texts.type.value_type if pa.types.is_dictionary(texts.type) else texts.type
    if kind not in _TEXT:
        raise ParameterError(f"texts must be strings or bytes, got an array of {texts.type}.")
    return texts.cast(pa.large_binary() if kind == pa.binary_view() else pa.large_string())


def find_words(
    texts: TextBuffers, first: int, last: int, lexicon: Lexicon, *, shortest: int, growing: bool
) -> WordStream:
    """Number the words of texts ``first`` to ``last`` (exclusive) by ``lexicon``.

    A growing lexicon takes in new words; otherwise they are UNKNOWN.
    """
    size = int(texts.offsets[last] - texts.offsets[first])
    stream = WordStream(
        np.empty(size // (shortest + 1) + last - first, np.int32), np.empty(last - first, np.int64)
    )
    characters = character_tables()
    done = 0
    while True:
        done = _scan(texts, first, done, characters, lexicon.arrays, shortest, growing, stream)
        if done == last - first:
            break
        lexicon.grow()
    count = stream.ends[-1] if done else 0
    return WordStream(stream.words[:count], stream.ends)


# One function on purpose: a call per word would count references to every array it passes
# (measured: 90 MB/s instead of 290). What is rare is called: words beyond ASCII, new words.
@kernel
def _scan(  # noqa: C901, PLR0912, PLR0915 - see above
    texts: TextBuffers,
    first: Whole,
    done: Whole,
    characters: Characters,
    lexicon: LexiconArrays,
    shortest: Whole,
    growing: bool,
    stream: WordStream,
) -> Whole:
    """Continue after ``done`` texts; stop early, at the start of one, when the lexicon is full."""
    data, offsets = texts
    ascii_fold = characters.ascii_fold
    keys, numbers, starts, sizes, pool, _, hashing = lexicon
    factor, step, shift = hashing
    last_slot = np.uint64(keys.size - 1)
    words, ends = stream
    chunks = np.zeros(LONGEST_WORD // 2 + 2, np.uint64)
    letters = chunks.view(np.uint8)
    count = ends[done - 1] if done else 0
    for row in range(done, ends.size):
        at, end = offsets[first + row], offsets[first + row + 1]
        while at < end:
            begin, packed, folded = at, NOTHING, ascii_fold[0]
            while at < end:
                folded = ascii_fold[data[at]]
                if folded <= NOT_ASCII:
                    break
                packed = pack(packed, folded)
                at += 1
            size = length = at - begin
            plain = folded != NOT_ASCII
            if plain:
                at += 1
            else:
                at, length, size, packed = _gather(data, begin, end, characters, letters)
            if length < shortest or length > LONGEST_WORD:
                continue

            key = packed
            width = (size + CHUNK - 1) // CHUNK
            if size > PACKED_BYTES:
                if plain:
                    for i in range(size):
                        letters[i] = ascii_fold[data[begin + i]]
                for i in range(size, size + CHUNK):
                    letters[i] = 0
                key = np.uint64(size)
                for chunk in range(width):
                    key = mix(key, chunks[chunk], step)
                key |= LONG
            slot = (key * factor) >> shift
            word = UNKNOWN
            while keys[slot] != NOTHING:
                if keys[slot] == key:
                    word = numbers[slot]
                    if size > PACKED_BYTES:
                        same = sizes[word] == size
                        for chunk in range(width):
                            same = same and pool[starts[word] + chunk] == chunks[chunk]
                        if not same:
                            word = UNKNOWN
                    if word != UNKNOWN:
                        break
                slot = (slot + ONE) & last_slot
            if word == UNKNOWN and growing:
                if size <= PACKED_BYTES:
                    chunks[0] = unpack_chunk(packed, size)
                word = add_word(lexicon, slot, key, chunks, size)
                if word == NO_ROOM:
                    return row
            words[count] = word
            count += 1
        ends[row] = count
    return ends.size


@kernel
def _gather(
    data: NDArray[np.uint8],
    at: Whole,
    end: Whole,
    characters: Characters,
    letters: NDArray[np.uint8],
) -> tuple[Whole, Whole, Whole, np.uint64]:
    """Put the word at ``at``, with characters beyond ASCII, into ``letters`` in lower case.

    Returns where to go on, and the word's length in characters, size in bytes and packed form.
    """
    length, size, packed = 0, 0, NOTHING
    while at < end:
        point, width = decode(data, at, end)
        at += width
        kind = characters.kind[point] if point != INVALID else SEPARATOR
        if kind == SEPARATOR or (kind == EXTEND and length == 0):
            break
        if kind == IGNORE:
            continue
        length += 2 if point == DOTTED_I else 1
        if length <= LONGEST_WORD:
            grown = encode(characters.lower[point], letters, size)
            if point == DOTTED_I:
                grown = encode(_DOT_ABOVE, letters, grown)
            for i in range(size, grown):
                packed = pack(packed, letters[i])
            size = grown
    return at, length, size, packed


@kernel
def decode(data: NDArray[np.uint8], at: Whole, end: Whole) -> tuple[Whole, Whole]:
    """The code point at ``at`` and its width in bytes; (INVALID, 1) where UTF-8 is broken."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return lead, 1
    if 0xC2 <= lead < 0xE0:
        width, point, least = 2, lead & 0x1F, 0x80
    elif 0xE0 <= lead < 0xF0:
        width, point, least = 3, lead & 0x0F, 0x800
    elif 0xF0 <= lead < 0xF5:
        width, point, least = 4, lead & 0x07, 0x10000
    else:
        return INVALID, 1
    if at + width > end:
        return INVALID, 1
    for i in range(at + 1, at + width):
        byte = np.int64(data[i])
        if byte & 0xC0 != 0x80:
            return INVALID, 1
        point = (point << 6) | (byte & 0x3F)
    if point < least or point > 0x10FFFF or 0xD800 <= point < 0xE000:
        return INVALID, 1
    return point, width


@kernel
def encode(point: Whole, out: NDArray[np.uint8], at: Whole) -> Whole:
    """Write ``point`` as UTF-8 at ``out[at]``; return where the next character goes."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
        out[at + 1] = 0x80 | (point & 0x3F)
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | (point >> 12)
        out[at + 1] = 0x80 | ((point >> 6) & 0x3F)
        out[at + 2] = 0x80 | (point & 0x3F)
        return at + 3
    out[at] = 0xF0 | (point >> 18)
    out[at + 1] = 0x80 | ((point >> 12) & 0x3F)
    out[at + 2] = 0x80 | ((point >> 6) & 0x3F)
    out[at + 3] = 0x80 | (point & 0x3F)
    return at + 4
