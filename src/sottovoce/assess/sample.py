"""Which users to show to judges, so that all regions of a ranking are seen."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import ParameterError

HEALTH_FORUM_BASE = 100.0
QUERY_LOG_BASE = 1000.0
"""The paper's bases for its two skewed data sources."""


def sample_users(
    users: Sequence[str], scores: ArrayLike, count: int, *, base: float, seed: int
) -> NDArray[np.int64]:
    """Places of ``count`` users, drawn one by one with probability proportional to base^score.

    R-Susceptibility, section 5.1.2: users ordered by score, prefix sums of a^score, a uniform draw
    in the total; whoever is drawn is out of the next draws. Instead of ``count`` passes each user
    gets score ln(a) plus Gumbel noise and the highest are taken, which is the same law, in
    logarithms, so that no a^score overflows. The sample does not depend on the order in which the
    users are given; the places are in the order of drawing.
    """
    values = np.asarray(scores, dtype=np.float64)
    _check(users, values, count, base)
    order = np.lexsort((np.asarray(users, dtype=np.str_), -values))
    noise = np.random.default_rng(seed).gumbel(size=len(values))
    keys = values[order] * math.log(base) + noise
    return np.asarray(order[np.argsort(-keys, kind="stable")[:count]], dtype=np.int64)


def _check(users: Sequence[str], scores: NDArray[np.float64], count: int, base: float) -> None:
    if scores.shape != (len(users),):
        raise ParameterError(f"scores must be as many as users, {len(users)}, got {scores.shape}.")
    if len(set(users)) < len(users):
        raise ParameterError("users must differ; sample one topic and measure at a time.")
    if not np.isfinite(scores).all():
        raise ParameterError("scores must be finite; sample from a ranking by strength.")
    if not 1 <= count <= len(users):
        raise ParameterError(f"count must be 1 to {len(users)}, the users, got {count}.")
    if not 1.0 <= base < math.inf:
        raise ParameterError(f"base must be finite and >= 1, got {base}.")
