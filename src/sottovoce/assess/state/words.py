"""Which user has used which salient word: one bit each, which is all ENT and DIFF-PRIV look at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, kernel
from sottovoce.errors import ParameterError

_BITS = 8


class WordUse:
    """Users x words, packed; a bit is set when any post of the user holds the word."""

    def __init__(self, words: int) -> None:
        self.words = words
        self._users = 0
        self._bits = np.zeros((0, -(-words // _BITS)), np.uint8)
        # How many have used each word, once somebody asked.
        self._holder_counts: NDArray[np.int64] | None = None

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
        self._holder_counts = None
        _mark(self._bits, users, counts.indptr, counts.indices, counts.data)

    def add_posts_bits(self, users: NDArray[np.int64], bits: NDArray[np.uint8]) -> None:
        """Fold in posts whose bits are known; a user may have several."""
        if users.size:
            self.admit(int(users.max()) + 1)
        self._holder_counts = None
        np.bitwise_or.at(self._bits, users, bits)

    def add_bits(self, users: NDArray[np.int64], bits: NDArray[np.uint8]) -> None:
        """Fold in what another state holds of ``users``, each named once."""
        if users.size:
            self.admit(int(users.max()) + 1)
        self._holder_counts = None
        self._bits[users] |= bits

    def replace_user(self, user: int, bits: NDArray[np.uint8]) -> "WordUse":
        """A copy in which one user has used other words."""
        use = WordUse(self.words)
        use.admit(len(self))
        use.add_bits(np.arange(len(self)), self.bits)
        use.bits[user] = bits
        use._holder_counts = None
        return use

    def holders(self) -> NDArray[np.int64]:
        """How many users have used each word."""
        counted = self._holder_counts
        if counted is None:
            counted = self._holder_counts = _count_holders(self.bits, self.words)
        return counted

    def any_used(self, words: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which users have used at least one of ``words``."""
        return _any_used(self.bits, words)

    def find_users(self, word: int) -> NDArray[np.bool_]:
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


# A state has fewer words than this, and a bucket's number has 32 bits.
_WORDS = 1 << 24
_PENDING = 1 << 20


class WordBuckets:
    """Pairs of a user and a code, which names a bucket and a word, each once."""

    def __init__(self) -> None:
        self._users = np.zeros(0, np.int64)
        self._codes = np.zeros(0, np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._waiting = 0

    def __len__(self) -> int:
        return int(self.pairs()[0].size)

    def add(self, users: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        """Fold in pairs, whether or not they are there."""
        self._pending.append((users, codes))
        self._waiting += users.size
        # In step with what is there, so that sorting costs little a pair.
        if self._waiting > max(_PENDING, self._users.size):
            self.pairs()

    def add_posts(
        self, users: NDArray[np.int64], buckets: NDArray[np.int32], counts: sparse.csr_array
    ) -> None:
        """Fold in posts: the row of each one's user, its bucket and its word counts."""
        used = counts.data != 0
        post = np.repeat(np.arange(users.size), np.diff(counts.indptr))[used]
        self.add(users[post], codes_of(buckets[post], counts.indices[used]))

    def add_posts_bits(
        self, users: NDArray[np.int64], buckets: NDArray[np.int32], bits: NDArray[np.uint8]
    ) -> None:
        """Fold in posts whose bits are known."""
        post, word = np.nonzero(np.unpackbits(bits, axis=1, bitorder="little"))
        self.add(users[post], codes_of(buckets[post], word))

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All pairs, by user and then code: equal sets give equal arrays."""
        if self._pending:
            parts = [(self._users, self._codes), *self._pending]
            users, codes = (np.concatenate(each) for each in zip(*parts, strict=True))
            order = np.lexsort((codes, users))
            users, codes = users[order], codes[order]
            new = np.ones(users.size, np.bool_)
            new[1:] = (users[1:] != users[:-1]) | (codes[1:] != codes[:-1])
            self._users, self._codes = users[new], codes[new]
            self._pending, self._waiting = [], 0
        return self._users, self._codes

    def list_codes(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many codes each of ``rows`` has, and these, one user after the other."""
        users, codes = self.pairs()
        begins = np.searchsorted(users, rows)
        used = np.searchsorted(users, rows, side="right") - begins
        shift = np.repeat(begins - (np.cumsum(used) - used), used)
        return used, codes[np.arange(shift.size) + shift]

    def replace_user(
        self, user: int, buckets: NDArray[np.int32], bits: NDArray[np.uint8]
    ) -> "WordBuckets":
        """A copy in which one user has written other posts."""
        users, codes = self.pairs()
        kept = users != user
        changed = WordBuckets()
        changed.add(users[kept], codes[kept])
        changed.add_posts_bits(np.full(len(bits), user, np.int64), buckets, bits)
        return changed

    def best(self, words: NDArray[np.int64], m: int, users: int) -> NDArray[np.float64]:
        """Users x m: how many different ``words`` each used in their best buckets, most first."""
        who, codes = self.pairs()
        wanted = np.zeros(_largest_word(codes, words) + 1, np.bool_)
        wanted[words] = True
        chosen = wanted[codes % _WORDS]
        who, bucket = who[chosen], codes[chosen] // _WORDS
        begins = np.flatnonzero(
            np.concatenate([[True], (who[1:] != who[:-1]) | (bucket[1:] != bucket[:-1])])
            if who.size
            else np.zeros(0, np.bool_)
        )
        kinds = np.diff(begins, append=who.size)
        who = who[begins]
        order = np.lexsort((-kinds, who))
        who, kinds = who[order], kinds[order]
        place = np.arange(who.size) - np.searchsorted(who, who)
        found = np.zeros((users, m))
        within = place < m
        found[who[within], place[within]] = kinds[within]
        return found


def codes_of(buckets: NDArray[np.int32], words: NDArray[np.integer]) -> NDArray[np.int64]:
    """One number for a bucket and a word."""
    return buckets.astype(np.int64) * _WORDS + words.astype(np.int64)


def check_codes(codes: NDArray[np.int64], words: int) -> None:
    """Refuse codes of words or buckets that there are not; ``ValueError``."""
    bound = np.iinfo(np.int32)
    buckets = codes // _WORDS
    if codes.size and not (
        (codes % _WORDS).max() < words and bound.min <= buckets.min() <= buckets.max() <= bound.max
    ):
        raise ValueError("a code stands for no word and bucket")


def missing_buckets_error() -> ParameterError:
    """What is said where a state lacks it."""
    return ParameterError(
        "this state does not hold which words were used in which time bucket; score again with "
        "a measure that asks for it, such as keyword-kinds-t."
    )


def _largest_word(codes: NDArray[np.int64], words: NDArray[np.int64]) -> int:
    return int(max((codes % _WORDS).max(initial=0), words.max(initial=0)))
