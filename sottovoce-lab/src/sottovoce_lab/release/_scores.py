"""What is measured of a private release, gathered over seeds, and its plot against the rate."""

from collections.abc import Sequence
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.arrays import Floats
from sottovoce.release.counts import Counts
from sottovoce.release.topics.evaluation import (
    chance_jaccard,
    match_topics,
    mean_interval,
    topic_coherence,
)
from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.result import Row
from sottovoce_lab.release.count_measures import (
    corpus_shape,
    latent_semantics,
    topic_exclusivity,
    unigram_jaccard,
)

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


def topic_scores(private: Floats, true: Floats, counts: Counts) -> dict[str, float]:
    """Jaccard, exclusivity and coherence of the private topics; ``counts`` are the true text's."""
    return {
        "jaccard": match_topics(private, true).mean,
        "exclusivity": topic_exclusivity(private),
        "coherence": topic_coherence(private, counts),
    }


def shape_scores(private: Counts) -> dict[str, float]:
    """Sparsity and mean document length."""
    shape = corpus_shape(private)
    return {"sparsity": shape.sparsity, "mean_length": shape.mean_length}


def semantic_scores(
    private: Counts, true: Counts, labels: Sequence[str], *, dimensions: int, seed: int
) -> dict[str, float]:
    """LSA reconstruction error and classification accuracy, with the accuracy of a constant."""
    scores = latent_semantics(private, true, labels, dimensions=dimensions, seed=seed)
    return {
        "lsa_error": scores.error,
        "accuracy": scores.accuracy,
        "accuracy_majority": scores.majority,
    }


def level_scores(true: Floats, counts: Counts) -> dict[str, float]:
    """The Jaccards that say nothing: of random topics, and of the most frequent words alone."""
    frequencies = counts.sum(axis=0).astype(float)
    return {
        "jaccard_chance": chance_jaccard(true.shape[1], true.shape[0]),
        "jaccard_unigram": unigram_jaccard(true, frequencies),
    }


def over_seeds(runs: Sequence[dict[str, float]]) -> Row:
    """Mean and 95% interval of each score: `score`, `score_low`, `score_high`."""
    row: Row = {}
    for name in runs[0]:
        interval = mean_interval([run[name] for run in runs])
        row |= {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row | {"seeds": len(runs)}
