"""What several releases, or several counts, of documents promise together."""

from fractions import Fraction
from functools import reduce

from sottovoce.errors import ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.whole_document import WholeDocument


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

    Users are promised something only where each count bounds them, and documents then what the
    loosest bound gives.

    >>> print(compose_counts(WholeDocument(1, parties=4, collude=1), WholeDocument(2, parties=3)))
    epsilon=3 per whole document, of 4 peers 0 may collude and 0 drop out
    """
    if not parts:
        raise ParameterError("at least one guarantee is needed to compose, got none.")
    bounds = [part.documents_per_user for part in parts if part.documents_per_user is not None]
    bounded = len(bounds) == len(parts)
    each = (part.epsilon if bounded else part.document_epsilon for part in parts)
    return WholeDocument(
        sum(each, Fraction(0)),
        parties=max(part.parties for part in parts),
        drop=max(part.drop for part in parts),
        collude=min(part.collude for part in parts),
        documents_per_user=max(bounds) if bounded else None,
    )


def _smallest_n(parts: tuple[LimitedPrecision, ...]) -> int:
    return reduce(min, (part.n for part in parts))


def _check_units(parts: tuple[LimitedPrecision, ...]) -> None:
    if not parts:
        raise ParameterError("at least one guarantee is needed to compose, got none.")
    if len({part.unit for part in parts}) > 1:
        raise ParameterError("guarantees of different units do not compose; restate one of them.")
