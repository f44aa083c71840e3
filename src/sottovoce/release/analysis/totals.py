"""How often each word was used in a release's documents, by its noise law.

A sum of released cells is unbiased: the noise has mean 0. Over D documents its variance is D v,
the same for every word, frequent or not.

How estimates show themselves: a table with intervals, for people, notebooks and frames.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse, special

from sottovoce._notebook import html_table, text_table
from sottovoce.arrays import Floats
from sottovoce.corpus.schema import FrameLibrary, as_frame
from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import positive_integer
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Rows, released_totals, row_blocks

_SHOWN = 10
_WHOLE = 100
# From here on the lattice of a sum of noise does not show.
_SMOOTH_VARIANCE = 1e4
# From so many documents on it is as good as normal.
_NORMAL_DOCUMENTS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Estimated numbers of a release, each with its standard error and interval."""

    table: pa.Table
    """One row for each number, the largest first."""
    level: float
    """How often all intervals of all numbers hold at once, whichever of them are shown."""
    documents: int

    caption: ClassVar[str] = "Estimates"

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(rows={len(self)}, documents={self.documents}, "
            f"level={self.level:g})"
        )

    def __str__(self) -> str:
        more = len(self) - _SHOWN
        return text_table(self.display_rows(_SHOWN)) + (
            f"\n... and {more:,} more" if more > 0 else ""
        )

    def _repr_html_(self) -> str:
        return html_table(self.display_rows(_SHOWN), self.caption)

    def rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """The first rows, as dictionaries."""
        table = self.table if most is None else self.table.slice(0, most)
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows

    def display_rows(self, most: int) -> list[dict[str, Any]]:
        """The first rows for people: large numbers without decimals."""
        return [
            {name: _round_value(value) for name, value in row.items()} for row in self.rows(most)
        ]

    def to_frame(self, library: FrameLibrary = "arrow") -> Any:  # noqa: ANN401 - a frame of any library
        """All rows as a table of ``arrow``, or a frame of ``pandas`` or ``polars``."""
        return as_frame(self.table, library)


def _round_value(value: object) -> object:
    return round(value) if isinstance(value, float) and abs(value) >= _WHOLE else value


def check_level(level: float) -> None:
    """Refuse what is no confidence."""
    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, such as 0.95; got {level}.")


def level_at_once(level: float, number: int) -> float:
    """The level that each of so many intervals needs, so that all hold at once with ``level``.

    By the union bound, 1 - (1 - level)/number: also those hold that were picked for being largest.
    """
    return 1 - (1 - level) / max(number, 1)


def normal_quantile(level: float) -> float:
    """How many standard errors an interval reaches to either side."""
    return float(special.ndtri((1 + level) / 2))


def noise_reach(law: NoiseLaw, documents: int, level: float) -> float:
    """How far the sum of the noise of so many cells stays from 0, with probability ``level``.

    The sum's characteristic function is ((1 - alpha)^2 / (1 - 2 alpha cos t + alpha^2))^D; its
    probabilities are the coefficients, and the reach is the least whole h with P(|sum| <= h) >=
    ``level``. Where the variance is large, the normal quantile, or of few documents, whose noise
    has longer tails, that of less noise made wider.
    """
    variance = documents * law.variance
    if variance > _SMOOTH_VARIANCE and documents >= _NORMAL_DOCUMENTS:
        return float(normal_quantile(level) * variance**0.5)
    if variance > _SMOOTH_VARIANCE:
        less = NoiseLaw(math.acosh(1 + documents / _SMOOTH_VARIANCE))
        wider = math.sqrt(law.variance / less.variance)
        return wider * _least_within(_distances(less, documents), level)
    return _least_within(_distances(law, documents), level)


@cache
def products_reach(law: NoiseLaw, documents: int, draws: float, weight: int, level: float) -> float:
    """The same in standard errors, for D products of two draws and so many draws, ``weight`` times.

    Products have longer tails than draws: where D is small, or noise is rare, far beyond normal.
    """
    variance = documents * law.variance**2 + draws * weight**2 * law.variance
    if variance > _SMOOTH_VARIANCE:
        if documents >= _NORMAL_DOCUMENTS:
            return normal_quantile(level)
        least = min(law.variance, (_SMOOTH_VARIANCE / 2 / documents) ** 0.5)
        # Of less noise, whose lattice shows no more; products alone have the longest tails.
        return products_reach(NoiseLaw(math.acosh(1 + 1 / least)), documents, 0, 1, level)
    reach = 40 * variance**0.5 + (25 / law.rate) ** 2 + 64
    size = 1 << int(np.ceil(np.log2(2 * reach)))
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    sizes = np.arange(1, 45 / law.rate + 2)
    product = np.full(angle.size, law.most_common)
    for each, chance in zip(sizes, law.probability(sizes), strict=True):
        product += 2 * chance * _characteristic(law, each * angle)
    drawn = _characteristic(law, weight * angle) ** draws
    chances = np.maximum(np.fft.irfft(product**documents * drawn, size)[: size // 2], 0)
    distances = np.concatenate([chances[:1], 2 * chances[1:]])
    return max(_least_within(distances, level) / math.sqrt(variance), normal_quantile(level))


def _characteristic(law: NoiseLaw, angle: Floats) -> Floats:
    alpha = law.alpha
    return np.asarray((1 - alpha) ** 2 / (1 - 2 * alpha * np.cos(angle) + alpha * alpha))


def _least_within(distances: Floats, level: float) -> float:
    beyond = np.cumsum(distances[::-1])[::-1] - distances
    return float(np.argmax(beyond <= 1 - level))


def _distances(law: NoiseLaw, documents: int) -> Floats:
    """P(|sum| = h) for h = 0, 1, ..."""
    # Beyond forty deviations, and beyond what a single cell may be, there is nothing to see.
    reach = 40 * (documents * law.variance) ** 0.5 + 45 / law.rate + 64
    size = 1 << int(np.ceil(np.log2(2 * reach)))
    angle = 2 * np.pi * np.arange(size) / size
    chances = np.maximum(np.fft.ifft(_characteristic(law, angle) ** documents).real, 0)
    half = size // 2
    both = chances[1:half] + chances[: size - half : -1]
    return np.concatenate([chances[:1], both])


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
    rows: Rows, labels: NDArray[np.str_], law: NoiseLaw, names: pa.Table, level: float
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
