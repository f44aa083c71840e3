"""Which user has used which salient word in which time bucket: a set, so that parts merge exactly.

A bucket's number of different words is no largest value over posts: two posts of a week may bring
one word each. So all of it is kept, as pairs that occur, and not the best buckets only; it grows
with the weeks in which people use salient words.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.errors import ParameterError

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

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many codes each of ``rows`` has, and these, one user after the other."""
        users, codes = self.pairs()
        begins = np.searchsorted(users, rows)
        used = np.searchsorted(users, rows, side="right") - begins
        shift = np.repeat(begins - (np.cumsum(used) - used), used)
        return used, codes[np.arange(shift.size) + shift]

    def replaced(
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


def not_kept() -> ParameterError:
    """What is said where a state lacks it."""
    return ParameterError(
        "this state does not hold which words were used in which time bucket; score again with "
        "keyword-kinds-t."
    )


def _largest_word(codes: NDArray[np.int64], words: NDArray[np.int64]) -> int:
    return int(max((codes % _WORDS).max(initial=0), words.max(initial=0)))
