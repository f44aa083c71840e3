"""Masks that tie what a key holder opens to what its peers gave, one summand each and no other.

A peer adds a mask to its summand before it encrypts it for the coordinator, and tells the seed of
the mask to the key holder itself. The key holder takes away the masks of exactly those peers whom
the coordinator names. So what it opens is

    sum of a_p (x_p + m_p)  -  sum of m_p over the named,

for whole numbers a_p that the coordinator chose. Let e_p be 1 for each named peer and 0 for each
other. Then it is the sum over the named, plus d_p (x_p + m_p) for every peer with d_p = a_p - e_p.
Modulo 2^k the masks are uniform, and nobody but the key holder knows those of others. So let 2^j be
the largest power of two that divides all d_p: the multiples of 2^j in the number are uniform
whatever the summands are, and what is left, the number modulo 2^j, is the sum over the named. With
a single odd d_p nothing is left; in no case is it more than what an honest coordinator is told. The
same holds where a value of one place is added to another's, with a number d_p for each two places.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DamagedMessageError, InputError
from sottovoce.learn.sums.fixed import KEY_BYTES, FixedPoint, Ring, expanded
from sottovoce.learn.sums.keys import derived
from sottovoce.privacy.randomness import random_bytes

_WORD_BITS = 64
_PURPOSE = "summand mask"


def new_mask_seed() -> bytes:
    """What a peer draws for one sum, and tells the key holder alone."""
    return random_bytes(KEY_BYTES)


def checked_seed(seed: bytes) -> bytes:
    """A seed from outside."""
    if len(seed) != KEY_BYTES:
        raise DamagedMessageError(f"a mask's seed must have {KEY_BYTES} bytes, got {len(seed)}.")
    return seed


@dataclass(frozen=True)
class SummandMasks:
    """The masks of one sum.

    Attributes:
        session: the sum's name; every sum has masks of its own.
        size: how many values a summand has.
        numbers: how large they are.
        parties: how many peers there are.
    """

    session: bytes
    size: int
    numbers: FixedPoint
    parties: int

    @property
    def bits(self) -> int:
        """k: the least for which a sum of all summands, of either sign, stays below 2^k."""
        return self._largest.bit_length() + 1

    @property
    def bound(self) -> int:
        """The largest size of a masked value."""
        return 1 << (self.bits - 1)

    def masked(self, summand: Ring, seed: bytes) -> NDArray[np.int64]:
        """A summand plus the mask of ``seed``, from -2^(k-1) to 2^(k-1) - 1."""
        return self._centred(summand + self._mask(seed))

    def unmasked(self, opened: Iterable[int], seeds: Iterable[bytes]) -> Ring:
        """The sum behind masked numbers that were added up, or InputError if it can be none."""
        words = np.array([int(each) % (1 << _WORD_BITS) for each in opened], np.uint64)
        for seed in seeds:
            words = words - self._mask(seed)
        total = self._centred(words)
        if total.size and max(-int(total.min()), int(total.max())) > self._largest:
            raise InputError(
                "the opened sum is larger than any sum of these peers: the coordinator has not "
                "added what they gave, each once."
            )
        return total.view(np.uint64)

    @property
    def _largest(self) -> int:
        places = self.numbers.fraction_bits
        return self.parties * (int(np.ceil(self.numbers.bound)) << places)

    def _mask(self, seed: bytes) -> Ring:
        return expanded(derived(seed, self.session, _PURPOSE), self.size)

    def _centred(self, words: Ring) -> NDArray[np.int64]:
        """The residues modulo 2^k of least size."""
        rest = np.uint64(_WORD_BITS - self.bits)
        return (words << rest).view(np.int64) >> np.int64(rest)
