"""A party's share of noise: exact draws of what becomes whole only when enough shares are added.

With alpha = exp(-epsilon/S), a share is K - K' in every cell, K and K' independent and negative
binomial of shape 1/h. The shares of any h parties sum to exactly two-sided geometric noise at the
rate epsilon/S, P(Z = z) = (1 - alpha)/(1 + alpha) alpha^|z|; more shares only add to it.

K is drawn as the geometric sampler draws: 16 bits against a table, 64 against boundaries that are
proven floors, more at a time where these are equal. Beyond the table's end the law has no memory to
lean on: the run of boundaries is made twice as long, and again, until it holds the draw.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.privacy._laws import BOUNDARY_BITS
from sottovoce.privacy._noise_kernels import UNDECIDED, search_all
from sottovoce.privacy.exact import Exact, positive, positive_integer, text_up
from sottovoce.privacy.randomness import Keystream, SystemKeystream, word
from sottovoce.privacy.sampler import LARGEST_RATE, TableSampler
from sottovoce.privacy.shares.law import SMALLEST_RATE, NegativeBinomial

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
