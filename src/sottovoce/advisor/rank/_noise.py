r"""A bucket as a one-hot vector under the noise of `release`: the report of the noise mode.

Two people in different buckets send one-hot vectors x, x' with ||x - x'||_1 = 2. Two-sided
geometric noise at the rate r = epsilon/2 on every entry therefore gives

    P(report | bucket) <= exp(2 r) P(report | other bucket) = exp(epsilon) P(report | other bucket)

which is (N = 2, epsilon)-limited-precision local privacy and, since no two buckets are further
apart, plain epsilon-local privacy. Entries are then clamped to [-C, C + 1], a public bound: that is
post-processing, and a server can refuse whatever lies beyond it.

What clamping does to a report's expectation is known exactly. With alpha = exp(-r), an entry has

    E[entry | 0] = alpha^(C+1) / (1 + alpha) = m,      E[entry | 1] = 1 - m

as the noise is symmetric and so is the bound about 1/2; so (entry - m)/(1 - 2m) has no bias. C = 0
is the default. Whether an entry exceeds 0 is all that tells x_j = 0 from 1 under this noise (the
likelihood ratio has just two values), so clamping to one bit loses nothing about x, and the
unbiased estimate of a bit has half the variance of the unclamped one:

    alpha / (1 - alpha)^2      against      2 alpha / (1 - alpha)^2.

What a false report can do. Any vector within the bound is a valid report, so a client may choose
its noise. One entry moves the unbiased count of its bucket by up to

    w = (2C + 1)/(1 - 2m)      (C = 0: (1 + alpha)/(1 - alpha); 4.08 at epsilon 1),

and there are B entries. As the counts are moved to sum to the number of reports, a report with the
highest entry in the h highest of B buckets and the lowest in all others counts in "how many people
are in one of these h buckets" as

    w h (B - h)/B + h/B      people, and its opposite as      h/B - w h (B - h)/B,

where an honest person counts as 0 or 1 on average: at epsilon 1 with 20 buckets as up to 20.9, for
h = 10. k such reports count k times that. No margin of a histogram knows of them.

`audit_reports` tries the claim by experiment, on two buckets that should hardly be told apart.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank._buckets import check_number
from sottovoce.errors import ParameterError
from sottovoce.privacy._exact import Exact, float_up
from sottovoce.privacy._guarantee import LimitedPrecision, LocalPrivacy
from sottovoce.privacy._mechanism import GeometricMechanism
from sottovoce.privacy.audit._black_box import FALSE_ALARM, AuditSubject, Neighbours, lower_bound
from sottovoce.privacy.audit._findings import AuditReport, Finding

MOVED = 2
"""Moving one person from a bucket to another changes this many entries by one."""
MOST_REACH = 100


class OneHotNoise:
    """Reports of one out of ``buckets`` buckets, each entry within [-``reach``, ``reach`` + 1]."""

    def __init__(self, epsilon: Exact, buckets: int, *, reach: int = 0) -> None:
        check_number(buckets)
        if not 0 <= reach <= MOST_REACH:
            raise ParameterError(f"reach must be 0 to {MOST_REACH}, got {reach}.")
        self.guarantee = LimitedPrecision(MOVED, epsilon, "user")
        self.buckets, self.reach = buckets, reach
        self._mechanism = GeometricMechanism(self.guarantee.rate)

    @property
    def epsilon(self) -> Fraction:
        """What one report costs."""
        return self.guarantee.epsilon

    @property
    def local_guarantee(self) -> LocalPrivacy:
        """The same as plain local privacy: one unit of data, 2 L r = epsilon with L = 1."""
        return LocalPrivacy.at_rate(self.guarantee.rate, length_cap=1, unit="user")

    @property
    def lowest(self) -> int:
        """The least that an entry may be."""
        return -self.reach

    @property
    def highest(self) -> int:
        """The most that an entry may be."""
        return self.reach + 1

    def report(self, bucket: int) -> tuple[int, ...]:
        """A report of ``bucket``: every call draws anew, so what it gives must be kept."""
        return tuple(self.reports([bucket])[0].tolist())

    def reports(self, buckets: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """A report for each of ``buckets``, a row each, all noise independent."""
        chosen = np.asarray(buckets, dtype=np.int64)
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < self.buckets:
            raise ParameterError(f"a bucket must be 0 to {self.buckets - 1}.")
        one_hot = np.zeros((chosen.size, self.buckets), dtype=np.int64)
        one_hot[np.arange(chosen.size), chosen] = 1
        return self.noised(one_hot)

    def noised(self, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Noise on every entry of ``vectors``, then the public bound."""
        noised = self._mechanism.dense(vectors)
        return np.clip(noised, self.lowest, self.highest, out=noised)

    @cached_property
    def bias(self) -> float:
        """E[entry | 0] = alpha^(C+1)/(1 + alpha), in floats: it meets only what is published."""
        alpha = self._alpha
        return alpha ** (self.reach + 1) / (1 + alpha)

    @cached_property
    def variance(self) -> float:
        """The variance of the unbiased estimate (entry - m)/(1 - 2m) of one person's entry."""
        alpha, reach = self._alpha, self.reach
        values = np.arange(self.lowest, self.highest + 1, dtype=np.float64)
        chances = (1 - alpha) / (1 + alpha) * alpha ** np.abs(values)
        chances[[0, -1]] = alpha**reach / (1 + alpha), alpha ** (reach + 1) / (1 + alpha)
        clamped = float(chances @ values**2) - self.bias**2
        return clamped / (1 - 2 * self.bias) ** 2

    def unbiased(self, total: NDArray[np.int64], reports: int) -> NDArray[np.float64]:
        """How many people are in each bucket, from the sum of their reports."""
        counted = total.astype(np.float64) - reports * self.bias
        return counted / (1 - 2 * self.bias)

    def false_weight(self, above: int) -> float:
        """How many people a false report counts as, at most, in the ``above`` highest buckets."""
        if not 0 <= above <= self.buckets:
            raise ParameterError(f"above must be 0 to {self.buckets} buckets, got {above}.")
        entry = (self.highest - self.lowest) / (1 - 2 * self.bias)
        return entry * above * (self.buckets - above) / self.buckets + above / self.buckets

    @property
    def most_false_weight(self) -> float:
        """The same, at the border between buckets where it is most."""
        return max(self.false_weight(above) for above in range(self.buckets + 1))

    @property
    def _alpha(self) -> float:
        return math.exp(-float(self.guarantee.rate))


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
    subject = AuditSubject(tuple(range(_BUCKETS)), noised)
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
    claimed: OneHotNoise, subject: AuditSubject, pair: Neighbours, trials: int, alarm: float
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
