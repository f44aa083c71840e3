"""The sampler's tables against high-precision alpha, by code that shares none with their builder.

Boundaries are recomputed one by one from the closed forms with decimal's correctly rounded exp
(the builder multiplies integer intervals), and each must satisfy c_j < 2^64 F_j < c_j + 1. Then
every cell must answer only where no boundary cuts it and no tail lies, with the value between its
boundaries. Both together prove that a draw's index has exactly the law's probabilities.
"""

from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from sottovoce.release.audit.result import AuditReport, Finding
from sottovoce.release.laws import Gap, Geometric, TwoSidedGeometric
from sottovoce.release.sampler import (
    TableSampler,
    gap_sampler,
    geometric_sampler,
    two_sided_sampler,
)
from sottovoce.release.table import ESCAPE, Table

_CONTEXT = Context(prec=90)
_ONE = Decimal(1)
# Far more than decimal's rounding can amount to after scaling by 2^64.
_SLACK = Fraction(1, 10**50)


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


def _chance(law: Gap) -> Decimal:
    """P(Z != 0), or P(Z >= threshold)."""
    alpha = _exp_minus(law.rate)
    if law.threshold is None:
        comes_out = _CONTEXT.multiply(Decimal(2), alpha)
    else:
        comes_out = _exp_minus(law.threshold * law.rate)
    return _CONTEXT.divide(comes_out, _CONTEXT.add(_ONE, alpha))


def _exp_minus(exponent: Fraction) -> Decimal:
    quotient = _CONTEXT.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))
    return _CONTEXT.exp(quotient)


def _wrong_cells(table: Table, offset: int) -> int:
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
