"""What hiding whole documents costs by a local release and by counting together: words, a figure."""

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.axes import Axes

from sottovoce.loop._round import FOUND
from sottovoce.loop._verdict import LABELS
from sottovoce.loop._whole import BOUND, DOCUMENT, LOCAL, NOTHING, TOGETHER, TOLD
from sottovoce.report._figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report._page import Plot
from sottovoce.report._result import Row, StudyResult, number

_COLOURS = {NOTHING: COLOURS[-1], LOCAL: COLOURS[1], TOGETHER: COLOURS[0]}
_PANELS = {
    TOLD: ("whole documents told, at 5% false alarms\n(left: more private)", BOUND, "at most"),
    "accuracy_true": (
        "accuracy of the classifier, true documents\n(right: more useful)",
        "accuracy_majority",
        "without looking",
    ),
    "jaccard": ("topic Jaccard\n(right: more useful)", "jaccard_chance", "without looking"),
}
_MEANING = (
    "In both, adding the words of one whole document, or leaving them out, changes any outcome's "
    "probability by a factor of e^epsilon at most, and another document in its place by e^2epsilon; "
    "a person with m documents has m epsilon. They differ in whom the noise hides from. A local "
    "release publishes noised counts of every document: people can be ranked by them, and each "
    "document brings noise of its own. Counting together opens a sum over all documents, with noise "
    "once, among holders of whom one may collude with the coordinator. Nobody can be ranked by a "
    "sum, as it has no row of anybody: so it has no share of people found, and the question is "
    "whether one document is in it. Told is how often that is answered, with 5% false alarms, by "
    "somebody who knows every other document and all that this one would say. Counting together "
    "spends one half of epsilon on pairs of words, for topics, and one on words by label; it leaves "
    "no documents to classify, and labels are hidden, too, which readers of a release are taken to "
    "know."
)


def with_comparison(result: StudyResult, rows: tuple[Row, ...], exposure: str) -> StudyResult:
    """A result with the rows of whole documents, what they say and their figure."""
    compared = [rows[0], *(row for row in rows if row["unit"] == DOCUMENT)]
    told = "\n".join(_sentence(compared, row, exposure) for row in compared if _is_together(row))
    return replace(
        result,
        rows=rows,
        plots=(*result.plots, whole_plot(compared, told)),
        notes=(*result.notes, f"{told} {_MEANING}", _defects(compared)),
        wide=("way", "unit", "votes", TOLD, BOUND, *result.wide),
    )


def whole_plot(rows: Sequence[Row], finding: str) -> Plot:
    """A bar a way, and a mark for what the promise allows or doing nothing gives."""
    figure, panels = new_panels(len(_PANELS), width=9.5, height=1.6 + 0.34 * len(rows), share_y=True)
    for axes, (score, (title, mark, name)) in zip(panels, _PANELS.items(), strict=True):
        _draw_bars(axes, rows, score)
        marks = [(at, row[mark]) for at, row in enumerate(rows) if row[mark] is not None]
        axes.plot(
            [value for _, value in marks],
            [at for at, _ in marks],
            color=INK,
            marker="|",
            markersize=16,
            markeredgewidth=1.5,
            linestyle="none",
            label=f"{name}: {'by the promise' if mark == BOUND else 'random, or the commoner label'}",
        )
        axes.set(xlabel=title, xlim=(0, 1.18 if score == TOLD else None))
    panels[0].set_yticks(range(len(rows)), [_named(row) for row in rows])
    panels[0].invert_yaxis()
    legend_below(figure, 2)
    about = "Whole documents that are told, accuracy and topic Jaccard, a bar a way to protect them."
    return Plot(figure, finding, f"{about} {finding}")


def _draw_bars(axes: Axes, rows: Sequence[Row], score: str) -> None:
    values = [number(row, score) for row in rows]
    colours = [_COLOURS[str(row["way"])] for row in rows]
    bars = axes.barh(range(len(rows)), values, height=0.62, color=colours)
    axes.bar_label(bars, [f"{value:.2f}" for value in values], padding=6, fontsize=8)
    axes.margins(x=0.15)


def _named(row: Row) -> str:
    return NOTHING if row["epsilon"] is None else f"{row['way']}, ε = {row['epsilon']}"


def _is_together(row: Row) -> bool:
    return row["way"] == TOGETHER


def _sentence(rows: Sequence[Row], row: Row, exposure: str) -> str:
    """What counting together gives at one epsilon, beside a local release and no protection."""
    bare = rows[0]
    (local,) = (
        each for each in rows if each["way"] == LOCAL and each["epsilon"] == row["epsilon"]
    )
    three = (row, local, bare)
    right, topics = (_three(three, name) for name in ("accuracy_true", "jaccard"))
    share = "found" if exposure == FOUND else "kept at the top"
    return (
        f"Whole documents hidden at epsilon {row['epsilon']}, by counting together, by a local "
        f"release, and not at all: the classifier is right in {right} of true documents (by always "
        f"saying the commoner label {number(row, 'accuracy_majority'):.2f}), the topic Jaccard is "
        f"{topics} (of random topics {number(row, 'jaccard_chance'):.2f}), topics' totals are off by "
        f"{_three(three, 'totals_error')}; one document is told in {_three(three, TOLD)} (by the "
        f"promise at most {number(row, BOUND):.2f}). The {LABELS[exposure]} is "
        f"{number(local, exposure):.2f} in the local release and {number(bare, exposure):.2f} "
        f"without protection; nobody can be {share} by a sum."
    )


def _three(rows: Sequence[Row], name: str) -> str:
    one, other, last = (f"{number(row, name):.2f}" for row in rows)
    return f"{one}, {other} and {last}"


def _defects(rows: Sequence[Row]) -> str:
    wrong = [_named(row) for row in rows if row.get("defect") is not None]
    if wrong:
        return f"DEFECT: by {' and '.join(wrong)} more documents were told than the promise allows."
    return "No whole document is told above its bound by more than chance allows."
