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
from functools import cached_property
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import Exact, positive_integer
from sottovoce.privacy.guarantee import LocalPrivacy, NoGuarantee
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.counts import Counts
from sottovoce.release.trial import LaplaceBaseline
from sottovoce.report.figures import INK, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab._data import CountedCorpus
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release._cases import ReleaseRecipe, release
from sottovoce_lab.release._sizes import ReleaseStudySizes, prepare_documents, sizes_for
from sottovoce_lab.release.count_measures import corpus_shape

SHOWN = (
    "panel",
    "mechanism",
    "rate",
    "sparsity",
    "mean_length",
    "length_ratio",
    "paper_length_ratio",
)
WIDE = ("guarantee", "distance", "true_epsilon", "foreign_words_mean", "foreign_words_least")
DARKEST = 5
PAPER_LENGTH_RATIO = 1000.0  # "one thousand times the original average", Laplace at epsilon = 2
NOTES = (
    (
        "Plain local privacy needs a public cap on the length of documents, here the setting "
        "length_cap; its noise has the rate epsilon / (2 length_cap)."
    ),
    (
        'The paper\'s thousandfold length is for a "per-feature" epsilon of 2, that is, for the '
        "change of one word's count alone: no promise for a document, whose words all change."
    ),
)
# Counts and a rate in, counts with continuous noise out: dense, fractions allowed.
RealNoise: TypeAlias = Callable[[Counts, Fraction], Floats]


@dataclass(frozen=True, eq=False)
class ReleaseFigure1Settings:
    """What to draw; fewer documents for a quick look.

    ``laplace`` is the baseline's; ``length_cap`` is public and cuts documents for plain local
    privacy only, where epsilon = 2 * length_cap * rate.
    """

    recipe: ReleaseRecipe
    laplace: RealNoise
    corpus: CountedCorpus
    documents: int = 100
    words_shown: int = 60
    epsilon: Fraction = Fraction(2)
    precision: int = 2
    length_cap: int = 200
    seed: int = 0


@dataclass(frozen=True, eq=False)
class _Panel:
    letter: str
    title: str
    guarantee: str
    rate: Fraction | None
    released: Floats


def run_release_figure_1(options: StudyOptions) -> StudyResult:
    """Figure 1 on the complaints, or on other documents."""
    if options.seeds is not None:
        raise ParameterError("release-figure-1 shows one draw; leave --seeds out.")
    sizes = sizes_for(options, full=ReleaseStudySizes(documents=100))
    corpus, recipe, notes = prepare_documents(options, sizes)
    result = run(ReleaseFigure1Settings(recipe, _laplace, corpus, documents=sizes.documents))
    return replace(result, notes=result.notes + notes)


def run(settings: ReleaseFigure1Settings) -> StudyResult:
    """Six panels and their sparsity, length and foreign words."""
    counts = settings.corpus.first(settings.documents).counts
    panels = _panels(settings, counts)
    rows = tuple(_row(panel, settings, counts) for panel in panels)
    by_frequency = np.argsort(-counts.sum(axis=0), kind="stable")
    shown = _heatmaps(panels, by_frequency[: settings.words_shown])
    return StudyResult(rows, (Plot(shown, _finding(rows), _description(rows)),), SHOWN, NOTES, WIDE)


def _panels(settings: ReleaseFigure1Settings, counts: Counts) -> list[_Panel]:
    cut = cut_lengths(counts, settings.length_cap)
    plain = settings.epsilon / (2 * settings.length_cap)
    limited = settings.epsilon / settings.precision
    noise, laplace, local = settings.recipe.noise, settings.laplace, "local"
    return [
        _Panel("a", "true counts", "none", None, _dense(counts)),
        _Panel("b", "Laplace, local", local, plain, laplace(cut, plain)),
        _Panel("c", "geometric, local", local, plain, _dense(noise(cut, plain))),
        _Panel("d", "Laplace, limited", "limited-precision", limited, laplace(counts, limited)),
        _Panel(
            "e", "geometric, limited", "limited-precision", limited, _dense(noise(counts, limited))
        ),
        _Panel(
            "f",
            "compressed, limited",
            "limited-precision",
            limited,
            _dense(release(settings.recipe, "frequency", counts, limited, settings.seed)),
        ),
    ]


def _laplace(counts: Counts, rate: Exact) -> Floats:
    return LaplaceBaseline(float(rate)).release(counts.toarray())


def _dense(counts: Counts) -> Floats:
    return np.asarray(counts.toarray(), dtype=np.float64)


def _row(panel: _Panel, settings: ReleaseFigure1Settings, counts: Counts) -> Row:
    before = _dense(counts)
    positive = np.maximum(panel.released, 0)
    foreign = ((positive >= 1) & (before == 0)).sum(axis=1)
    original = corpus_shape(counts).mean_length
    distance = {"limited-precision": settings.precision, "local": 2 * settings.length_cap}
    units = distance.get(panel.guarantee)
    return {
        "panel": panel.letter,
        "data": settings.corpus.name,
        "documents": counts.shape[0],
        "words": counts.shape[1],
        "columns": settings.recipe.columns if panel.letter == "f" else None,
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


class LocalGeometricBaseline:
    """Documents cut to L words, each count under noise at the rate epsilon / (2 L)."""

    def __init__(self, epsilon: Exact, length_cap: int) -> None:
        self.guarantee = LocalPrivacy(epsilon, length_cap)
        self._mechanism = GeometricMechanism.giving(self.guarantee)

    def release(self, counts: csr_array, *, threshold: int | None = None) -> csr_array:
        """``counts``, cut and noised."""
        cut = cut_lengths(counts, self.guarantee.length_cap)
        return self._mechanism.sparse(cut, threshold=threshold)


@dataclass(frozen=True)
class ProjectionBaseline:
    """Sketch s = y R and estimate y^ = s R', R of random signs over sqrt(k), k = ``dimensions``.

    E[y^] = y over R. The map is public and deterministic: from the sketch, documents that differ
    are told apart with certainty, so no finite epsilon holds.
    """

    words: int
    dimensions: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise ParameterError(f"dimensions must be >= 1, got {self.dimensions}.")

    @property
    def guarantee(self) -> NoGuarantee:
        """None, at any number of dimensions."""
        return NoGuarantee("a random projection is deterministic once its matrix is public.")

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The public R, words x dimensions."""
        signs = np.random.default_rng(self.seed).integers(0, 2, (self.words, self.dimensions))
        return np.asarray((2.0 * signs - 1) / np.sqrt(self.dimensions))

    def sketch(self, counts: csr_array) -> NDArray[np.float64]:
        """The sketches y R of all rows."""
        return np.asarray(counts @ self.matrix)

    def release(self, counts: csr_array) -> NDArray[np.float64]:
        """The estimates y^ that a reader of the sketches makes."""
        return np.asarray(self.sketch(counts) @ self.matrix.T)


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
