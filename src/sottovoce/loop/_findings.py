"""What the loop's numbers say: sentences and figures."""

from collections.abc import Mapping, Sequence
from typing import cast

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from sottovoce.loop._adversary import is_simple
from sottovoce.loop._round import FOUND, KEPT
from sottovoce.loop._verdict import LABELS, end_of
from sottovoce.privacy.exact import in_nats
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, number

_MARKERS = "os^Dv"
DASHES = ("-", "--", "-.", ":")
PANELS = {"jaccard": "topic Jaccard", "accuracy_true": "accuracy of the classifier, true documents"}


def frontier(
    rows: Sequence[Row],
    exposure: str,
    levels: Mapping[str, float],
    *,
    label: str,
    limit: float,
    chosen: Row | None,
    finding: str,
) -> Plot:
    """A point a setting: right is useful, low is private; a line a method, weak to strong."""
    # Few communities give wild intervals; what is drawn is a share all the same.
    top = min(1.0, 1.25 * max(*(number(row, exposure) for row in rows), *levels.values(), limit))
    figure, panels = new_panels(len(PANELS), width=9.5, height=4.4, share_y=True)
    for axes, (score, title) in zip(panels, PANELS.items(), strict=True):
        _draw_methods(axes, rows, exposure, score)
        for (name, level), dashes in zip(levels.items(), DASHES, strict=False):
            axes.axhline(level, color=INK, linewidth=1, linestyle=dashes, label=name)
        axes.axhspan(0, limit, color=COLOURS[0], alpha=0.08)
        if chosen is not None:
            axes.plot(
                number(chosen, score),
                number(chosen, exposure),
                marker="o",
                markersize=13,
                fillstyle="none",
                color=INK,
                linestyle="none",
                label="recommended",
            )
        axes.set(xlabel=f"{title} (right: more useful)", ylim=(0, top))
        axes.margins(x=0.2)  # room for the points' names
    panels[0].set_xscale("log")
    panels[0].xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    panels[0].xaxis.set_minor_formatter(NullFormatter())
    panels[0].xaxis.set_major_locator(FixedLocator([0.05, 0.1, 0.2, 0.5, 1.0]))
    panels[0].set_ylabel(f"{label} (low: more private)")
    figure.suptitle("Each point a setting; the number beside it is ε/N", fontsize=9)
    legend_below(figure, 3)
    description = f"{label} against usefulness, a point for each setting. {finding}"
    return Plot(figure, finding, description)


def _draw_methods(axes: Axes, rows: Sequence[Row], exposure: str, score: str) -> None:
    methods = list(dict.fromkeys(cast("str", row["method"]) for row in rows))
    for method, colour, marker in zip(methods, COLOURS, _MARKERS, strict=False):
        own = in_order([row for row in rows if row["method"] == method])
        across = [number(row, score) for row in own]
        up = [number(row, exposure) for row in own]
        error = [value - end_of(row, exposure, "low") for value, row in zip(up, own, strict=True)]
        axes.errorbar(
            across,
            up,
            yerr=error,
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.2,
            elinewidth=0.6,
            capsize=2,
            label=method,
        )
        if method == methods[0]:  # the others have the same settings in the same order
            _name_points(axes, own, across, up)


def _name_points(
    axes: Axes, rows: Sequence[Row], across: Sequence[float], up: Sequence[float]
) -> None:
    for x, y, row in zip(across, up, rows, strict=True):
        axes.annotate(
            _named(row),
            (x, y),
            textcoords="offset points",
            xytext=(4, -12) if row["epsilon"] is None else (-6, 4),
            fontsize=8,
            color=INK,
            horizontalalignment="left" if row["epsilon"] is None else "right",
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.5},
            zorder=5,
        )


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Without noise first, then from weak to strong privacy."""
    return sorted(rows, key=lambda row: -number(row, "rate") if row["rate"] is not None else -1e9)


def _named(row: Row) -> str:
    return "no noise" if row["epsilon"] is None else f"{number(row, 'rate'):.3g}"


LEVELS = {
    "r_precision_posts": "from the posts themselves",
    "r_precision_rows": "by the number of documents",
    "r_precision_luck": "the luckiest of as many random orders",
    "r_precision_chance": "chance",
}
_MEANING = {
    FOUND: (
        "Found is their R-precision: as many people are picked from the top of the ranking as the "
        "topic concerns, and it concerns this share of them. Which adversary does best is seen "
        "afterwards, so that of nothing but noise the best stands a little above chance: that is "
        "shown, too."
    ),
    KEPT: (
        "Nobody said whom topics concern (--truth), so what counts is who stays at the top: of the "
        "first 5% by their posts, the share who are in the first 5% of the release. Of nothing but "
        "noise that is 0.05 for one adversary, and more for the best of several."
    ),
}
_NOTES = (
    (
        "Adversaries read a release as its friends do: what a cell says of its count, topics "
        "learnt from the release, and the likelihood of all documents of a person if the topic "
        "concerns them. Simpler ones, who clip counts at zero or take them to be geometric, or "
        "add up a topic's words, are beside them. The one who does best is shown: a user must "
        "reckon with them."
    ),
    (
        "How many documents somebody has is public in a release; what ranking by that alone finds "
        "is shown beside."
    ),
    (
        "The promise is about one document, which is what a user wrote in a week, or in all; "
        "documents of one user that say the same add up. Settings of one rate epsilon/N are the "
        "same release."
    ),
)
_HARDLY = 1.5


def notes(exposure: str) -> tuple[str, ...]:
    """How to read the numbers, by what stands for exposure."""
    first, *others = _NOTES
    return (first, _MEANING[exposure], *others)


def level_lines(levels: Mapping[str, float]) -> dict[str, float]:
    """The levels to draw, by the names people read."""
    return {name: levels[key] for key, name in LEVELS.items() if key in levels}


def finding(rows: Sequence[Row], levels: Mapping[str, float], exposure: str) -> str:
    """What happens to exposure from no noise to the strongest setting."""
    plain = [row for row in rows if row["compression"] == "none"] or list(rows)
    ordered = in_order(plain)
    first, last = ordered[0], ordered[-1]
    rate = in_nats(f"{number(last, 'rate'):.3g}")
    text = (
        f"The {LABELS[exposure]} goes from {number(first, exposure):.2f} without noise to "
        f"{number(last, exposure):.2f} at {rate} per word"
    )
    if exposure == FOUND:
        text += (
            f" (chance {levels['r_precision_chance']:.2f}, the luckiest of as many random orders "
            f"{levels['r_precision_luck']:.2f}; from the posts themselves "
            f"{levels['r_precision_posts']:.2f})"
        )
    return (
        f"{text}; the topic Jaccard from {number(first, 'jaccard'):.2f} to "
        f"{number(last, 'jaccard'):.2f}."
    )


def advice(chosen: Row | None, exposure: str, limit: float) -> str:
    """The setting to take for a stated limit, and what it promises."""
    if chosen is None:
        return (
            f"No setting that was tried keeps the {LABELS[exposure]} below {limit:g}: try a "
            "smaller epsilon, or do not release."
        )
    promise = LimitedPrecision(cast("int", chosen["precision"]), cast("str", chosen["epsilon"]))
    useless = number(chosen, "jaccard") <= _HARDLY * number(chosen, "jaccard_chance")
    warning = " At that its topics are hardly better than random ones." if useless else ""
    return (
        f"To keep the {LABELS[exposure]} below {limit:g}, take {chosen['method']} at N="
        f"{chosen['precision']}, epsilon {chosen['epsilon']}: that share is "
        f"{number(chosen, exposure):.2f}, the topic Jaccard {number(chosen, 'jaccard'):.2f}, the "
        f"accuracy {number(chosen, 'accuracy_true'):.2f} on true documents "
        f"({number(chosen, 'accuracy_majority'):.2f} by always saying the commoner label), the "
        f"error of topics' totals {number(chosen, 'totals_error'):.2f}.{warning} "
        f"{promise.in_words()}"
    )


def by_rate(rows: Sequence[Row], levels: Mapping[str, float], exposure: str) -> Plot:
    """Exposure against the rate, every way of reading a line, for the release of every word."""
    plain = [row for row in rows if row["compression"] == "none"] or list(rows)
    noisy = [row for row in in_order(plain) if row["rate"] is not None]
    figure, (axes,) = new_panels(1, width=7.5, height=4.4)
    reached = _by_reading(noisy, exposure)
    for place, (reading, found) in enumerate(reached.items()):
        axes.plot(
            [number(row, "rate") for row in noisy],
            found,
            color=COLOURS[place % len(COLOURS)],
            linestyle="--" if is_simple((reading, "")) else "-",
            marker=_MARKERS[place % len(_MARKERS)],
            markersize=4,
            linewidth=1.2,
            label=reading,
        )
    for (name, level), dashes in zip(level_lines(levels).items(), DASHES, strict=False):
        axes.axhline(level, color=INK, linewidth=0.8, linestyle=dashes, label=name)
    rates = sorted({number(row, "rate") for row in noisy})
    axes.set(
        xscale="log",
        xlabel="epsilon/N, nats per word (left: more private)",
        ylabel=LABELS[exposure],
        ylim=(0, None),
    )
    axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.set_xticks([], minor=True)
    legend_below(figure, 3)
    text = (
        f"From {number(noisy[0], 'rate'):.3g} to {number(noisy[-1], 'rate'):.3g} nats per word the "
        f"{LABELS[exposure]}, by the best adversary, goes from "
        f"{max(found[0] for found in reached.values()):.2f} to "
        f"{max(found[-1] for found in reached.values()):.2f}."
    )
    about = f"{LABELS[exposure]} against epsilon/N, a line a way of reading. {text}"
    return Plot(figure, text, about)


def _by_reading(rows: Sequence[Row], exposure: str) -> dict[str, list[float]]:
    """What each way of reading reaches at its best measure, setting by setting."""
    start = f"{exposure}: "
    views = [name for name in rows[0] if name.startswith(start)]
    readings = dict.fromkeys(name.removeprefix(start).split(", ")[0] for name in views)
    return {
        reading: [
            max(number(row, name) for name in views if name.startswith(start + reading))
            for row in rows
        ]
        for reading in readings
    }
