"""The same search where every cell has a variance of its own.

`_factorise` divides pairs by deviations that are products of two words'. A sum that was noised once
has the same noise in every cell and, besides, what chance does to each pair; such variances are no
products. Here each cell is weighted by what is known of it, at the cost of one more pass over the
cells a step.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats

Singles: TypeAlias = NDArray[np.float32]
_RATE, _MOMENTUM, _SCALE = 0.1, 0.9, 0.95
_TINY = 1e-20


def weighted_factors(
    pairs: Floats, weights: Floats, start: Floats, unit: Floats, steps: int
) -> Floats:
    """W >= 0, words x topics, with least sum over cells of weights (pairs - W W')^2.

    Args:
        pairs: what W W' should be; symmetric.
        weights: one for each cell, symmetric, 0 where a cell says nothing.
        start: where the search begins.
        unit: the step of each word's entries, such as the root of its frequency.
        steps: of descent.

    W is the square of what moves, so that it stays >= 0; each entry moves in its word's own unit,
    at a speed that its recent slopes set (Kingma and Ba 2015), slower towards the end.
    """
    size = max(float(np.mean(start)), _TINY)
    held: Singles = (pairs / size**2).astype(np.float32)
    known: Singles = (weights / max(float(weights.mean()), _TINY)).astype(np.float32)
    root: Singles = np.sqrt(start / size + 1e-4).astype(np.float32)
    own = unit[:, None].astype(np.float32)
    speed, spread = np.zeros_like(root), np.zeros_like(root)
    for step in range(1, steps + 1):
        slope = _slope(held, known, root) * own
        speed += (1 - _MOMENTUM) * (slope - speed)
        spread += (1 - _SCALE) * (slope * slope - spread)
        length = _RATE * min(1.0, 2 * (1 - step / steps) + 0.02) / (1 - _MOMENTUM**step)
        move = speed / (np.sqrt(spread / (1 - _SCALE**step)) + _TINY)
        root = np.abs(root - np.float32(length) * own * move)
    return np.asarray((root * root).astype(np.float64) * size)


def _slope(pairs: Singles, weights: Singles, root: Singles) -> Singles:
    """Of half the weighted misfit, by ``root``, up to a constant."""
    weighted = root * root
    apart = weighted @ weighted.T
    apart -= pairs
    apart *= weights
    return np.asarray((apart @ weighted) * root)
