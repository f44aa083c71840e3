"""Which words stand together in a release's documents more often than chance lets them."""

import math
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import check_choice
from sottovoce.privacy.exact import positive_integer
from sottovoce.release.analysis.moments import Moments
from sottovoce.release.analysis.tables import (
    Estimates,
    check_level,
    level_at_once,
    products_reach,
)

PairOrder: TypeAlias = Literal["surprise", "together"]
ORDERS = ("surprise", "together")


@dataclass(frozen=True, eq=False, repr=False)
class PairTotals(Estimates):
    """Pairs of different words, by how often tokens of both stand in one document.

    ``table`` has ``first``, ``second``, ``together`` (tokens of one times tokens of the other,
    summed over documents), ``error`` (the standard error), ``low``, ``high``, and ``expected``: how
    often they would, if every document drew its words from the same bag.
    """

    caption: ClassVar[str] = "Which words stand together"

    def beyond_chance(self) -> int:
        """How many of the first pairs chance does not explain, of all pairs that were looked at."""
        together, expected, error, high = (
            self.table[name].to_numpy() for name in ("together", "expected", "error", "high")
        )
        surprises = _errors_above(together, expected, error**2)
        needed = (high - together) / error
        return sum(1 for _ in takewhile(bool, surprises > needed))


def pair_totals(
    moments: Moments, names: list[str], *, level: float, most: int, order: PairOrder
) -> PairTotals:
    """The ``most`` pairs of different words, in ``order``.

    "surprise": by how many standard errors they stand together more often than expected;
    "together": by how often they do.
    """
    check_level(level)
    check_choice("order", order, ORDERS)
    positive_integer(most, "most")
    first, second = _best(moments, most, order)
    together = moments.pairs[first, second]
    error = np.sqrt(moments.pair_variance(first, second))
    number = moments.totals.size
    each = level_at_once(level, number * (number - 1) // 2)
    reach = error * _reaches(moments, first, second, each)
    words = np.array(names, object)
    table = pa.table(
        {
            "first": pa.array(words[first].tolist(), pa.string()),
            "second": pa.array(words[second].tolist(), pa.string()),
            "together": together,
            "error": error,
            "low": together - reach,
            "high": together + reach,
            "expected": expected_pairs(moments)[first, second],
        }
    )
    return PairTotals(table, level, moments.documents)


def _reaches(moments: Moments, first: Integers, second: Integers, level: float) -> Floats:
    """How many standard errors noise reaches in each of these pairs."""
    found = []
    for squares, totals in zip(*moments.of_both(first, second), strict=True):
        weight = max(1, math.ceil(squares / max(totals, 1)))
        draws = float(f"{squares / weight**2:.1e}")
        found.append(products_reach(moments.law, moments.documents, draws, weight, level))
    return np.array(found)


def _errors_above(together: Floats, expected: Floats, variances: Floats) -> Floats:
    """Standard errors above the expected number, of noise and of a count that size."""
    return np.asarray((together - expected) / np.sqrt(variances + expected + 1e-12))


def expected_pairs(moments: Moments) -> Floats:
    """Pairs as they would be if every document drew its words from the same bag.

    The number of pairs of tokens in all, shared out by the words' frequencies.
    """
    totals = np.maximum(moments.totals, 0)
    whole = max(float(totals.sum()), 1.0)
    all_pairs = max(float(moments.pairs.sum()), 0.0)
    return np.outer(totals, totals) * (all_pairs / whole**2)


def _best(moments: Moments, most: int, order: PairOrder) -> tuple[np.ndarray, np.ndarray]:
    # The whole square rather than a list of pairs: it is there already, and no larger.
    scores = moments.pairs if order == "together" else _surprise(moments)
    above = np.triu_indices(scores.shape[0], 1)
    values = scores[above]
    kept = min(most, values.size)
    best = np.argpartition(-values, kept - 1)[:kept] if kept else np.empty(0, np.int64)
    best = best[np.argsort(-values[best], kind="stable")]
    return above[0][best], above[1][best]


def _surprise(moments: Moments) -> Floats:
    return _errors_above(moments.pairs, expected_pairs(moments), moments.pair_variances())
