"""Plots of the release studies, by matplotlib's object interface: no global state."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from sottovoce.errors import MissingExtraError
from sottovoce.study.result import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = {
    "none": "o",
    "random": "s",
    "frequency": "^",
    "embedding-cluster": "D",
    "embedding-disperse": "v",
}
LINES = ("--", ":")


def blank_figure(width: float, height: float) -> "Figure":
    """An empty figure, or an error that says how to get matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise MissingExtraError("matplotlib", "report") from error
    return Figure(figsize=(width, height), layout="constrained")


def against_rate(
    rows: Sequence[Row], scores: dict[str, str], levels: dict[str, Sequence[str]]
) -> "Figure":
    """One panel per score: a line per method over the true rate, with 95% error bars.

    ``scores`` maps a score to its panel's title, ``levels`` a score to constant columns beside it.
    """
    figure = blank_figure(4.2 * len(scores), 3.6)
    panels = figure.subplots(1, len(scores), squeeze=False)[0]
    for axes, (score, title) in zip(panels, scores.items(), strict=True):
        _draw_methods(axes, rows, score)
        for level, style in zip(levels.get(score, ()), LINES, strict=False):
            label = level.split("_")[-1]
            axes.axhline(cast("float", rows[0][level]), color="grey", linestyle=style, label=label)
        axes.set(xscale="log", xlabel="true rate: epsilon per word (nats)", title=title)
        axes.legend(fontsize="x-small")
    return figure


def _draw_methods(axes: "Axes", rows: Sequence[Row], score: str) -> None:
    for method, marker in MARKERS.items():
        own = {cast("float", row["rate"]): row for row in rows if row["method"] == method}
        if own:
            rates = sorted(own)
            means = [cast("float", own[rate][score]) for rate in rates]
            lows = [cast("float", own[rate][f"{score}_low"]) for rate in rates]
            halves = [mean - low for mean, low in zip(means, lows, strict=True)]
            axes.errorbar(rates, means, yerr=halves, marker=marker, capsize=3, label=method)
