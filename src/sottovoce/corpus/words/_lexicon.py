"""A set of words as flat arrays, so that a kernel can look words up without Python.

Open addressing with linear probing. A word of up to seven bytes *is* its key, packed big-endian;
a longer one has a hash with the top bit set for a key, and its bytes decide. Words lie in the pool
in whole chunks of eight bytes, padded with zeros, which no word contains: NUL is not a word
character.

Where probing begins depends on secrets drawn for each lexicon, so that text written to collide in
one run does not collide in the next; the words found never depend on them.
"""

import os
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel

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
