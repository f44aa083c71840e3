"""The numbers of secure sums: integers modulo 2^64, planned so that no sum can wrap around.

Keys are expanded to vectors of this ring: shared ones to masks, fresh ones to offsets. How many
summands a sum needs before it may be opened is decided here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError, TooFewPartiesError
from sottovoce.privacy.randomness import random_bytes, stream_of

Ring: TypeAlias = NDArray[np.uint64]
KEY_BYTES = 32
FEWEST_PARTIES = 3
# With two summands the sum less one's own is the other's: whoever wants that must say it.
AllowTwo: TypeAlias = Literal["each learns the other's summand"]
ALLOW_TWO: AllowTwo = "each learns the other's summand"
_RING_BITS = 64
_EXACT_BITS = 53  # a float holds every integer up to here
_WORD_BYTES = 8


@dataclass(frozen=True)
class FixedPoint:
    """Fixed-point numbers whose sums over ``parties`` fit the signed half of Z_2^64.

    Attributes:
        bound: the largest absolute value that any party's summand may have.
        parties: the most summands that are ever added.
        fraction_bits: how many bits stand after the point.
    """

    bound: float
    parties: int
    fraction_bits: int = 30

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bound) and self.bound > 0):
            raise ParameterError(f"bound must be finite and > 0, got {self.bound}.")
        if self.parties < 1:
            raise ParameterError(f"parties must be >= 1, got {self.parties}.")
        if not 0 <= self.fraction_bits <= _EXACT_BITS:
            raise ParameterError(
                f"fraction_bits must be 0 to {_EXACT_BITS}, got {self.fraction_bits}."
            )
        if self._largest_sum() >= 1 << (_RING_BITS - 1):
            raise ParameterError(
                f"the sum of {self.parties} values up to {self.bound:g} with {self.fraction_bits} "
                "fractional bits must stay below 2^63; lower fraction_bits or the bound."
            )

    def _largest_sum(self) -> int:
        return self.parties * (int(np.ceil(self.bound)) << self.fraction_bits)

    @property
    def step(self) -> float:
        """The distance between neighbouring numbers."""
        return 2.0**-self.fraction_bits

    def encode(self, values: ArrayLike) -> Ring:
        """Round to the nearest step; ParameterError for what the plan does not cover."""
        numbers = np.asarray(values, np.float64)
        if not np.isfinite(numbers).all():
            raise ParameterError("values of a secure sum must be finite, got NaN or infinity.")
        if numbers.size and np.abs(numbers).max() > self.bound:
            raise ParameterError(
                f"values of this secure sum must lie within +-{self.bound:g}; plan a larger bound."
            )
        return np.rint(np.ldexp(numbers, self.fraction_bits)).astype(np.int64).view(np.uint64)

    def decode(self, total: Ring) -> Floats:
        """The sum as floats: exact up to 53 significant bits."""
        return np.ldexp(total.view(np.int64).astype(np.float64), -self.fraction_bits)


def checked_parties(names: Sequence[str], *, allow_two: AllowTwo | None) -> tuple[str, ...]:
    """The parties of a sum in the order of their names, or why they cannot sum."""
    if allow_two not in {None, ALLOW_TWO}:
        raise ParameterError(f'allow_two must be None or "{ALLOW_TWO}".')
    if len(set(names)) != len(names):
        raise ParameterError("every party of a secure sum must have a name of its own.")
    if len(names) < fewest(allow_two):
        raise TooFewPartiesError(
            f"a secure sum needs at least {fewest(allow_two)} parties, got {len(names)}; with two, "
            f'each learns the other\'s summand: pass allow_two="{ALLOW_TWO}" to accept that.'
        )
    return tuple(sorted(names))


def fewest(allow_two: AllowTwo | None) -> int:
    """The smallest number of summands in a sum that is opened."""
    return FEWEST_PARTIES if allow_two is None else FEWEST_PARTIES - 1


def expand_key(key: bytes, size: int) -> Ring:
    """``size`` words of the ChaCha20 keystream under ``key``; a key must expand only once."""
    return np.frombuffer(stream_of(key).update(bytes(_WORD_BYTES * size)), "<u8")


def uniform(size: int) -> Ring:
    """``size`` uniform words under a key that exists only here."""
    return expand_key(random_bytes(KEY_BYTES), size)
