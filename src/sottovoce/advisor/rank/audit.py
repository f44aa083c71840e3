"""Trying a report's claim by experiment: two buckets that should hardly be told apart."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank.one_hot import OneHotNoise
from sottovoce.release.audit.black_box import FALSE_ALARM, Neighbours, Subject, lower_bound
from sottovoce.release.audit.result import AuditReport, Finding
from sottovoce.release.exact import float_up

TRIALS = 1 << 20
_BUCKETS = 4
_LEAST_POWER = 0.9

Noised = Callable[[NDArray[np.int64]], NDArray[np.int64]]


def audit_reports(
    claimed: OneHotNoise, noised: Noised | None = None, *, trials: int = TRIALS
) -> AuditReport:
    """Bound epsilon from below on pairs of buckets, through the code that makes reports.

    A bound above the claim refutes it; one below 0.9 of it had no power, or the noise is not the
    claimed one. Four buckets stand for all: their entries are independent and alike.
    """
    noised = noised or claimed.noised
    subject = Subject(tuple(range(_BUCKETS)), noised)
    pairs = (("neighbouring buckets", 0, 1), ("the highest and the lowest", _BUCKETS - 1, 0))
    alarm = FALSE_ALARM / len(pairs)
    findings = [
        _told_apart(
            claimed, subject, Neighbours(name, _one_hot(left), _one_hot(right)), trials, alarm
        )
        for name, left, right in pairs
    ]
    return AuditReport((*findings, _within_bound(claimed, noised)))


def at_another_rate(claimed: OneHotNoise, factor: float) -> Noised:
    """Noise for a planted violation: at ``factor`` times the claimed epsilon."""
    other = OneHotNoise(float(claimed.epsilon) * factor, claimed.buckets, reach=claimed.reach)
    return partial(OneHotNoise.noised, other)


def _told_apart(
    claimed: OneHotNoise, subject: Subject, pair: Neighbours, trials: int, alarm: float
) -> Finding:
    epsilon = float_up(claimed.epsilon)
    bound = lower_bound(subject, pair, trials, alarm)
    return Finding(
        name=pair.name,
        holds=_LEAST_POWER * epsilon <= bound <= epsilon,
        detail=f"epsilon is at least {bound:.4g}, claimed {epsilon:.4g}",
        claim=epsilon,
        bound=bound,
    )


def _within_bound(claimed: OneHotNoise, noised: Noised) -> Finding:
    entries = noised(np.tile(np.array(_one_hot(0)), (1 << 14, 1)))
    low, high = int(entries.min()), int(entries.max())
    return Finding(
        name="public bound",
        holds=claimed.lowest <= low and high <= claimed.highest and entries.dtype.kind == "i",
        detail=f"entries are whole numbers from {low} to {high}",
    )


def _one_hot(bucket: int) -> tuple[int, ...]:
    return tuple(int(place == bucket) for place in range(_BUCKETS))
