"""How cost grows: exponents, and what a fit to small cases says of a large one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_LEAST_POINTS = 2


class PowerLaw(NamedTuple):
    """value = factor * size ** exponent."""

    factor: float
    exponent: float

    def at(self, size: float) -> float:
        """The value at ``size``."""
        return float(self.factor * size**self.exponent)


def power_law(sizes: Sequence[float], values: Sequence[float]) -> PowerLaw | None:
    """The straight line through the logarithms, by least squares; None for fewer than two."""
    usable = [(size, value) for size, value in zip(sizes, values, strict=True) if value > 0]
    if len({size for size, _ in usable}) < _LEAST_POINTS:
        return None
    logs = np.log(np.array(usable, np.float64))
    exponent, constant = np.polyfit(logs[:, 0], logs[:, 1], 1)
    return PowerLaw(float(np.exp(constant)), float(exponent))


def straight_line(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float] | None:
    """(constant, slope) with the least squares of relative errors; None for fewer than two."""
    if len(set(sizes)) < _LEAST_POINTS:
        return None
    x, y = np.array(sizes, np.float64), np.array(values, np.float64)
    weighted = np.stack([1 / y, x / y], axis=1)
    constant, slope = np.linalg.lstsq(weighted, np.ones(y.size), rcond=None)[0]
    return float(constant), float(slope)
