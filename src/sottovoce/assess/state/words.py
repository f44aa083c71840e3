"""Which user has used which salient word: one bit each, which is all ENT and DIFF-PRIV look at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, kernel

_BITS = 8


class WordUse:
    """Users x words, packed; a bit is set when any post of the user holds the word."""

    def __init__(self, words: int) -> None:
        self.words = words
        self._users = 0
        self._bits = np.zeros((0, -(-words // _BITS)), np.uint8)
        # How many have used each word, once somebody asked.
        self._counted: NDArray[np.int64] | None = None

    @classmethod
    def of_incidence(cls, incidence: sparse.csr_array) -> "WordUse":
        """From a users x words matrix: whatever is not 0 is a word used."""
        use = cls(incidence.shape[1])
        use.add_posts(np.arange(incidence.shape[0]), incidence)
        use.admit(incidence.shape[0])
        return use

    def __len__(self) -> int:
        return self._users

    @property
    def population(self) -> int:
        """How many users the community has of which these are some; here, all of it."""
        return len(self)

    @property
    def bits(self) -> NDArray[np.uint8]:
        """Users x bytes; word i is bit i % 8, the lowest first, of byte i // 8."""
        return self._bits[: self._users]

    def admit(self, population: int) -> None:
        """Make rows for users up to ``population``."""
        if population > len(self._bits):
            size = max(population, 2 * len(self._bits))
            grown = np.zeros((size, self._bits.shape[1]), np.uint8)
            grown[: len(self._bits)] = self._bits
            self._bits = grown
        self._users = max(self._users, population)

    def add_posts(self, users: NDArray[np.int64], counts: sparse.csr_array) -> None:
        """Fold in posts: the row of each one's user, and its word counts."""
        if users.size:
            self.admit(int(users.max()) + 1)
        self._counted = None
        _mark(self._bits, users, counts.indptr, counts.indices, counts.data)

    def add_posts_bits(self, users: NDArray[np.int64], bits: NDArray[np.uint8]) -> None:
        """Fold in posts whose bits are known; a user may have several."""
        if users.size:
            self.admit(int(users.max()) + 1)
        self._counted = None
        np.bitwise_or.at(self._bits, users, bits)

    def add_bits(self, users: NDArray[np.int64], bits: NDArray[np.uint8]) -> None:
        """Fold in what another state holds of ``users``, each named once."""
        if users.size:
            self.admit(int(users.max()) + 1)
        self._counted = None
        self._bits[users] |= bits

    def replaced(self, user: int, bits: NDArray[np.uint8]) -> "WordUse":
        """A copy in which one user has used other words."""
        use = WordUse(self.words)
        use.admit(len(self))
        use.add_bits(np.arange(len(self)), self.bits)
        use.bits[user] = bits
        use._counted = None
        return use

    def holders(self) -> NDArray[np.int64]:
        """How many users have used each word."""
        counted = self._counted
        if counted is None:
            counted = self._counted = _count_holders(self.bits, self.words)
        return counted

    def any_used(self, words: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which users have used at least one of ``words``."""
        return _any_used(self.bits, words)

    def used(self, word: int) -> NDArray[np.bool_]:
        """Which users have used one word."""
        return (self.bits[:, word // _BITS] >> (word % _BITS) & 1).astype(np.bool_)


@kernel
def _mark(
    bits: NDArray[np.uint8],
    users: NDArray[np.int64],
    pointers: NDArray[Any],
    columns: NDArray[Any],
    counts: NDArray[Any],
) -> None:
    for row in range(users.size):
        for cell in range(pointers[row], pointers[row + 1]):
            if counts[cell] != 0:
                word = columns[cell]
                bits[users[row], word // _BITS] |= np.uint8(1 << (word % _BITS))


@kernel
def _count_holders(bits: NDArray[np.uint8], words: Whole) -> NDArray[np.int64]:
    holders = np.zeros(words, np.int64)
    for user in range(len(bits)):
        for byte in range(bits.shape[1]):
            left = bits[user, byte]
            word = byte * _BITS
            while left:
                if left & 1:
                    holders[word] += 1
                left >>= 1
                word += 1
    return holders


@kernel
def _any_used(bits: NDArray[np.uint8], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    found = np.zeros(len(bits), np.bool_)
    for user in range(len(bits)):
        for word in columns:
            if bits[user, word // _BITS] >> (word % _BITS) & 1:
                found[user] = True
                break
    return found


@kernel
def sum_of_used(
    bits: NDArray[np.uint8], columns: NDArray[np.int64], amounts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each user the sum of the amounts of those ``columns`` that they have used."""
    sums = np.zeros(len(bits), np.int64)
    for user in range(len(bits)):
        for place in range(columns.size):
            word = columns[place]
            if bits[user, word // _BITS] >> (word % _BITS) & 1:
                sums[user] += amounts[place]
    return sums


@kernel
def largest_of_each(
    bits: NDArray[np.uint8],
    columns: NDArray[np.int64],
    when_used: NDArray[np.float64],
    when_not: NDArray[np.float64],
) -> NDArray[np.float64]:
    """For each user the largest over ``columns`` of what a used, or a missing, word amounts to."""
    largest = np.zeros(len(bits))
    for user in range(len(bits)):
        for place in range(columns.size):
            word = columns[place]
            used = bits[user, word // _BITS] >> (word % _BITS) & 1
            amount = when_used[place] if used else when_not[place]
            largest[user] = max(largest[user], amount)
    return largest
