"""Which words stand together in a release's documents more often than chance lets them."""

from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from sottovoce._arrays import Floats
from sottovoce.errors import check_choice
from sottovoce.privacy._exact import positive_integer
from sottovoce.release.analysis._moments import Moments
from sottovoce.release.analysis._tables import (
    Estimates,
    check_level,
    level_at_once,
    normal_quantile,
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

    def beyond_chance(self, words: int) -> int:
        """How many of the first pairs chance does not explain.

        They are the best of all pairs of so many ``words``, and some are the best whatever the
        texts say: the level is divided by how many pairs there are.
        """
        needed = normal_quantile(level_at_once(self.level, words * (words - 1) // 2))
        together, expected, error = (
            self.table[name].to_numpy() for name in ("together", "expected", "error")
        )
        surprises = _errors_above(together, expected, error**2)
        return sum(1 for _ in takewhile(lambda each: each > needed, surprises))


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
    reach = normal_quantile(level_at_once(level, number * (number - 1) // 2)) * error
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
