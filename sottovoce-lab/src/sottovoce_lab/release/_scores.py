"""What is measured of a private release, over seeds: its plot, and which methods are better."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from sottovoce.report.page import COLOURS, INK, legend_below, new_panels
from sottovoce.report.result import Row, number
from sottovoce_lab.release._study import StudyRun
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


def run_scores(run: StudyRun, dimensions: int | None = None) -> dict[str, float]:
    """Topics, shape and, in so many dimensions, latent semantics of a release.

    Exclusivity and coherence are those of the private topics, by the counts of the true text;
    beside the LSA stands the accuracy of a constant.
    """
    true = run.corpus.counts
    scores = {
        "jaccard": match_topics(run.phi, run.true).mean,
        "exclusivity": topic_exclusivity(run.phi),
        "coherence": topic_coherence(run.phi, true),
        **level_scores(run.true, true),
    }
    if dimensions is not None:
        found = latent_semantics(
            run.private, true, run.corpus.labels, dimensions=dimensions, seed=run.seed
        )
        scores |= {
            "lsa_error": found.error,
            "accuracy": found.accuracy,
            "accuracy_majority": found.majority,
        }
    shape = corpus_shape(run.private)
    return scores | {"sparsity": shape.sparsity, "mean_length": shape.mean_length}


def level_scores(true: Floats, counts: Counts) -> dict[str, float]:
    """The Jaccards that say nothing: of random topics, and of the most frequent words alone."""
    frequencies = counts.sum(axis=0).astype(float)
    return {
        "jaccard_chance": chance_jaccard(true.shape[1], true.shape[0]),
        "jaccard_unigram": unigram_jaccard(true, frequencies),
    }


def over_seeds(found: Iterable[Mapping[str, float]]) -> Row:
    """Mean and 95% interval of each score: `score`, `score_low`, `score_high`."""
    row: Row = {}
    runs = list(found)
    for name in runs[0]:
        interval = mean_interval([run[name] for run in runs])
        row |= {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row | {"seeds": len(runs)}


def compared_with_none(rows: Sequence[Row], score: str) -> str:
    """At which true rates compression beats no compression, and the reverse.

    By whether the 95% intervals of the best compressed method and of none overlap, rate by rate.
    """
    if number(rows[0], "seeds") == 1:
        return "one seed gives no interval, so that nothing can be compared"
    better, worse, neither = _sorted_rates(rows, score)
    parts = [
        f"compression is better at {_list_rates(better)}" if better else "",
        f"no compression is better at {_list_rates(worse)}" if worse else "",
        f"their intervals overlap at {_list_rates(neither)}" if neither else "",
    ]
    return f"{'; '.join(part for part in parts if part)} (95% intervals, each by itself)"


def rates_where(rows: Sequence[Row], holds: Callable[[Row], bool]) -> str:
    """The true rates at which ``holds`` is true of some method, in words."""
    found = sorted({number(row, "rate") for row in rows if holds(row)}, reverse=True)
    return _list_rates(found) if found else "no rate"


def _sorted_rates(rows: Sequence[Row], score: str) -> tuple[list[float], list[float], list[float]]:
    better, worse, neither = [], [], []
    for rate in sorted({number(row, "rate") for row in rows}, reverse=True):
        there = [row for row in rows if row["rate"] == rate]
        plain = [row for row in there if row["method"] == "none"]
        packed = [row for row in there if row["method"] != "none"]
        if not plain or not packed:
            continue
        best = max(packed, key=lambda row: number(row, score))
        if number(best, f"{score}_low") > number(plain[0], f"{score}_high"):
            better.append(rate)
        elif number(best, f"{score}_high") < number(plain[0], f"{score}_low"):
            worse.append(rate)
        else:
            neither.append(rate)
    return better, worse, neither


def _list_rates(rates: Sequence[float]) -> str:
    return ("rate " if len(rates) == 1 else "rates ") + ", ".join(f"{rate:.3g}" for rate in rates)
