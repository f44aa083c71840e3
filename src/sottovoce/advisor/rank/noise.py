r"""A bucket as a one-hot vector with a fixed number of ones: the report of the noise mode.

Two people in different buckets have one-hot vectors x, x' with ||x - x'||_1 = 2. Two-sided
geometric noise at the rate r = epsilon/2 on every entry, and one bit of each (is it above 0?),
would give (N = 2, epsilon)-limited-precision local privacy; since no two buckets are further
apart, that is plain epsilon-local privacy. A report is the law of these bits, given that exactly d
of the B entries are 1 (subset selection, Ye and Barg, Optimal schemes for discrete distribution
estimation under locally differential privacy, 2018). How likely d ones are does not depend on the
bucket, so the guarantee stays, and exactly. A set of d buckets that has the person's own is
e^epsilon times as likely as one that has not:

    p = P(own entry is 1) = d e^epsilon / (d e^epsilon + B - d),
    q = P(another entry is 1) = (d - p)/(B - 1),

and (entry - q)/(p - q) has no bias; as d - B q = p - q, the estimates sum to the number of reports.
d is B/(1 + e^(epsilon/2)), rounded, at least 1: as many ones as noised bits have on average where
nobody is, so that p is about 1 - q, and estimates vary alike wherever people are.

What a false report can do. Any d buckets are a valid report, so a client may choose its noise. One
with its ones in the highest buckets counts in "how many people are in one of the h highest" as

    (min(h, d) - h q)/(p - q)      people, and one with none there, if possible, as   -h q/(p - q),

where an honest person counts as 0 or 1 on average: at epsilon 1 with 20 buckets as up to 19.1, for
h = d = 8. k such reports count k times that. No margin of a histogram knows of them.

`audit_reports` tries the claim by experiment, on two buckets that should hardly be told apart.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.privacy.audit.black_box import FALSE_ALARM, AuditSubject, Neighbours, lower_bound
from sottovoce.privacy.audit.findings import AuditReport, Finding
from sottovoce.privacy.exact import Exact, float_up
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.randomness import random_bytes

MOVED = 2
"""Moving one person from a bucket to another changes this many entries by one."""
_AT_ONCE = 1 << 16
FEWEST_BUCKETS, MOST_BUCKETS = 2, 200


def check_number(buckets: int) -> None:
    """Refuse a number of buckets that no server has."""
    if not FEWEST_BUCKETS <= buckets <= MOST_BUCKETS:
        raise ParameterError(
            f"there must be {FEWEST_BUCKETS} to {MOST_BUCKETS} buckets, got {buckets}."
        )


class OneHotNoise:
    """Reports of one out of ``buckets`` buckets: bits, of which exactly ``weight`` are 1.

    The weight is B/(1 + e^(epsilon/2)), rounded, unless another one is given.
    """

    def __init__(self, epsilon: Exact, buckets: int, *, weight: int | None = None) -> None:
        check_number(buckets)
        self.guarantee = LimitedPrecision(MOVED, epsilon, "user")
        share = 1 / (1 + math.exp(float(self.guarantee.rate)))
        self.buckets = buckets
        self.weight = max(1, round(buckets * share)) if weight is None else weight
        if not 1 <= self.weight < buckets:
            raise ParameterError(f"a weight must be 1 to {buckets - 1}, got {weight}.")

    @property
    def epsilon(self) -> Fraction:
        """What one report costs."""
        return self.guarantee.epsilon

    @property
    def local_guarantee(self) -> LocalPrivacy:
        """The same as plain local privacy: one unit of data, 2 L r = epsilon with L = 1."""
        return LocalPrivacy.at_rate(self.guarantee.rate, length_cap=1, unit="user")

    def report(self, bucket: int) -> tuple[int, ...]:
        """A report of ``bucket``: every call draws again, so what it gives must be kept."""
        return tuple(self.reports([bucket])[0].tolist())

    def reports(self, buckets: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """A report for each of ``buckets``, a row each, all noise independent."""
        chosen = np.asarray(buckets, dtype=np.int64)
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < self.buckets:
            raise ParameterError(f"a bucket must be 0 to {self.buckets - 1}.")
        one_hot = np.zeros((chosen.size, self.buckets), dtype=np.int64)
        one_hot[np.arange(chosen.size), chosen] = 1
        return self.add_noise(one_hot)

    def add_noise(self, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Noise on one-hot ``vectors``: as many ones as the weight says, in each row."""
        parts = np.array_split(vectors, len(vectors) // _AT_ONCE + 1)
        return np.concatenate([subsets(each, self.weight, self.epsilon) for each in parts])

    @cached_property
    def means(self) -> tuple[float, float]:
        """What an entry is on average where the person is not in its bucket, and where they are."""
        d, odds = self.weight, math.exp(float(self.epsilon))
        own = d * odds / (d * odds + self.buckets - d)
        return (d - own) / (self.buckets - 1), own

    @cached_property
    def variance(self) -> float:
        """The variance of the unbiased estimate of one person's entry in another's bucket."""
        other, own = self.means
        return other * (1 - other) / (own - other) ** 2

    def variance_above(self, above: int) -> float:
        """The variance of one person's part in the number of people in ``above`` buckets, at most.

        It depends a little on whether the person is in one of them.
        """
        inside = self._ones_variance(above - 1, own_counts=True) if above else 0.0
        outside = self._ones_variance(above, own_counts=False) if above < self.buckets else 0.0
        other, own = self.means
        return max(inside, outside) / (own - other) ** 2

    def _ones_variance(self, others: int, *, own_counts: bool) -> float:
        """Of the number of ones among ``others`` of the other buckets, and the own if it counts."""
        d, rest, p = self.weight, self.buckets - 1, self.means[1]
        share = others / rest
        within = share * (1 - share) / max(rest - 1, 1)
        spread = p * (d - 1) * (rest - d + 1) * within + (1 - p) * d * (rest - d) * within
        return spread + p * (1 - p) * (own_counts - share) ** 2

    def estimate_counts(self, total: NDArray[np.int64], reports: int) -> NDArray[np.float64]:
        """How many people are in each bucket, from the sum of their reports."""
        other, own = self.means
        return (total.astype(np.float64) - reports * other) / (own - other)

    def false_weight(self, above: int) -> float:
        """How many people a false report counts as, at most, in the ``above`` highest buckets."""
        if not 0 <= above <= self.buckets:
            raise ParameterError(f"above must be 0 to {self.buckets} buckets, got {above}.")
        other, own = self.means
        return (min(above, self.weight) - above * other) / (own - other)

    @property
    def most_false_weight(self) -> float:
        """The same, at the border between buckets where it is most."""
        return max(self.false_weight(above) for above in range(self.buckets + 1))


def subsets(vectors: NDArray[np.int64], weight: int, epsilon: Fraction) -> NDArray[np.int64]:
    """For each one-hot row ``weight`` ones, in its own place e^epsilon times as likely as not.

    Exactly: with X two-sided geometric at the rate epsilon, P(X <= 0) = e^epsilon P(X >= 1). So a
    uniform place that is one of the first d is kept if X <= 0, any other if X >= 1, and drawn again
    if it is not kept; then the own entry is 1 if the place was one of the first d. The other ones
    are where uniform keys are smallest; where the border between them is a tie, keys are drawn
    again.
    """
    rows, buckets = vectors.shape
    inside = _inside(rows, buckets, weight, epsilon)
    found = np.zeros_like(vectors)
    left = np.arange(rows)
    while left.size:
        keys = _uniform(left.size * buckets).reshape(left.size, buckets)
        own = vectors[left] == 1
        keys[own] = np.where(inside[left], np.uint64(0), _LARGEST)
        ordered = np.partition(keys, (weight - 1, weight), axis=1)
        found[left] = keys <= ordered[:, weight - 1, None]
        left = left[ordered[:, weight - 1] == ordered[:, weight]]
    return found


def _inside(rows: int, buckets: int, weight: int, epsilon: Fraction) -> NDArray[np.bool_]:
    """Whether each report has a one at its own place."""
    inside, left = np.zeros(rows, dtype=np.bool_), np.arange(rows)
    odds = GeometricMechanism(epsilon)
    # Beyond the largest multiple a remainder would be less likely than others.
    limit = np.uint64((1 << 64) // buckets * buckets - 1)
    while left.size:
        places = _uniform(left.size)
        among = places % np.uint64(buckets) < weight
        low = np.asarray(odds.noise(left.size)) <= 0
        kept = (among == low) & (places <= limit)
        inside[left[kept]] = among[kept]
        left = left[~kept]
    return inside


_LARGEST = np.uint64((1 << 64) - 1)


def _uniform(number: int) -> NDArray[np.uint64]:
    """Uniform words from the operating system."""
    return np.frombuffer(bytearray(random_bytes(8 * number)), dtype=np.uint64)


TRIALS = 1 << 20
_BUCKETS = 4
_LEAST_POWER = 0.9

Noised = Callable[[NDArray[np.int64]], NDArray[np.int64]]


def audit_reports(
    claimed: OneHotNoise, noised: Noised | None = None, *, trials: int = TRIALS
) -> AuditReport:
    """Bound epsilon from below on pairs of buckets, through the code that makes reports.

    A bound above the claim refutes it; one below 0.9 of it had no power, or the noise is not the
    claimed one. Four entries stand for all: those of two buckets alone tell as much as the report.
    """
    noised = noised or claimed.add_noise
    subject = AuditSubject(tuple(range(_BUCKETS)), partial(_first_entries, noised, claimed.buckets))
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
    other = OneHotNoise(float(claimed.epsilon) * factor, claimed.buckets, weight=claimed.weight)
    return partial(OneHotNoise.add_noise, other)


def _first_entries(noised: Noised, buckets: int, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
    """What is seen of whole reports in the first places; the other buckets are nobody's here."""
    shown = vectors.shape[1]
    return noised(np.pad(vectors, ((0, 0), (0, buckets - shown))))[:, :shown]


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
    one_hot = np.zeros((1 << 14, claimed.buckets), dtype=np.int64)
    one_hot[:, 0] = 1
    entries = noised(one_hot)
    low, high = int(entries.min()), int(entries.max())
    weights = set(entries.sum(axis=1).tolist())
    within = low >= 0 and high <= 1 and entries.dtype.kind == "i"
    return Finding(
        name="public bound",
        holds=within and weights == {claimed.weight},
        detail=f"entries are whole numbers from {low} to {high}, {len(weights)} different sums",
    )


def _one_hot(bucket: int) -> tuple[int, ...]:
    return tuple(int(place == bucket) for place in range(_BUCKETS))


def noise_margins(noise: OneHotNoise, reports: int, coverage: float) -> Floats:
    """Margins of sums of reports that each carry noise, for "at least k", k = 0 to B.

    The sum over m of the B buckets is one of n independent terms, each of at most the variance that
    `OneHotNoise.variance_above` has, so the normal law serves from the 100 reports on that a
    histogram needs at least.
    """
    return ndtri((1 + coverage) / 2) * deviations(noise, reports)


def deviations(noise: OneHotNoise, reports: int) -> Floats:
    """The standard deviation of the estimated number of people in bucket k or higher."""
    each = [noise.variance_above(noise.buckets - k) for k in range(noise.buckets + 1)]
    found: Floats = np.sqrt(reports * np.array(each))
    return found
