"""Shamir's secret sharing over the integers modulo the Mersenne prime 2^521 - 1.

Shamir, How to share a secret, CACM 22(11), 1979: a polynomial of degree t - 1 whose value at zero
is the secret; any t of its other values give it back, fewer say nothing about it.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from sottovoce.errors import ParameterError
from sottovoce.learn.party import CorruptShareError
from sottovoce.privacy.randomness import random_below

PRIME = (1 << 521) - 1


def shares(secret: bytes, *, threshold: int, places: Iterable[int]) -> dict[int, int]:
    """A share of ``secret`` for each place (a whole number >= 1); ``threshold`` open it."""
    value = int.from_bytes(secret, "little")
    if value >= PRIME:
        raise ParameterError("a shared secret must have at most 65 bytes.")
    coefficients = [value, *(random_below(PRIME) for _ in range(threshold - 1))]
    return {place: _polynomial(coefficients, place) for place in places}


def opened(held: Mapping[int, int], *, threshold: int, size: int) -> bytes:
    """The secret of ``size`` bytes behind at least ``threshold`` shares that all agree."""
    if len(held) < threshold:
        raise CorruptShareError(f"{threshold} shares open a secret, got {len(held)}.")
    chosen = dict(sorted(held.items())[:threshold])
    if any(_value_at(place, chosen) != held[place] for place in held if place not in chosen):
        raise CorruptShareError("the shares of a secret must lie on one polynomial.")
    try:
        return _value_at(0, chosen).to_bytes(size, "little")
    except OverflowError as error:
        raise CorruptShareError("the shares do not give back a secret of their size.") from error


def _polynomial(coefficients: list[int], place: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * place + coefficient) % PRIME
    return value


def _value_at(place: int, known: Mapping[int, int]) -> int:
    """Lagrange's interpolation of the polynomial through the known shares."""
    weights = _weights(place, tuple(known))
    return (
        sum(share * weight for share, weight in zip(known.values(), weights, strict=True)) % PRIME
    )


@lru_cache(maxsize=1024)  # the secrets of one sum are all opened from the same places
def _weights(place: int, places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(_weight(place, own, places) for own in places)


def _weight(place: int, own: int, places: tuple[int, ...]) -> int:
    above, below = 1, 1
    for other in places:
        if other != own:
            above = above * (other - place) % PRIME
            below = below * (other - own) % PRIME
    return above * pow(below, -1, PRIME)
