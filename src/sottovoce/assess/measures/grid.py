"""Scores on a grid: so that rounding does not decide between users who score alike."""

import numpy as np
from numpy.typing import NDArray

BITS = 40
# Beyond it numbers are no closer to one another than the grid's.
_SPACED = 2.0 ** (52 - BITS)


def on_grid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest multiples of 2^-40.

    Sums and differences of strengths that are equal on paper differ in their last bits, which
    would part ties in ranks and bands: sqrt(0.2) - sqrt(0.05) and sqrt(0.05) are one number. The
    grid is some thousand times coarser than these errors, so that of some thousand such ties one
    may still be parted, and far finer than any difference that means something. Infinities and
    numbers of 2^12 and more stay as they are.
    """
    near = np.abs(scores) < _SPACED
    rounded = np.ldexp(np.rint(np.ldexp(np.where(near, scores, 0.0), BITS)), -BITS)
    placed: NDArray[np.float64] = np.where(near, rounded, scores)
    return placed
