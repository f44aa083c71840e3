"""What can be read from a release: readers that know the noise's law beside honest baselines.

The papers have no such table: their private topics are those of the clipped release. About two
hours on two cores with all data, five seeds and all rates; ``--data``, ``--rates``, ``--seeds`` and
``--readers`` run a part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.errors import ParameterError, check_choice
from sottovoce.lab._data import SIMULATED, DataAbsentError
from sottovoce.lab._options import StudyOptions
from sottovoce.lab.release._classified import classified_rows
from sottovoce.lab.release._grown import SimulatedDocuments, grown_rows
from sottovoce.lab.release._pinned import PINNED, WORDS
from sottovoce.lab.release.analyse_rows import CHOSEN, DIFFERENCE
from sottovoce.report._figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report._page import Plot
from sottovoce.report._result import Row, StudyResult, number

SHOWN = ("data", "documents", "rate", "reader", "score", "mean", "low", "high")
WIDE = ("words", "topics", "seeds", "reference", "predicted", "baseline")
RATES = tuple(Fraction(rate) for rate in ("5", "2", "1", "0.5", "0.2", "0.1", "0.05"))
NOTES = (
    (
        "Tokens are [a-z]{3,} without scikit-learn's English stop words; the 1,000 most frequent "
        "words of at least 5 documents are taken as public; documents have at least 5 of them."
    ),
    (
        "Baselines read max(z, 0), all columns, each tuned inside the training documents of its "
        "seed. The chosen reader was chosen by its loss on released documents that were held out. "
        "A difference is chosen less the best baseline, seed by seed."
    ),
    "reference is what the chosen reader reaches on the text itself.",
)


@dataclass(frozen=True)
class AnalyseSizes:
    """How much work the study does."""

    documents: int | None = None
    seeds: int = 5
    rates: tuple[Fraction, ...] = RATES
    words: int = WORDS
    iterations: int = 150
    budget: float = 1_000.0
    grown: tuple[int, ...] = (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)


QUICK = AnalyseSizes(
    documents=150,
    seeds=2,
    rates=(Fraction(2), Fraction(1, 2)),
    words=60,
    iterations=5,
    budget=50.0,
    grown=(200, 800),
)
CLASSED = ("complaints", "news", "background")


def run_release_analyse(options: StudyOptions) -> StudyResult:
    """The study as the command line asks for it."""
    readers = tuple(READERS) if options.readers is None else (options.readers,)
    for reader in readers:
        check_choice("readers", reader, READERS)
    sizes = _sizes(options)
    rows = [row for reader in readers for row in READERS[reader](options.data, sizes)]
    if not rows:
        raise ParameterError("no data set that is here has what these readers need; see --data.")
    plot = Plot(_figure(rows), _finding(rows), f"Accuracy over the rate. {_finding(rows)}")
    return StudyResult(tuple(rows), (plot,), SHOWN, NOTES, WIDE)


def _sizes(options: StudyOptions) -> AnalyseSizes:
    base = QUICK if options.quick else AnalyseSizes()
    return AnalyseSizes(
        documents=options.documents or base.documents,
        seeds=options.seeds or base.seeds,
        rates=options.rates or base.rates,
        words=base.words,
        iterations=base.iterations,
        budget=base.budget,
        grown=base.grown,
    )


def classifier_rows(data: str | None, sizes: AnalyseSizes) -> list[Row]:
    """Accuracy on each data set that has classes; one that is absent is left out, unless asked."""
    if data is not None:
        check_choice("data", data, (*CLASSED, SIMULATED))
    rows: list[Row] = []
    for name in CLASSED if data is None else (data,):
        if name == SIMULATED:
            continue
        try:
            corpus = PINNED[name]().first(sizes.documents)
        except DataAbsentError:
            if data is not None:
                raise
            continue
        rows += classified_rows(corpus, sizes.rates, sizes.seeds)
    if data in {None, SIMULATED}:
        simulated = SimulatedDocuments.fitted(sizes.words, sizes.iterations)
        rows += grown_rows(simulated, sizes.budget, sizes.grown, sizes.seeds)
    return rows


READERS: dict[str, Callable[[str | None, AnalyseSizes], list[Row]]] = {
    "classifiers": classifier_rows,
}


def _finding(rows: Sequence[Row]) -> str:
    differences = [row for row in rows if row["reader"] == DIFFERENCE]
    better = [row for row in differences if number(row, "low") > 0]
    worse = [row for row in differences if number(row, "high") < 0]
    if not differences:
        return "No baseline was compared."
    return (
        f"The chosen reader is clearly better than the best baseline in {len(better)} of "
        f"{len(differences)} settings, clearly worse in {len(worse)}."
    )


def _figure(rows: Sequence[Row]) -> Figure:
    drawn = [row for row in rows if row["rate"] is not None]
    names = list(dict.fromkeys(str(row["data"]) for row in drawn))
    lines = -(-len(names) // 2)
    figure, panels = new_panels(min(2, len(names)), lines, width=9.0, height=0.8 + 2.8 * lines)
    for axes, name in zip(panels, names, strict=False):
        _panel(axes, [row for row in drawn if row["data"] == name])
        axes.set(xscale="log", title=name, xlabel="rate (nats per word)")
    legend_below(figure, 4)
    return figure


def _panel(axes: Axes, rows: Sequence[Row]) -> None:
    chosen = [row for row in rows if row["reader"] == CHOSEN]
    shown = chosen or [row for row in rows if row["reader"] != DIFFERENCE]
    _line(axes, shown, "mean", CHOSEN if chosen else str(shown[0]["reader"]), COLOURS[0])
    if chosen:
        _line(axes, chosen, "baseline", "best baseline", COLOURS[1])
        axes.axhline(number(chosen[0], "reference"), color=INK, linewidth=1, label="true text")


def _line(axes: Axes, rows: Sequence[Row], value: str, label: str, colour: str) -> None:
    ordered = sorted(rows, key=lambda row: number(row, "rate"))
    rates = [number(row, "rate") for row in ordered]
    axes.plot(rates, [number(row, value) for row in ordered], "o-", color=colour, label=label)
