"""How often each word was used in a release's documents, by its noise law.

A sum of released cells is unbiased: the noise has mean 0. Over D documents its variance is D v,
the same for every word, frequent or not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.privacy.exact import positive_integer
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Rows, released_totals, row_blocks
from sottovoce.release.analysis.tables import (
    Estimates,
    check_level,
    level_at_once,
    noise_reach,
    normal_quantile,
)

_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class WordTotals(Estimates):
    """How often each word, or column, was used in the documents of a release.

    ``table`` has the columns ``word`` (or ``column`` and ``words``), ``total``, ``error`` (the
    standard error), ``low`` and ``high``, and ``label`` in front where totals are by label. A total
    may be below 0: it is the true one, moved by noise of mean 0. The largest of many totals is
    likely too high, since noise helped to make it the largest; the intervals hold all the same.
    """

    caption: ClassVar[str] = "How often words were used"


def word_totals(rows: Rows, law: NoiseLaw, names: pa.Table, level: float) -> WordTotals:
    """The totals of all columns, which ``names`` names; the largest first."""
    check_level(level)
    totals = released_totals(rows)
    table = _estimate_totals(names, totals, law, rows.shape[0], level_at_once(level, totals.size))
    return WordTotals(table, level, rows.shape[0])


def label_totals(
    rows: Rows,
    labels: NDArray[np.str_],
    law: NoiseLaw,
    names: pa.Table,
    level: float,
) -> WordTotals:
    """The totals of each label's documents, one label after the other, the largest first."""
    check_level(level)
    known, own = np.unique(labels, return_inverse=True)
    sums = summed_by(rows, own, known.size)
    documents = np.bincount(own, minlength=known.size)
    each = level_at_once(level, sums.size)
    parts = [
        _add_label_column(
            str(label), _estimate_totals(names, sums[place], law, int(documents[place]), each)
        )
        for place, label in enumerate(known.tolist())
    ]
    return WordTotals(pa.concat_tables(parts), level, rows.shape[0])


@dataclass(frozen=True, eq=False, repr=False)
class TellingWords(Estimates):
    """Words that the documents of a label use more than all documents do.

    ``table`` has ``label``, ``word`` (or ``column`` and ``words``), ``per_document`` (uses a
    document of the label), ``overall`` (of any document), ``error`` (of their difference), ``low``
    and ``high`` of the difference.
    """

    caption: ClassVar[str] = "Words that tell labels apart"

    law: NoiseLaw
    sizes: Mapping[str, int]
    """How many documents each label has."""

    def beyond_chance(self, words: int) -> dict[str, list[str]]:
        """For each label the words, or columns, that chance does not explain, the best first.

        They are the best of so many ``words`` for every label: the level is divided by both.
        """
        told: dict[str, list[str]] = {str(label): [] for label in self.table["label"].to_pylist()}
        level = level_at_once(self.level, words * len(told))
        needed = {
            label: _errors_needed(self.law, self.sizes[label], self.documents, level)
            for label in told
        }
        for row in self.rows():
            if row["per_document"] - row["overall"] > needed[row["label"]] * row["error"]:
                told[row["label"]].append(str(row.get("word", f"column {row.get('column')}")))
        return told


def _errors_needed(law: NoiseLaw, size: int, documents: int, level: float) -> float:
    """How many standard errors noise reaches; more than normal ones where documents are few.

    The difference is about the noise of the label's documents, or of all others if these are fewer,
    and so has tails no longer than their sum's, but for a step of its lattice; nor is it more than
    what both reach, each at half the level.
    """
    fewer = max(min(size, documents - size), 1)
    own, rest = (noise_reach(law, n, (1 + level) / 2) for n in (fewer, max(documents - fewer, 1)))
    both = own * (1 / fewer - 1 / documents) + rest / documents
    alone = (noise_reach(law, fewer, level) + 1) / math.sqrt(fewer * law.variance)
    error = math.sqrt(law.variance * max(1 / fewer - 1 / documents, 1e-12))
    return max(min(alone, both / error), normal_quantile(level))


def telling_words(
    rows: Rows,
    labels: NDArray[np.str_],
    law: NoiseLaw,
    names: pa.Table,
    level: float,
    *,
    most: int = 10,
) -> TellingWords:
    """For each label the words that stand out most, in standard errors of the noise.

    The mean over n_k of D documents and that over all share their noise, so that the variance of
    their difference is v (1/n_k - 1/D).
    """
    check_level(level)
    positive_integer(most, "most")
    known, own = np.unique(labels, return_inverse=True)
    sums, documents = summed_by(rows, own, known.size), np.bincount(own, minlength=known.size)
    overall = sums.sum(axis=0) / labels.size
    parts = []
    for place, label in enumerate(known.tolist()):
        size = int(documents[place])
        mean = sums[place] / size
        error = (law.variance * (1 / size - 1 / labels.size)) ** 0.5
        best = np.argsort(overall - mean, kind="stable")[:most]
        reach = _errors_needed(law, size, labels.size, level_at_once(level, sums.size)) * error
        apart = mean - overall
        found = {
            "per_document": mean,
            "overall": overall,
            "error": np.full(mean.size, error),
            "low": apart - reach,
            "high": apart + reach,
        }
        parts.append(
            _add_label_column(str(label), _with_columns(names, found).take(pa.array(best)))
        )
    sizes = dict(zip(map(str, known.tolist()), documents.tolist(), strict=True))
    return TellingWords(pa.concat_tables(parts), level, labels.size, law, sizes)


def summed_by(rows: Rows, groups: NDArray[np.integer], number: int) -> Floats:
    """The rows of each group summed: groups by columns."""
    sums = np.zeros((number, rows.shape[1]))
    first = 0
    for block in row_blocks(rows, max(1, _BLOCK_CELLS // rows.shape[1])):
        height = block.shape[0]
        own = groups[first : first + height]
        chosen = sparse.csr_array((np.ones(height), (own, np.arange(height))), (number, height))
        sums += (chosen @ block).toarray()
        first += height
    return sums


def column_names(terms: Sequence[str], column: NDArray[np.int32] | None) -> pa.Table:
    """What the columns of a release are called: words, or the words that share each column."""
    if column is None:
        return pa.table({"word": list(terms)})
    order = np.argsort(column, kind="stable")
    ends = np.cumsum(np.bincount(column))[:-1]
    shared = [" ".join(terms[word] for word in part) for part in np.split(order, ends)]
    return pa.table({"column": np.arange(len(shared)), "words": shared})


def _estimate_totals(
    names: pa.Table, totals: Floats, law: NoiseLaw, documents: int, level: float
) -> pa.Table:
    reach = noise_reach(law, documents, level)
    error = np.full(totals.size, (documents * law.variance) ** 0.5)
    found = {"total": totals, "error": error, "low": totals - reach, "high": totals + reach}
    return _with_columns(names, found).take(pa.array(np.argsort(-totals, kind="stable")))


def _with_columns(names: pa.Table, columns: Mapping[str, Floats]) -> pa.Table:
    for name, values in columns.items():
        names = names.append_column(name, pa.array(values))
    return names


def _add_label_column(label: str, table: pa.Table) -> pa.Table:
    return table.add_column(0, "label", pa.array([label] * table.num_rows, pa.string()))
