"""What a release supports, in one object: its law, its meter, its words and pairs."""

import math
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from sottovoce._notebook import html_facts, text_table
from sottovoce.arrays import Floats, Integers
from sottovoce.parsing import check_choice
from sottovoce.privacy.exact import positive_integer
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Moments, SignalMeter
from sottovoce.release.analysis.totals import (
    Estimates,
    TellingWords,
    WordTotals,
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

    caption: ClassVar[str] = "Which words occur together"

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


_SHOWN = 5
NO_PAIRS = "No two words occur together more often than by chance."


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseSummary:
    """What a release supports, read by the law of its noise.

    Printed it says so in a few lines; its parts are there to be asked further.
    """

    law: NoiseLaw
    documents: int
    words: int
    columns: int
    labels: dict[str, int]
    """How many documents each public label has; empty: no labels."""
    meter: SignalMeter
    totals: WordTotals
    """Of words, or of columns where words share them."""
    pairs: PairTotals
    telling: TellingWords | None = field(default=None)
    """Words that the documents of a label use more than the others do."""

    @property
    def mean_length(self) -> float:
        """Counted words a document, about."""
        return float(sum(self.totals.table["total"].to_pylist())) / self.documents

    @property
    def certain_words(self) -> int:
        """How many words, or columns, were used beyond doubt: their intervals lie above 0.

        All intervals hold at once, so that it does not matter how many words are looked at.
        """
        return sum(low > 0 for low in self.totals.table["low"].to_pylist())

    def clear_pairs(self, most: int) -> PairTotals:
        """At most so many of the pairs that chance does not explain, looking at all pairs."""
        number = min(most, self.pairs.beyond_chance())
        return replace(self.pairs, table=self.pairs.table.slice(0, number))

    def label_words(self, most: int) -> dict[str, list[str]]:
        """For each label at most so many words that it uses more, beyond chance."""
        found = {} if self.telling is None else self.telling.beyond_chance(self.columns)
        return {label: words[:most] for label, words in sorted(found.items())}

    def facts(self) -> dict[str, object]:
        """The figures by name."""
        what = "words" if self.words == self.columns else "columns"
        return {
            "documents": self.documents,
            "words": self.words,
            "columns": self.columns,
            "labels": len(self.labels) or None,
            "rate of the noise": self.law.rate,
            "standard deviation of a cell's noise": self.law.variance**0.5,
            "counted words a document, about": self.mean_length,
            f"{what} used beyond doubt": self.certain_words,
            "dimensions above the noise": self.meter.dimensions,
        }

    def __repr__(self) -> str:
        return (
            f"ReleaseSummary(documents={self.documents}, columns={self.columns}, "
            f"dimensions={self.meter.dimensions}, certain_words={self.certain_words})"
        )

    def __str__(self) -> str:
        pairs = self.clear_pairs(_SHOWN)
        return "\n\n".join(
            [
                text_table([{"": name, " ": value} for name, value in self.facts().items()]),
                self.meter.in_words(),
                text_table(self.totals.display_rows(_SHOWN)),
                str(pairs) if len(pairs) else NO_PAIRS,
            ]
        )

    def _repr_html_(self) -> str:
        facts = html_facts(self.facts(), "What this release supports")
        pairs = self.clear_pairs(_SHOWN)
        return facts + self.totals._repr_html_() + (pairs._repr_html_() if len(pairs) else "")
