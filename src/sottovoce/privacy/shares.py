"""A party's share of noise: exact draws of what becomes whole only when enough shares are added.

With alpha = exp(-epsilon/S), a share is K - K' in every cell, K and K' independent and negative
binomial of shape 1/h. The shares of any h parties sum to exactly two-sided geometric noise at the
rate epsilon/S, P(Z = z) = (1 - alpha)/(1 + alpha) alpha^|z|; more shares only add to it.

K is drawn as the geometric sampler draws: 16 bits against a table, 64 against boundaries that are
proven floors, more at a time where these are equal. Beyond the table's end the law has no memory to
lean on: the run of boundaries is made twice as long, and again, until it holds the draw.

The negative binomial law of a share, between proven bounds.

With alpha = exp(-r), r a positive rational, and a rational shape s > 0,

    P(K = k) = (1 - alpha)^s alpha^k prod_{i < k} (s + i)/(i + 1)

Independent draws of shapes s and t add up to one of shape s + t; shape 1 is the geometric law. So h
draws of shape 1/h add up to a geometric draw, and h differences of two such draws to two-sided
geometric noise, exactly. All is computed between integer bounds: alpha by its series, the root by
halving, the masses by repeated multiplication.

A boundary F_k = P(K <= k) is no binary fraction: with s = m/h, F_k^h = (1 - alpha)^m Q(alpha)^h for
a polynomial Q > 0 of rational coefficients, and alpha would be algebraic if that were rational. So
the first bits of F_k are found by a finite computation.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.privacy._laws import (
    BOUNDARY_BITS,
    Enclosure,
    exp_minus,
    one_minus,
    power,
    root,
    times,
)
from sottovoce.privacy._noise_kernels import UNDECIDED, search_all
from sottovoce.privacy.exact import Exact, positive, positive_integer, text_up
from sottovoce.privacy.randomness import Keystream, SystemKeystream, word
from sottovoce.privacy.sampler import LARGEST_RATE, TableSampler

# exp(-28) < 2^-40, and with a shape of at most 1 the tail is below a geometric one's.
_RUN_NATS = 28
_GUARD_BITS = 64
# The run grows as 1/rate; at this rate it has 280,001 boundaries.
SMALLEST_RATE = Fraction(1, 10_000)


@dataclass(frozen=True)
class NegativeBinomial:
    """K >= 0 of ``shape`` s; its boundaries are F_0, ..., F_{run - 1}, more where it takes."""

    rate: Fraction
    shape: Fraction
    run: int
    offset = 0
    open_below = False

    @classmethod
    def of_share(cls, rate: Fraction, among: int) -> "NegativeBinomial":
        """A share of 1/``among``, as far as draws are next to never beyond."""
        return cls(rate, Fraction(1, among), _RUN_NATS // rate + 1)

    def __str__(self) -> str:
        return f"negative binomial draws of shape {self.shape} at rate {self.rate}"

    def longer(self) -> "NegativeBinomial":
        """The same law, twice as far."""
        return replace(self, run=2 * self.run)

    def floors(self, bits: int) -> list[int]:
        """floor(2^bits F_k) for every k of the run, not decreasing."""
        guard = _GUARD_BITS
        while (floors := self._try_floors(bits, guard)) is None:
            guard *= 2
        return floors

    def floor_at(self, j: int, bits: int) -> int:
        """floor(2^bits F_j), at any precision and beyond the run too."""
        return replace(self, run=j + 1).floors(bits)[-1]

    def _try_floors(self, bits: int, guard: int) -> list[int] | None:
        # All boundaries lie strictly below 1, which settles the floor of those next to it.
        below_one = (1 << bits + guard) - 1
        floors = []
        for low, high in islice(accumulate(self.masses(bits + guard), _sum), self.run):
            if low >> guard != min(high, below_one) >> guard:
                return None
            floors.append(low >> guard)
        return floors

    def masses(self, bits: int) -> Iterator[Enclosure]:
        """P(K = 0), P(K = 1), ... without end."""
        m, h = self.shape.numerator, self.shape.denominator
        alpha = exp_minus(self.rate, bits)
        mass = root(power(one_minus(alpha, bits), m, bits), h, bits)
        k = 0
        while True:
            yield mass
            # (s + k)/(k + 1) = (m + h k)/(h (k + 1))
            low, high = times(mass, alpha, bits)
            up, k = m + h * k, k + 1
            mass = Enclosure(low * up // (h * k), -(-high * up // (h * k)))

    def difference(self, reach: int, bits: int) -> list[Enclosure]:
        """P(K - K' = z) for z = 0..``reach``, of two independent draws.

        The sum over k of P(K = k) P(K' = k + z) is cut where k + z leaves the run; what is left
        out is at most P(K >= run).
        """
        masses = list(islice(self.masses(bits), self.run))
        beyond = (1 << bits) - sum(mass.low for mass in masses)
        return [_cut_sum(masses, z, beyond, bits) for z in range(reach + 1)]


def _cut_sum(masses: list[Enclosure], z: int, beyond: int, bits: int) -> Enclosure:
    products = [times(a, b, bits) for a, b in zip(masses, masses[z:], strict=False)]
    low, high = sum(a.low for a in products), sum(a.high for a in products)
    return Enclosure(low, high + beyond)


def _sum(a: Enclosure, b: Enclosure) -> Enclosure:
    return Enclosure(a.low + b.low, a.high + b.high)


LARGEST_AMONG = 10_000


class ShareSampler(TableSampler):
    """Draws K >= 0, negative binomial of shape 1/``among``."""

    def __init__(self, rate: Fraction, among: int) -> None:
        self._share = NegativeBinomial.of_share(rate, among)
        super().__init__(self._share)

    def index(self, points: NDArray[np.uint64], source: Keystream) -> NDArray[np.int64]:
        """The value of each U whose first 64 bits are in ``points``."""
        index = np.empty(points.size, dtype=np.int64)
        search_all(points, self.table.boundaries, index)
        for i in np.flatnonzero((index == UNDECIDED) | (index == self.law.run)):
            index[i] = self.index_from(int(points[i]), source)
        return index

    def index_from(self, point: int, source: Keystream) -> int:
        """The value of a U by its first 64 bits, and by more and farther boundaries if it takes."""
        law, bits = self._share, BOUNDARY_BITS
        while True:
            floors = law.floors(bits)
            low, high = bisect_left(floors, point), bisect_right(floors, point)
            if low < high:
                bits += BOUNDARY_BITS
                point = point << BOUNDARY_BITS | word(source)
            elif low < law.run:
                return low
            else:
                law = law.longer()

    def _values(self, index: NDArray[np.int64], source: Keystream) -> NDArray[np.int64]:  # noqa: ARG002 - no tail is left to draw
        return index


@lru_cache(maxsize=16)
def share_sampler(rate: Fraction, among: int) -> ShareSampler:
    """Draws K >= 0 of shape 1/``among`` at ``rate``; made once."""
    return ShareSampler(rate, among)


class NoiseShare:
    """A share of noise for a sum of vectors of L1 norm at most ``norm``, counting on ``among``.

    The shares of any ``among`` parties that nobody else knows hide the adding or removing of one
    vector up to a factor of e^epsilon. Every call of `draw` draws fresh noise under a fresh key:
    nothing can be replayed or seeded, so what was drawn is kept by who must send it again.

    >>> share = NoiseShare(epsilon=1, norm=4, among=3)
    >>> share.draw(1000).dtype, str(share.rate), str(share.shape)
    (dtype('int64'), '1/4', '1/3')
    """

    _make_source: ClassVar[Callable[[], Keystream]] = SystemKeystream

    def __init__(self, *, epsilon: Exact, norm: int, among: int) -> None:
        self.epsilon = positive(epsilon, "epsilon")
        self.norm = positive_integer(norm, "norm")
        self.among = _checked_among(among)
        self._sampler = share_sampler(_checked_rate(self.rate), self.among)

    @property
    def rate(self) -> Fraction:
        """The rate epsilon / S, in nats per unit of L1."""
        return self.epsilon * Fraction(1, self.norm)

    @property
    def shape(self) -> Fraction:
        """The share 1 / h of a whole draw."""
        return Fraction(1, self.among)

    def draw(self, number: int, source: Keystream | None = None) -> NDArray[np.int64]:
        """``number`` independent shares; from the operating system unless a test says otherwise."""
        source = source or type(self)._make_source()  # noqa: SLF001 - a class attribute of its own
        share = self._sampler.draw(number, source)
        share -= self._sampler.draw(number, source)
        return share


def _checked_rate(rate: Fraction) -> Fraction:
    if not SMALLEST_RATE <= rate <= LARGEST_RATE:
        raise ParameterError(
            f"epsilon / norm must lie between {text_up(SMALLEST_RATE)} and {text_up(LARGEST_RATE)},"
            f" got {text_up(rate)}: choose another epsilon, or let a document cast fewer votes."
        )
    return rate


def _checked_among(among: int) -> int:
    number = positive_integer(among, "among")
    if number > LARGEST_AMONG:
        raise ParameterError(f"among must be at most {LARGEST_AMONG} parties, got {number}.")
    return number
