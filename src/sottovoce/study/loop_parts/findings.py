"""What the loop's numbers say, in sentences and figures."""

from collections.abc import Mapping, Sequence
from typing import cast

from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.study.loop_parts.frontier import in_order
from sottovoce.study.loop_parts.rows import FOUND, KEPT
from sottovoce.study.result import Row, number

LABELS = {FOUND: "share of the afflicted found", KEPT: "share of the top 5% who stay there"}
LEVELS = {
    "r_precision_posts": "from the posts themselves",
    "r_precision_rows": "by the number of documents",
    "r_precision_luck": "the luckiest of as many random orders",
    "r_precision_chance": "chance",
}
NOTES = (
    (
        "The adversary reads the published counts as they are, or through the known law of the "
        "noise, whichever serves him; he ranks by any of the measures, or by a plain tally of a "
        "topic's words. The one who does best is shown: a user must reckon with him."
    ),
    (
        "Found is his R-precision: as many people are picked from the top of his ranking as are "
        "afflicted, and this share of them are. Which adversary does best is seen afterwards, so "
        "that of nothing but noise the best stands a little above chance: that level is shown, too."
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


def level_lines(levels: Mapping[str, float]) -> dict[str, float]:
    """The levels to draw, by the names people read."""
    return {name: levels[key] for key, name in LEVELS.items() if key in levels}


def finding(rows: Sequence[Row], levels: Mapping[str, float], exposure: str) -> str:
    """What happens to exposure from no noise to the strongest setting."""
    plain = [row for row in rows if row["compression"] == "none"] or list(rows)
    ordered = in_order(plain)
    first, last = ordered[0], ordered[-1]
    text = (
        f"The {LABELS[exposure]} goes from {number(first, exposure):.2f} without noise to "
        f"{number(last, exposure):.2f} at {number(last, 'rate'):.3g} nats a word"
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
        f"{chosen['precision']}, epsilon {chosen['epsilon']}: {number(chosen, exposure):.2f} are "
        f"found, the topic Jaccard is {number(chosen, 'jaccard'):.2f}, the accuracy "
        f"{number(chosen, 'accuracy'):.2f}.{warning} {promise.in_words()}"
    )


def by_rate(rows: Sequence[Row], levels: Mapping[str, float], exposure: str) -> Plot:
    """Exposure against the rate, every adversary a line, for the release of every word."""
    plain = [row for row in rows if row["compression"] == "none"] or list(rows)
    noisy = [row for row in in_order(plain) if row["rate"] is not None]
    figure, (axes,) = new_panels(1, width=7.5, height=4.4)
    views = [name for name in noisy[0] if name.startswith(f"{exposure}: ")]
    for place, name in enumerate(views):
        axes.plot(
            [number(row, "rate") for row in noisy],
            [number(row, name) for row in noisy],
            color=COLOURS[place % len(COLOURS)],
            linestyle="-" if place < len(COLOURS) else "--",
            marker="o",
            markersize=3,
            linewidth=1.2,
            label=name.removeprefix(f"{exposure}: "),
        )
    for (name, level), dashes in zip(level_lines(levels).items(), "-:.-", strict=False):
        axes.axhline(
            level,
            color=INK,
            linewidth=0.8,
            linestyle={"-": "-", ":": ":", ".": "-."}[dashes],
            label=name,
        )
    axes.set(
        xscale="log",
        xlabel="epsilon/N, nats a word (left: more private)",
        ylabel=LABELS[exposure],
        ylim=(0, None),
    )
    legend_below(figure, 3)
    strongest = noisy[-1]
    best = max(views, key=lambda name: number(strongest, name))
    text = (
        f"From {number(noisy[0], 'rate'):.3g} to {number(strongest, 'rate'):.3g} nats a word what "
        f"the best adversary finds goes from {max(number(noisy[0], name) for name in views):.2f} "
        f"to {number(strongest, best):.2f}."
    )
    return Plot(figure, text, f"{LABELS[exposure]} against epsilon/N, a line an adversary. {text}")
