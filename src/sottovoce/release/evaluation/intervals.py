"""A mean over seeds with its 95% interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sottovoce.errors import ParameterError

CONFIDENCE = 0.95


@dataclass(frozen=True)
class MeanInterval:
    """A mean and its Student-t interval; no width when there is one value only."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> MeanInterval:
    """Mean and 95% Student-t interval of independent ``values``."""
    if not len(values):
        raise ParameterError("an interval needs at least one value, got none.")
    mean = float(np.mean(values))
    if len(values) == 1:
        return MeanInterval(mean, mean, mean)
    standard_error = np.std(values, ddof=1) / np.sqrt(len(values))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * standard_error)
    return MeanInterval(mean, mean - half, mean + half)
