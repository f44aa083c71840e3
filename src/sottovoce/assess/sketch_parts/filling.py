"""Filling a sketch with numbers from elsewhere, none of which is trusted.

What was filled promises what it would have promised had it been made here. Each check raises
``ValueError``.
"""

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.sketch_parts.body import ThinnedBody
from sottovoce.assess.sketch_parts.encoding import Parts
from sottovoce.assess.sketch_parts.top import ExactTop

_TOO_MANY = 1 << 62


def fill(parts: Parts, top: ExactTop, body: ThinnedBody) -> None:
    """Fill an empty top and body; they must fit each other and the rest of ``parts``."""
    _fill_top(top, parts.values, parts.counts)
    _fill_body(body, parts)
    kept = int(top.counts.sum())
    if kept + body.users != parts.so_far or parts.so_far > parts.promise.users:
        raise ValueError("the numbers of users differ")
    if body.users and kept < top.room:
        raise ValueError("there was room in the top")
    if kept and any((level >= top.values[-1]).any() for level in body.levels):
        raise ValueError("the body reaches into the top")
    if body.over + body.under > parts.promise.error * parts.so_far:
        raise ValueError("its error is beyond its promise")


def _fill_top(top: ExactTop, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
    if np.isnan(values).any() or not (values[1:] < values[:-1]).all():
        raise ValueError("the top does not fall")
    if (counts < 1).any() or sum(counts.tolist()) >= _TOO_MANY:
        raise ValueError("a score of no user, or of too many")
    if top.add_counted(values, counts)[0].size:
        raise ValueError("the top is too large")


def _fill_body(body: ThinnedBody, parts: Parts) -> None:
    for level in parts.levels:
        if level.size >= body.width or np.isnan(level).any():
            raise ValueError("a level is not as it is left")
    body.levels, body.over, body.under = list(parts.levels), parts.over, parts.under
