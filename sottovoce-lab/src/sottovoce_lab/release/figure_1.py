"""Heatmaps of a part of the complaints, before and after each mechanism.

Limited-Precision Release, Figure 1:
(a) true counts; (b) Laplace and (c) geometric noise under plain local privacy at epsilon = 2, for
which documents are first cut to a public length; (d) Laplace and (e) geometric noise under
limited-precision privacy at epsilon = 2, N = 2; and, beyond the paper, (f) the same guarantee
with compression by frequency. The paper does not name its panels; this is how its text reads.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import Exact, positive_integer
from sottovoce.release.counts import Counts
from sottovoce.release.trial import LaplaceBaseline
from sottovoce.report.page import INK, Plot, new_panels
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab._data import CountedCorpus
from sottovoce_lab.options import StudyOptions, study_notes
from sottovoce_lab.release import _study
from sottovoce_lab.release._study import ReleaseRecipe
from sottovoce_lab.release.count_measures import corpus_shape

SHOWN = (
    "panel", "mechanism", "rate", "sparsity", "mean_length", "length_ratio",
    "paper_length_ratio",
)  # fmt: skip
WIDE = ("guarantee", "distance", "true_epsilon", "foreign_words_mean", "foreign_words_least")
DARKEST = 5
PAPER_LENGTH_RATIO = 1000.0  # "one thousand times the original average", Laplace at epsilon = 2
NOTES = study_notes("release-figure-1")
# Counts and a rate in, counts with continuous noise out: dense, fractions allowed.
RealNoise: TypeAlias = Callable[[Counts, Fraction], Floats]


WORDS_SHOWN = 60
EPSILON, PRECISION = Fraction(2), 2
LENGTH_CAP = 200
"""Public; it cuts documents for plain local privacy only, where epsilon = 2 * LENGTH_CAP * rate."""


@dataclass(frozen=True, eq=False)
class _Panel:
    letter: str
    title: str
    guarantee: str
    rate: Fraction | None
    released: Floats


def run_release_figure_1(options: StudyOptions) -> StudyResult:
    """Heatmaps of word counts before and after each mechanism, at one true epsilon.

    Figure 1 on the complaints, or on other documents.
    """
    if options.seeds is not None:
        raise ParameterError("release-figure-1 shows one draw; leave --seeds out.")
    sizes = _study.sizes_for(options, full=_study.ReleaseStudySizes(documents=100))
    corpus, recipe, notes = _study.prepare_documents(options, sizes)
    result = run(recipe, corpus)
    return replace(result, notes=result.notes + notes)


def run(
    recipe: ReleaseRecipe,
    corpus: CountedCorpus,
    laplace: RealNoise | None = None,
    length_cap: int = LENGTH_CAP,
) -> StudyResult:
    """Six panels and their sparsity, length and foreign words."""
    panels = _panels(recipe, corpus.counts, laplace or _laplace, length_cap)
    rows = tuple(_row(panel, recipe, corpus, length_cap) for panel in panels)
    by_frequency = np.argsort(-corpus.counts.sum(axis=0), kind="stable")
    shown = _heatmaps(panels, by_frequency[:WORDS_SHOWN])
    return StudyResult(rows, (Plot(shown, _finding(rows), _description(rows)),), SHOWN, NOTES, WIDE)


def _panels(
    recipe: ReleaseRecipe, counts: Counts, laplace: RealNoise, length_cap: int
) -> list[_Panel]:
    cut = cut_lengths(counts, length_cap)
    plain, limited = EPSILON / (2 * length_cap), EPSILON / PRECISION
    noise, local, precise = recipe.noise, "local", "limited-precision"
    packed = recipe.release("frequency", counts, limited, 0)
    return [
        _Panel("a", "true counts", "none", None, _dense(counts)),
        _Panel("b", "Laplace, local", local, plain, laplace(cut, plain)),
        _Panel("c", "geometric, local", local, plain, _dense(noise(cut, plain))),
        _Panel("d", "Laplace, limited", precise, limited, laplace(counts, limited)),
        _Panel("e", "geometric, limited", precise, limited, _dense(noise(counts, limited))),
        _Panel("f", "compressed, limited", precise, limited, _dense(packed)),
    ]


def _laplace(counts: Counts, rate: Exact) -> Floats:
    return LaplaceBaseline(float(rate)).release(counts.toarray())


def _dense(counts: Counts) -> Floats:
    return np.asarray(counts.toarray(), dtype=np.float64)


def _row(panel: _Panel, recipe: ReleaseRecipe, corpus: CountedCorpus, length_cap: int) -> Row:
    counts, before = corpus.counts, _dense(corpus.counts)
    positive = np.maximum(panel.released, 0)
    foreign = ((positive >= 1) & (before == 0)).sum(axis=1)
    original = corpus_shape(counts).mean_length
    distance = {"limited-precision": PRECISION, "local": 2 * length_cap}
    units = distance.get(panel.guarantee)
    return {
        "panel": panel.letter,
        "data": corpus.name,
        "documents": counts.shape[0],
        "words": counts.shape[1],
        "columns": recipe.columns if panel.letter == "f" else None,
        "mechanism": panel.title,
        "guarantee": panel.guarantee,
        "rate": None if panel.rate is None else float(panel.rate),
        "distance": units,
        "true_epsilon": None if panel.rate is None or units is None else float(panel.rate * units),
        "sparsity": float((positive == 0).mean()),
        "mean_length": float(positive.sum(axis=1).mean()),
        "length_ratio": float(positive.sum(axis=1).mean() / original),
        "paper_length_ratio": PAPER_LENGTH_RATIO if panel.letter == "b" else None,
        "foreign_words_mean": float(foreign.mean()),
        "foreign_words_least": int(foreign.min()),
    }


def _finding(rows: tuple[Row, ...]) -> str:
    ratio = {row["panel"]: number(row, "length_ratio") for row in rows}
    zeros = {row["panel"]: number(row, "sparsity") for row in rows}
    return (
        f"At one true epsilon, {number(rows[1], 'true_epsilon'):g}: plain local privacy makes "
        f"documents {ratio['c']:,.0f} times as long and leaves {zeros['c']:.0%} of the cells "
        f"empty; limited precision {ratio['e']:,.1f} times and {zeros['e']:.0%}; with compression "
        f"{ratio['f']:,.2f} times and {zeros['f']:.1%} (true text: {zeros['a']:.1%})."
    )


def _description(rows: tuple[Row, ...]) -> str:
    lengths = ", ".join(f"{row['mechanism']} {number(row, 'mean_length'):,.0f}" for row in rows)
    return f"Heatmaps of word counts, one per mechanism. Mean document lengths: {lengths}."


def _heatmaps(panels: list[_Panel], shown: NDArray[np.int64]) -> Figure:
    figure, grid = new_panels(3, 2, width=8.2, height=6.2, share_y=True)
    for axes, panel in zip(grid, panels, strict=True):
        part = panel.released[:, shown].T
        drawn = axes.imshow(
            part, cmap="Greys", vmin=0, vmax=DARKEST, aspect="auto", interpolation="none"
        )
        axes.set_title(f"({panel.letter}) {panel.title}")
        axes.spines[["top", "right"]].set_visible(True)
    for axes in grid[3:]:
        axes.set_xlabel("documents")
    for axes in grid[::3]:
        axes.set_ylabel("words, most frequent first")
    bar = figure.colorbar(drawn, ax=grid, label=f"count ({DARKEST} or more: darkest)", shrink=0.6)
    bar.ax.yaxis.label.set_color(INK)
    return figure


def cut_lengths(counts: csr_array, length_cap: int) -> csr_array:
    """Each row's words in column order, up to ``length_cap`` of them: any two are then 2 L apart.

    The cut looks at one row alone, so it costs no privacy beyond epsilon = 2 L r.
    """
    cap = positive_integer(length_cap, "length_cap")
    running = np.cumsum(counts.data, dtype=np.int64)
    before_row = np.concatenate([[0], running])[counts.indptr[:-1]]
    row_of = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    upto = running - before_row[row_of]
    kept = np.minimum(upto, cap) - np.minimum(upto - counts.data, cap)
    cut = csr_array((kept, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
    cut.eliminate_zeros()
    return cut
