"""The rows of `study release-analyse`: one reader of one kind of release, scored over seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.release.topics.evaluation import mean_interval
from sottovoce.report.page import COLOURS, INK, Plot, legend_below, new_panels
from sottovoce.report.result import Row, number

STUDY = "release-analyse"
CHOSEN = "chosen"  # the reader that the product chooses, beside the baselines
DIFFERENCE = "difference"
# All columns, in the order of the file; a row leaves those empty that say nothing of it.
NAMES = (
    "study", "data", "documents", "words", "topics", "unit", "epsilon", "rate", "S", "parties",
    "collude", "drop", "reader", "score", "mean", "low", "high", "seeds", "values", "reference",
    "predicted", "baseline",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AnalyseSetting:
    """What was released, and how; the same for every reader that is compared on it.

    Attributes:
        data: the name of a pinned corpus, or simulated.
        documents: how many were released.
        words: how many columns.
        topics: of the reference; None where no topics are asked for.
        rate: nats per word; None for the text itself.
        score: what every reader's values are.
    """

    data: str
    documents: int
    words: int
    rate: float | None
    score: str
    topics: int | None = None


def reader_row(
    setting: AnalyseSetting, reader: str, values: Sequence[float], **known: float | None
) -> Row:
    """The mean of ``values``, one per seed, with its 95% interval.

    ``known`` may have the ``reference``, the same score of the true text; the score that was
    ``predicted`` before anything was released; and the ``baseline``, the mean of the best one.
    """
    interval = mean_interval(values)
    found: Row = {
        "study": STUDY,
        "unit": "word",
        "epsilon": setting.rate,
        "reader": reader,
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "seeds": len(values),
        "values": [float(value) for value in values],
    }
    return dict.fromkeys(NAMES) | asdict(setting) | found | known


def compared_rows(
    setting: AnalyseSetting,
    scores: Mapping[str, Sequence[float]],
    *,
    reference: float | None = None,
    predicted: float | None = None,
) -> list[Row]:
    """A row for each baseline, for the chosen reader, and for its difference to the best of them.

    The difference is paired: seed by seed, against the one baseline whose mean is best: the
    highest, or of errors the lowest.
    """
    baselines = {name: values for name, values in scores.items() if name != CHOSEN}
    choose = min if setting.score == "error" else max
    best = choose(baselines.values(), key=lambda values: float(np.mean(values)))
    paired = [own - other for own, other in zip(scores[CHOSEN], best, strict=True)]
    known = {"reference": reference, "baseline": float(np.mean(best))}
    rows = [reader_row(setting, name, values) for name, values in baselines.items()]
    rows.append(reader_row(setting, CHOSEN, scores[CHOSEN], predicted=predicted, **known))
    rows.append(reader_row(setting, DIFFERENCE, paired, **known))
    return rows


TITLES = {
    "jaccard": "Topic Jaccard",
    "topics_seen": "Topics recognised",
    "accuracy": "Accuracy",
    "coverage": "Coverage of 95% intervals",
    "error": "Error of word totals",
}


def plots_of(rows: Sequence[Row]) -> tuple[Plot, ...]:
    """One for each score that was measured over rates."""
    over_rates = [row for row in rows if row["rate"] is not None]
    plots = []
    for score, title in TITLES.items():
        own = [row for row in over_rates if row["score"] == score]
        if own:
            sentence = finding(own)
            plots.append(Plot(_figure(own), sentence, f"{title} over the rate. {sentence}"))
    return tuple(plots)


def finding(rows: Sequence[Row]) -> str:
    """In how many settings the chosen reader's gain over the best baseline has a sign."""
    differences = [row for row in rows if row["reader"] == DIFFERENCE]
    if not differences:
        return "No baseline was compared."
    better = sum(_gain(row)[0] > 0 for row in differences)
    worse = sum(_gain(row)[1] < 0 for row in differences)
    return (
        f"The chosen reader is better than the best baseline in {better} of {len(differences)} "
        f"settings and worse in {worse}, by 95% intervals that each hold by themselves."
    )


def _gain(row: Row) -> tuple[float, float]:
    """The interval of the gain: a smaller error is a gain, of other scores a larger one."""
    low, high = number(row, "low"), number(row, "high")
    return (-high, -low) if row["score"] == "error" else (low, high)


def _name(row: Row) -> str:
    return f"{row['data']}, {number(row, 'documents'):,.0f} documents"


def _figure(rows: Sequence[Row]) -> Figure:
    names = dict.fromkeys(map(_name, rows))
    lines = -(-len(names) // 2)
    figure, panels = new_panels(min(2, len(names)), lines, width=9.0, height=0.8 + 2.8 * lines)
    for axes, name in zip(panels, names, strict=False):
        _panel(axes, [row for row in rows if _name(row) == name])
        axes.set(xscale="log", title=name, xlabel="rate (nats per word)")
    legend_below(figure, 4)
    return figure


def _panel(axes: Axes, rows: Sequence[Row]) -> None:
    chosen = [row for row in rows if row["reader"] == CHOSEN]
    if not chosen:
        for colour, reader in zip(
            COLOURS, dict.fromkeys(str(row["reader"]) for row in rows), strict=False
        ):
            _line(axes, [row for row in rows if row["reader"] == reader], "mean", reader, colour)
        return
    _line(axes, chosen, "mean", CHOSEN, COLOURS[0])
    _line(axes, chosen, "baseline", "best baseline", COLOURS[1])
    if chosen[0]["reference"] is not None:
        axes.axhline(number(chosen[0], "reference"), color=INK, linewidth=1, label="true text")


def _line(axes: Axes, rows: Sequence[Row], value: str, label: str, colour: str) -> None:
    ordered = sorted(rows, key=lambda row: number(row, "rate"))
    rates = [number(row, "rate") for row in ordered]
    axes.plot(rates, [number(row, value) for row in ordered], "o-", color=colour, label=label)
