"""What several releases, or several counts, of documents promise together."""

from fractions import Fraction
from functools import reduce

from sottovoce.errors import ParameterError
from sottovoce.privacy._guarantee import LimitedPrecision, WholeDocument


def compose_overlapping(*parts: LimitedPrecision) -> LimitedPrecision:
    """Releases of the same documents: rates add. Stated at the smallest N among the parts.

    >>> print(compose_overlapping(LimitedPrecision(2, 1), LimitedPrecision(4, 1)))
    (N=2, epsilon=1.5) limited-precision local privacy per document, 0.75 nats per word
    """
    _check_units(parts)
    rate = sum((part.rate for part in parts), Fraction(0))
    return LimitedPrecision.at_rate(rate, n=_smallest_n(parts), unit=parts[0].unit)


def compose_disjoint(*parts: LimitedPrecision) -> LimitedPrecision:
    """Releases of documents no two of which share a unit: the largest rate counts.

    >>> print(compose_disjoint(LimitedPrecision(2, 1), LimitedPrecision(4, 1)))
    (N=2, epsilon=1) limited-precision local privacy per document, 0.5 nats per word
    """
    _check_units(parts)
    rate = max(part.rate for part in parts)
    return LimitedPrecision.at_rate(rate, n=_smallest_n(parts), unit=parts[0].unit)


def compose_counts(*parts: WholeDocument) -> WholeDocument:
    """Counts of the same documents: epsilons add, against the fewest that may collude in any.

    >>> print(compose_counts(WholeDocument(1, honest=3, collude=1), WholeDocument(1, honest=2)))
    epsilon=2 privacy per whole document: 3 peers honest, at most 0 colluding
    """
    _check_units(parts)
    return WholeDocument(
        sum((part.epsilon for part in parts), Fraction(0)),
        honest=max(part.honest for part in parts),
        collude=min(part.collude for part in parts),
        unit=parts[0].unit,
    )


def _smallest_n(parts: tuple[LimitedPrecision, ...]) -> int:
    return reduce(min, (part.n for part in parts))


def _check_units(parts: tuple[LimitedPrecision, ...] | tuple[WholeDocument, ...]) -> None:
    if not parts:
        raise ParameterError("at least one guarantee is needed to compose, got none.")
    if len({part.unit for part in parts}) > 1:
        raise ParameterError("guarantees of different units do not compose; restate one of them.")
