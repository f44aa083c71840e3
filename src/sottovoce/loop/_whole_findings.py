"""What hiding whole documents costs, locally and by counting together: words and a figure."""

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.axes import Axes

from sottovoce.loop._verdict import LABELS
from sottovoce.loop._whole import BOUND, DOCUMENT, LOCAL, NOTHING, TOGETHER, TOLD
from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number

_COLOURS = {NOTHING: COLOURS[-1], LOCAL: COLOURS[1], TOGETHER: COLOURS[0]}
_ALLOWED, _IDLE = "at most, by the promise", "the commoner label; random topics"
_PANELS = {
    TOLD: ("whole documents told, 5% false alarms\n(left: more private)", BOUND, _ALLOWED),
    "accuracy_true": (
        "accuracy, true documents\n(right: more useful)",
        "accuracy_majority",
        _IDLE,
    ),
    "jaccard": ("topic Jaccard\n(right: more useful)", "jaccard_chance", _IDLE),
}
_ROOM, _NEAR = 1.25, 0.15
_PROMISE = (
    "Both promise the same: with or without the words of one whole document, any outcome's "
    "probability changes by a factor of e^epsilon at most (with another document in its place: "
    "e^2epsilon), and a person with m documents has m epsilon. A local release publishes counts of "
    "every document, each with noise of its own. Counting together opens sums over all documents, "
    "with noise once; that holds against everyone but 2 of the 4 holders colluding. One half of "
    "its epsilon goes to pairs of words, for topics, the other to words by label, and labels are "
    "hidden, too; readers of a release are taken to know them."
)
_EXPOSURE = (
    "Nobody can be ranked by a sum, as it has no row of anybody: that row has no people found, and "
    "no documents to classify. What is left is to ask whether a document is there. Told is how "
    "often that is answered, with 5% false alarms, by who knows every other document, all that "
    "this one would say and the noise of one holder. Votes are for at most S - 1 different words "
    "of a document, so that totals miss the rest, whatever the noise."
)


def with_comparison(result: StudyResult, rows: tuple[Row, ...], exposure: str) -> StudyResult:
    """A result with the rows of whole documents, what they say and their figure."""
    compared = [rows[0], *(row for row in rows if row["unit"] == DOCUMENT)]
    told = [_sentence(compared, row, exposure) for row in compared if _is_together(row)]
    return replace(
        result,
        rows=rows,
        plots=(*result.plots, whole_plot(compared)),
        notes=(*result.notes, *told, _PROMISE, f"{_EXPOSURE} {_defects(compared)}"),
        wide=("way", "unit", "votes", TOLD, BOUND, *result.wide),
    )


def whole_plot(rows: Sequence[Row]) -> Plot:
    """A bar a way, and a mark for what the promise allows or doing nothing gives."""
    height = 1.9 + 0.3 * len(rows)
    figure, panels = new_panels(len(_PANELS), width=9.5, height=height, share_y=True)
    for axes, (score, (title, mark, name)) in zip(panels, _PANELS.items(), strict=True):
        _draw_bars(axes, rows, score, mark)
        _draw_marks(axes, rows, mark, name)
        axes.set(xlabel=title, xlim=(0, _ROOM * max(number(row, score) for row in rows)))
    panels[0].set_yticks(range(len(rows)), [_named(row) for row in rows])
    panels[0].invert_yaxis()
    legend_below(figure, 2)
    finding = " ".join(_short(rows, row) for row in rows if _is_together(row))
    about = "Whole documents told, accuracy and topic Jaccard, a bar for each way to protect them."
    return Plot(figure, finding, f"{about} {finding}")


def _draw_bars(axes: Axes, rows: Sequence[Row], score: str, mark: str) -> None:
    values = [number(row, score) for row in rows]
    colours = [_COLOURS[str(row["way"])] for row in rows]
    axes.barh(range(len(rows)), values, height=0.62, color=colours)
    for at, (row, value) in enumerate(zip(rows, values, strict=True)):
        # Beyond the mark, if that is near the bar's end, so that neither hides the other.
        near = row[mark] is not None and abs(number(row, mark) - value) < _NEAR * max(values)
        end = max(value, number(row, mark)) if near else value
        axes.annotate(
            f"{value:.2f}",
            (end, at),
            textcoords="offset points",
            xytext=(6, 0),
            fontsize=8,
            verticalalignment="center",
        )


def _draw_marks(axes: Axes, rows: Sequence[Row], mark: str, name: str) -> None:
    marked = [at for at, row in enumerate(rows) if row[mark] is not None]
    axes.plot(
        [number(rows[at], mark) for at in marked],
        marked,
        color=INK if mark == BOUND else COLOURS[4],
        marker="|",
        markersize=15,
        markeredgewidth=1.6,
        linestyle="none",
        label=name,
    )


def _named(row: Row) -> str:
    return NOTHING if row["epsilon"] is None else f"{row['way']}, ε = {row['epsilon']}"


def _is_together(row: Row) -> bool:
    return row["way"] == TOGETHER


def _short(rows: Sequence[Row], row: Row) -> str:
    right = _three(_beside(rows, row), "accuracy_true")
    return (
        f"At epsilon {row['epsilon']} for whole documents, counting together, a local release and "
        f"no protection leave a classifier that is right in {right}."
    )


def _sentence(rows: Sequence[Row], row: Row, exposure: str) -> str:
    """What counting together gives at one epsilon, beside a local release and no protection."""
    three = _beside(rows, row)
    _, local, bare = three
    right, topics = (_three(three, name) for name in ("accuracy_true", "jaccard"))
    return (
        f"Whole documents hidden at epsilon {row['epsilon']}, by counting together, by a local "
        f"release, and not at all: the classifier is right in {right} of true documents (the "
        f"commoner label: {number(row, 'accuracy_majority'):.2f}), the topic Jaccard is {topics} "
        f"(random topics: {number(row, 'jaccard_chance'):.2f}), topics' totals are off by "
        f"{_three(three, 'totals_error')}; one document is told in {_three(three, TOLD)} (by the "
        f"promise at most {number(row, BOUND):.2f}). The {LABELS[exposure]} is "
        f"{number(local, exposure):.2f} in the local release, {number(bare, exposure):.2f} without "
        "protection, and does not exist for a sum."
    )


def _beside(rows: Sequence[Row], row: Row) -> tuple[Row, Row, Row]:
    """Counting together, the local release of the same epsilon, and no protection."""
    (local,) = (each for each in rows if each["way"] == LOCAL and each["epsilon"] == row["epsilon"])
    return row, local, rows[0]


def _three(rows: Sequence[Row], name: str) -> str:
    one, other, last = (f"{number(row, name):.2f}" for row in rows)
    return f"{one}, {other} and {last}"


def _defects(rows: Sequence[Row]) -> str:
    wrong = [_named(row) for row in rows if row.get("defect") is not None]
    if wrong:
        return f"DEFECT: by {' and '.join(wrong)} more documents were told than the promise allows."
    return "No whole document is told above its bound by more than chance allows."
