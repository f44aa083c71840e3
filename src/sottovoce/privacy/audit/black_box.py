"""Lower bounds on epsilon by experiment: draw from two neighbours and try to tell them apart.

For neighbours with columns y and y', the statistic L(out) = sum_c |out_c - y'_c| - |out_c - y_c|
orders outputs by how much they speak for y: under two-sided geometric noise it is the log
likelihood ratio over r. On some event {L >= t}, picked on draws of their own,

    epsilon >= ln(P(event | y) / P(event | y'))

is bounded from below with Clopper-Pearson limits on both probabilities. A bound above the claim
refutes it; a bound near the claim shows that the experiment would have noticed. For claims
between 0.05 and 5 an experiment of the usual size that stays below 0.9 of the claim is a failure
too: either it had no power, or the noise is not the claimed one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from sottovoce.privacy.audit.findings import AuditReport, Finding
from sottovoce.privacy.exact import float_up
from sottovoce.privacy.guarantee import LimitedPrecision

Counts: TypeAlias = NDArray[np.int64]

TRIALS = 1 << 22
# A small epsilon differs little from a slightly larger one: it takes more draws to see.
_SMALL_CLAIM = 0.1
_SMALL_CLAIM_TRIALS = 1 << 25
_BATCH = 1 << 17
_PILOT_SHARE = 8
FALSE_ALARM = 1e-6
# Where the usual number of draws suffices to come close to the claim, and how close it must come.
_POWERFUL_CLAIMS = (0.05, 5.0)
_LEAST_POWER = 0.9


@dataclass(frozen=True)
class AuditSubject:
    """What is audited: its public map from words to columns, and its noise on the columns."""

    word_to_column: tuple[int, ...]
    noise: Callable[[Counts], NDArray[np.signedinteger]]

    def project(self, document: tuple[int, ...]) -> Counts:
        """The columns of a document, before noise."""
        columns = np.zeros(max(self.word_to_column) + 1, dtype=np.int64)
        np.add.at(columns, list(self.word_to_column), document)
        return columns


@dataclass(frozen=True)
class Neighbours:
    """Two documents as word counts."""

    name: str
    left: tuple[int, ...]
    right: tuple[int, ...]

    @property
    def distance(self) -> int:
        """Their L1 distance."""
        return sum(abs(a - b) for a, b in zip(self.left, self.right, strict=True))


def audit_noise(
    claim: LimitedPrecision,
    noise: Callable[[Counts], NDArray[np.signedinteger]],
    *,
    trials: int | None = None,
) -> AuditReport:
    """Try ``claim`` on every pair of `neighbours`; words 0 and 1 share a column, as do 2 and 3.

    ``noise`` takes rows of counts and returns them with fresh noise.

    >>> audit_noise(LimitedPrecision(2, 2), lambda counts: counts, trials=1000).holds
    False
    """
    subject = AuditSubject((0, 0, 1, 1), noise)
    pairs = neighbours(claim.n)
    alarm = FALSE_ALARM / len(pairs)
    return AuditReport(tuple(_finding(claim, subject, pair, trials, alarm) for pair in pairs))


def neighbours(n: int) -> list[Neighbours]:
    """Pairs at distance 1, N and N + 1, inside one merged column, and a replaced passage."""
    base = (n + 3, n + 1, 2, 0)
    pairs = [
        Neighbours("one word", base, _shift_words(base, 2, 1)),
        Neighbours("N words", base, _shift_words(base, 2, n)),
        Neighbours("N + 1 words", base, _shift_words(base, 2, n + 1)),
        Neighbours(
            "inside one column", base, _shift_words(_shift_words(base, 0, -(n // 2)), 1, n // 2 - n)
        ),
        Neighbours(
            "a replaced passage", base, _shift_words(_shift_words(base, 0, -(n // 2)), 2, n // 2)
        ),
    ]
    return [pair for pair in pairs if pair.distance]


def lower_bound(subject: AuditSubject, pair: Neighbours, trials: int, alarm: float) -> float:
    """A number that the true epsilon of ``pair`` exceeds, but for a chance of ``alarm``."""
    return bound_by(partial(_tally, subject, pair), trials, alarm)


def bound_by(tallied: Callable[[int], "ScoreTally"], trials: int, alarm: float) -> float:
    """The same from any experiment: an event is picked on draws of its own, and then counted."""
    pilot = tallied(max(1, trials // _PILOT_SHARE))
    event = max(pilot.events(), key=lambda event: _bound(*pilot.hits(event), pilot.trials, alarm))
    final = tallied(trials)
    return _bound(*final.hits(event), final.trials, alarm)


def _finding(
    claim: LimitedPrecision,
    subject: AuditSubject,
    pair: Neighbours,
    trials: int | None,
    alarm: float,
) -> Finding:
    epsilon = float_up(claim.rate * pair.distance)
    small = epsilon < _SMALL_CLAIM
    default = _SMALL_CLAIM_TRIALS if small else TRIALS
    bound = lower_bound(subject, pair, trials or default, alarm)
    weak = trials is None and lacks_power(bound, epsilon)
    return bound_finding(f"neighbours: {pair.name}", bound, epsilon, weak=weak)


def bound_finding(name: str, bound: float, epsilon: float, *, weak: bool) -> Finding:
    """Whether a claim of ``epsilon`` survives a lower bound, and the bound confirms it."""
    return Finding(
        name=name,
        holds=bound <= epsilon and not weak,
        detail=f"epsilon is at least {bound:.4g}, claimed {epsilon:.4g}"
        + (", too far below it to confirm the claim" if weak else ""),
        claim=epsilon,
        bound=bound,
    )


def lacks_power(bound: float, epsilon: float) -> bool:
    """Whether an experiment of the usual size should have come nearer to a true claim."""
    least, most = _POWERFUL_CLAIMS
    return least <= epsilon <= most and bound < _LEAST_POWER * epsilon


_Event: TypeAlias = tuple[int, bool]


@dataclass(frozen=True)
class ScoreTally:
    """How often each value of L was seen under the left and the right document, L from -d to d."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    trials: int

    @property
    def reach(self) -> int:
        """The largest L, d."""
        return self.left.size // 2

    def events(self) -> list[_Event]:
        """Thresholds t with a direction: {L >= t} for the left, {-L >= t} for the right one."""
        thresholds = range(-self.reach + 1, self.reach + 1)
        return [(t, mirrored) for t in thresholds for mirrored in (False, True)]

    def hits(self, event: _Event) -> tuple[int, int]:
        """How often an event was seen under the document that it speaks for, and the other."""
        threshold, mirrored = event
        if mirrored:
            upto = self.reach - threshold + 1
            return int(self.right[:upto].sum()), int(self.left[:upto].sum())
        start = threshold + self.reach
        return int(self.left[start:].sum()), int(self.right[start:].sum())


def _tally(subject: AuditSubject, pair: Neighbours, trials: int) -> ScoreTally:
    columns = subject.project(pair.left), subject.project(pair.right)
    reach = pair.distance
    seen = np.zeros((2, 2 * reach + 1), dtype=np.int64)
    for start in range(0, trials, _BATCH):
        size = min(_BATCH, trials - start)
        for side in (0, 1):
            out = subject.noise(np.tile(columns[side], (size, 1)))
            seen[side] += _histogram(out, columns, reach)
    return ScoreTally(seen[0], seen[1], trials)


def _histogram(
    out: NDArray[np.signedinteger], columns: tuple[Counts, Counts], reach: int
) -> NDArray[np.int64]:
    changed = np.flatnonzero(columns[0] != columns[1])
    left, right = columns[0][changed], columns[1][changed]
    score = (np.abs(out[:, changed] - right) - np.abs(out[:, changed] - left)).sum(axis=1)
    return np.bincount(np.rint(score).astype(np.int64) + reach, minlength=2 * reach + 1)


def _bound(hits: int, rare_hits: int, trials: int, alarm: float) -> float:
    """Clopper-Pearson: ln(lower limit of the frequent / upper limit of the rare probability)."""
    if not hits:
        return -math.inf
    low = beta.ppf(alarm / 2, hits, trials - hits + 1)
    high = beta.ppf(1 - alarm / 2, rare_hits + 1, trials - rare_hits) if rare_hits < trials else 1
    return float(np.log(low) - np.log(high))


def _shift_words(document: tuple[int, ...], word: int, by: int) -> tuple[int, ...]:
    return tuple(count + by * (i == word) for i, count in enumerate(document))
