"""Whether raw integers fall evenly into a range: their top and their bottom bits."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import chisquare

BINS = 64


def evenness(values: Sequence[int], limits: Sequence[int]) -> float:
    """The smaller p-value of two chi-square tests, doubled: each value from 0 to its limit.

    The top bits see a mask that is too short, the bottom bits one that is too coarse. A value
    outside its range, which no honest one is, counts as p = 0.
    """
    pairs = list(zip(values, limits, strict=True))
    if any(not 0 <= value < limit for value, limit in pairs):
        return 0.0
    top = [int(value) * BINS // int(limit) for value, limit in pairs]
    bottom = [int(value) % BINS for value in values]
    counts = [np.bincount(bins, minlength=BINS) for bins in (top, bottom)]
    return 2 * min(float(chisquare(count).pvalue) for count in counts)
