"""The whole audit of the noise at one claim: tables, experiments, fresh bits.

The sampler's tables are checked against high-precision alpha, by code that shares none with their
builder. Boundaries are recomputed one by one from the closed forms with decimal's correctly rounded
exp (the builder multiplies integer intervals), and each must satisfy c_j < 2^64 F_j < c_j + 1. Then
every cell must answer only where no boundary cuts it and no tail lies, with the value between its
boundaries. Both together prove that a draw's index has exactly the law's probabilities.

Experiments go through the way in which releases put noise on counts, or, where it is given, through
whatever writes a release.
"""

from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.privacy._laws import ESCAPE, Gap, Geometric, LawTable, TwoSidedGeometric
from sottovoce.privacy.audit._reuse import audit_repeats
from sottovoce.privacy.audit.black_box import audit_noise
from sottovoce.privacy.audit.findings import AuditReport, Finding, audit_freshness, audit_lattice
from sottovoce.privacy.exact import Exact, positive
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.sampler import (
    TableSampler,
    gap_sampler,
    geometric_sampler,
    two_sided_sampler,
)
from sottovoce.privacy.shares import NegativeBinomial

_CONTEXT = Context(prec=90)
_ONE = Decimal(1)
# Far more than decimal's rounding can amount to after scaling by 2^64.
_SLACK = Fraction(1, 10**50)
_COLUMNS = 64
# With a threshold most of what the noise says is dropped: a check that it is there, not how tight.
_THRESHOLD_TRIALS = 1 << 18
Noise: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.int64]]


def audit_mechanism(
    claim: LimitedPrecision,
    *,
    noise_rate: Exact | None = None,
    threshold: int | None = None,
    trials: int | None = None,
    written: Callable[[Fraction, int | None], Noise] | None = None,
) -> AuditReport:
    """Audit noise at ``noise_rate`` (by default the claim's own) against ``claim``.

    A released folder is audited by the claim, the noise rate and the threshold on its card.
    ``written`` gives the function that releases at a rate, with or without a threshold: experiments
    then go through it; without it, through the mechanism alone.

    >>> audit_mechanism(LimitedPrecision(2, 2), trials=1000).holds
    True
    """
    rate = claim.rate if noise_rate is None else positive(noise_rate, "noise_rate")
    mechanism = GeometricMechanism(rate)
    released = partial(_as_released, mechanism) if written is None else written(rate, None)
    findings = list(audit_tables([rate], 2 if threshold is None else threshold).findings)
    findings += _experiments(claim, rate, released, trials)
    findings.append(audit_repeats(rate, partial(mechanism.noise, threads=1)))
    if threshold is not None:
        alone = partial(_as_released, mechanism, threshold=threshold)
        cut = alone if written is None else written(rate, threshold)
        report = audit_noise(claim, cut, trials=trials or _THRESHOLD_TRIALS)
        findings += [finding.name_way(f"from {threshold} on") for finding in report.findings]
    return AuditReport(tuple(findings))


def _experiments(
    claim: LimitedPrecision, rate: Fraction, noise: Noise, trials: int | None
) -> list[Finding]:
    reports = (
        audit_lattice(_on_rows(noise)),
        audit_freshness(rate, partial(_noise_alone, noise)),
        audit_noise(claim, noise, trials=trials),
    )
    return [finding for report in reports for finding in report.findings]


def _as_released(
    mechanism: GeometricMechanism, counts: NDArray[np.int64], threshold: int | None = None
) -> NDArray[np.int64]:
    """Noise on ``counts`` by the way that a release takes."""
    return np.asarray(mechanism.sparse(csr_array(counts), threshold=threshold).toarray())


def _noise_alone(noise: Noise, number: int) -> NDArray[np.int64]:
    return noise(np.zeros((number // _COLUMNS, _COLUMNS), dtype=np.int64)).ravel()


def _on_rows(noise: Noise) -> Noise:
    return lambda counts: noise(counts.reshape(-1, 1))


def audit_tables(rates: list[Fraction], threshold: int = 2) -> AuditReport:
    """Check all tables that noise at each of ``rates`` uses."""
    return AuditReport(
        tuple(
            check_sampler(sampler)
            for rate in rates
            for sampler in (
                two_sided_sampler(rate),
                geometric_sampler(rate),
                gap_sampler(rate, None),
                gap_sampler(rate, threshold),
            )
        )
    )


def check_sampler(sampler: TableSampler) -> Finding:
    """Check the boundaries and the cells of one table."""
    wrong_boundaries = _wrong_boundaries(sampler)
    wrong_cells = _wrong_cells(sampler.table, sampler.law.offset)
    return Finding(
        name=f"table of {sampler.law}",
        holds=not wrong_boundaries and not wrong_cells,
        detail=f"{wrong_boundaries} of {sampler.law.run} boundaries and {wrong_cells} of "
        f"{sampler.table.cells.size} cells are wrong",
    )


def _wrong_boundaries(sampler: TableSampler) -> int:
    exact = _cumulative(sampler.law)
    stored = sampler.table.boundaries.tolist()
    return abs(len(stored) - sampler.law.run) + sum(
        not _is_floor(floor, probability) for floor, probability in zip(stored, exact, strict=False)
    )


def _is_floor(floor: int, probability: Decimal) -> bool:
    scaled = Fraction(probability) * (1 << 64)
    return floor + _SLACK < scaled < floor + 1 - _SLACK or _next_to_an_end(floor, scaled)


def _next_to_an_end(floor: int, scaled: Fraction) -> bool:
    """Probabilities within 2^-64 of 0 or 1 may be nearer to it than any slack."""
    top = 1 << 64
    return (floor == 0 and 0 <= scaled <= _SLACK) or (floor == top - 1 and top - scaled <= _SLACK)


def _cumulative(law: object) -> Iterator[Decimal]:
    """F_j for every j, each from its closed form."""
    if isinstance(law, TwoSidedGeometric):
        below = _CONTEXT.divide(_ONE, _CONTEXT.add(_ONE, _exp_minus(law.rate)))
        for z in range(-law.reach, 0):
            yield _CONTEXT.multiply(_exp_minus(-z * law.rate), below)
        for z in range(law.reach):
            above = _CONTEXT.multiply(_exp_minus((z + 1) * law.rate), below)
            yield _CONTEXT.subtract(_ONE, above)
    elif isinstance(law, Geometric):
        for g in range(law.run):
            yield _CONTEXT.subtract(_ONE, _exp_minus((g + 1) * law.rate))
    elif isinstance(law, Gap):
        stays = _CONTEXT.subtract(_ONE, _chance(law))
        for g in range(law.run):
            yield _CONTEXT.subtract(_ONE, _CONTEXT.power(stays, g + 1))
    elif isinstance(law, NegativeBinomial):
        yield from _cumulative_of_share(law)


def _cumulative_of_share(law: NegativeBinomial) -> Iterator[Decimal]:
    """F_k as the sum of (1 - alpha)^s alpha^k Gamma(k + s)/(Gamma(s) k!) up to k."""
    s = _decimal(law.shape)
    stays = _CONTEXT.ln(_CONTEXT.subtract(_ONE, _exp_minus(law.rate)))
    weight = _CONTEXT.exp(_CONTEXT.multiply(s, stays))
    below = Decimal(0)
    for k in range(law.run):
        below = _CONTEXT.add(below, _CONTEXT.multiply(weight, _exp_minus(k * law.rate)))
        yield below
        rise = _CONTEXT.divide(_CONTEXT.add(s, k), Decimal(k + 1))
        weight = _CONTEXT.multiply(weight, rise)


def _chance(law: Gap) -> Decimal:
    """P(Z != 0), or P(Z >= threshold)."""
    alpha = _exp_minus(law.rate)
    if law.threshold is None:
        comes_out = _CONTEXT.multiply(Decimal(2), alpha)
    else:
        comes_out = _exp_minus(law.threshold * law.rate)
    return _CONTEXT.divide(comes_out, _CONTEXT.add(_ONE, alpha))


def _exp_minus(exponent: Fraction) -> Decimal:
    return _CONTEXT.exp(_decimal(-exponent))


def _decimal(number: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))


def _wrong_cells(table: LawTable, offset: int) -> int:
    """How many cells answer where they must not, or with a value of another place."""
    answers = np.flatnonzero(table.cells != ESCAPE)
    index = table.cells[answers].astype(np.int64) + offset
    inside = (index >= (offset > 0)) & (index < table.boundaries.size)
    answers, index = answers[inside], index[inside]
    # The last cell's end, 2^64, wraps to 0: it must escape, being a tail's.
    starts = answers.astype(np.uint64) << np.uint64(48)
    ends = starts + np.uint64(1 << 48)
    after_lower = (index == 0) | (table.boundaries[np.maximum(index - 1, 0)] < starts)
    before_upper = (ends != 0) & (table.boundaries[index] >= ends)
    return int(np.count_nonzero(~inside) + np.count_nonzero(~(after_lower & before_upper)))
