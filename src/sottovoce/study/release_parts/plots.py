"""Plots of the release studies."""

from collections.abc import Sequence
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.study.result import Row

METHODS = ("none", "random", "frequency", "embedding-cluster", "embedding-disperse")
MARKERS = dict(zip(METHODS, "os^Dv", strict=True))
COLOUR = dict(zip(METHODS, COLOURS, strict=False))
LABELS = {
    "none": "no compression",
    "random": "random",
    "frequency": "frequency",
    "embedding-cluster": "embedding: cluster",
    "embedding-disperse": "embedding: disperse",
}
# Constant columns drawn as lines, with their names and dashes.
LEVELS = {
    "jaccard_chance": ("chance", ":"),
    "jaccard_unigram": ("most frequent words", "--"),
    "accuracy_majority": ("largest class", "-."),
}
PANELS_A_ROW = 3
LONG_SCORES = {"mean_length"}  # spread over orders of magnitude


def against_rate(
    rows: Sequence[Row], scores: dict[str, str], levels: dict[str, Sequence[str]]
) -> Figure:
    """One panel per score: a line per method over the true rate, with 95% error bars.

    ``rows`` begin with the true text's. ``scores`` maps a score to its panel's title, ``levels`` a
    score to the constant columns drawn beside it.
    """
    best, *private = rows
    columns = min(PANELS_A_ROW, len(scores))
    lines = -(-len(scores) // columns)
    figure, panels = new_panels(columns, lines, width=1 + 2.9 * columns, height=0.7 + 2.6 * lines)
    for axes, (score, title) in zip(panels, scores.items(), strict=True):
        _draw_methods(axes, private, score)
        axes.axhline(cast("float", best[score]), color=INK, linewidth=1, label="true text")
        for level in levels.get(score, ()):
            name, dashes = LEVELS[level]
            height = cast("float", best[level])
            axes.axhline(height, color=INK, linewidth=1, linestyle=dashes, label=name)
        axes.set(xscale="log", title=title)
        if score in LONG_SCORES:
            axes.set_yscale("log")
    for axes in panels[-columns:]:
        axes.set_xlabel("true epsilon per word (nats)")
    legend_below(figure, 4)
    return figure


def _draw_methods(axes: Axes, rows: Sequence[Row], score: str) -> None:
    # Points of one rate stand side by side: under each other none but the last would be seen.
    for place, method in enumerate(METHODS):
        own = {cast("float", row["rate"]): row for row in rows if row["method"] == method}
        if own:
            rates = sorted(own)
            means = [cast("float", own[rate][score]) for rate in rates]
            lows = [cast("float", own[rate][f"{score}_low"]) for rate in rates]
            axes.errorbar(
                [rate * 1.06 ** (place - 2) for rate in rates],
                means,
                yerr=[mean - low for mean, low in zip(means, lows, strict=True)],
                color=COLOUR[method],
                marker=MARKERS[method],
                markersize=4,
                linewidth=1.2,
                capsize=2,
                label=LABELS[method],
            )
