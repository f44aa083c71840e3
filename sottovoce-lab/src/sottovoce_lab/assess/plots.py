"""Plots of the assess studies: measures, personas and levels of difficulty."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from sottovoce.assess.evaluation.runs import POSTS, RANDOM
from sottovoce.loop.subject import DEFAULT
from sottovoce.report.page import COLOURS, INK, Plot, legend_below, new_panels
from sottovoce.report.result import Row, number
from sottovoce_lab.assess.outcomes import PERSONAS, SPACES, VARIANTS
from sottovoce_lab.communities import LEVELS

MARKERS = "os^Dvx"
SPACE_COLOUR = dict(zip(SPACES, COLOURS, strict=False))
LEVEL_MEASURES = ("ent", "w2v", "w2v-dt", "lda", "lda-dt", RANDOM)


def main_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of the default difficulty, or of the only community."""
    levels = [row["community"] for row in rows]
    chosen = DEFAULT if DEFAULT in levels else levels[0]
    return [row for row in rows if row["community"] == chosen]


def by_measure(rows: Sequence[Row]) -> Plot:
    """MAP and NDCG of every measure, with intervals."""
    own = main_rows(rows)
    figure, panels = new_panels(2, width=8.2, height=0.8 + 0.24 * len(own))
    for axes, metric in zip(panels, ("map", "ndcg"), strict=True):
        for place, row in enumerate(own):
            _dot(axes, row, metric, place)
        axes.set(title=metric.upper(), yticks=range(len(own)))
        axes.set_yticklabels([str(row["measure"]) for row in own])
        axes.invert_yaxis()
    best = max(own, key=lambda row: number(row, "ndcg"))
    finding = (
        f"Highest NDCG: {best['measure']}, {number(best, 'ndcg'):.3f}, and its MAP is "
        f"{number(best, 'map'):.3f}; {_describe_rows(own)}."
    )
    return Plot(figure, finding, f"Dots with 95% intervals, a row for each measure. {finding}")


def by_persona(rows: Sequence[Row]) -> Plot:
    """Where personas stand under strength, -D, -T and -DT, a panel for each space."""
    own = {str(row["measure"]): row for row in main_rows(rows)}
    spaces = [space for space in SPACES if space in own]
    figure, panels = new_panels(len(spaces), width=1.2 + 2.6 * len(spaces), share_y=True)
    for axes, space in zip(panels, spaces, strict=True):
        for place, persona in enumerate(PERSONAS):
            if own[space].get(persona) is not None:
                draw_line(axes, [own[space + variant] for variant in VARIANTS], persona, place)
        axes.set(title=space, xticks=range(len(VARIANTS)))
        axes.set_xticklabels(["strength", "-D", "-T", "-DT"])
    panels[0].set_ylabel("share of the community below")
    legend_below(figure, 5)
    finding = "; ".join(_moves(own, space) for space in spaces) + "."
    return Plot(figure, finding, f"Mean standing by persona, 1 is most exposed. {finding}")


def by_level(rows: Sequence[Row]) -> Plot:
    """NDCG over the levels of difficulty and in the control."""
    levels = [level for level in LEVELS if any(row["community"] == level for row in rows)]
    figure, panels = new_panels(1, width=7.0, height=3.6)
    shown = [name for name in LEVEL_MEASURES if any(row["measure"] == name for row in rows)]
    for place, measure in enumerate(shown):
        own = {row["community"]: row for row in rows if row["measure"] == measure}
        draw_line(panels[0], [own[level] for level in levels], "ndcg", place, measure)
    panels[0].set(xticks=range(len(levels)), ylabel="NDCG")
    panels[0].set_xticklabels(levels)
    legend_below(figure, 6)
    last = {
        str(row["measure"]): number(row, "ndcg") for row in rows if row["community"] == levels[-1]
    }
    finding = f"NDCG at {levels[-1]}: " + ", ".join(f"{name} {last[name]:.3f}" for name in shown)
    return Plot(figure, f"{finding}.", f"Lines over levels of difficulty. {finding}.")


def _bars(rows: Sequence[Row], column: str) -> tuple[list[float], list[list[float]]]:
    """The values of a column, and how far its intervals reach below and above them."""
    values = [number(row, column) for row in rows]
    lows = [number(row, column) - number(row, f"{column}_low") for row in rows]
    highs = [number(row, f"{column}_high") - number(row, column) for row in rows]
    return values, [[max(0.0, each) for each in reach] for reach in (lows, highs)]


def _dot(axes: Axes, row: Row, metric: str, place: int) -> None:
    values, reach = _bars([row], metric)
    colour = SPACE_COLOUR.get(str(row["measure"]).partition("-")[0], INK)
    axes.errorbar(values, [place], xerr=reach, color=colour, marker="o", markersize=4, capsize=2)


def draw_line(
    axes: Axes, rows: Sequence[Row], column: str, place: int, label: str | None = None
) -> None:
    """A line over places 0, 1, ..., with error bars; lines of different ``place`` stand apart."""
    values, reach = _bars(rows, column)
    axes.errorbar(
        [at + 0.04 * (place - 2) for at in range(len(values))],
        values,
        yerr=reach,
        color=COLOURS[place % len(COLOURS)],
        marker=MARKERS[place],
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label=label or column,
    )


def _describe_rows(rows: Sequence[Row]) -> str:
    found = {str(row["measure"]): number(row, "map") for row in rows}
    names = [name for name in ("ent", "diff-priv", POSTS, RANDOM) if name in found]
    return "MAP of " + ", ".join(f"{name} {found[name]:.3f}" for name in names)


def _moves(own: dict[str, Row], space: str) -> str:
    if own[space].get("professional") is None:
        return f"{space}: personas unknown"
    before, broad, lasting = own[space], own[f"{space}-d"], own[f"{space}-t"]
    return (
        f"{space}: -D moves professionals from {number(before, 'professional'):.2f} to "
        f"{number(broad, 'professional'):.2f}, -T the curious from "
        f"{number(before, 'curious'):.2f} to {number(lasting, 'curious'):.2f}"
    )
