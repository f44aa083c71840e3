"""How time, memory and bytes grow."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.study.result import Row

PANELS = {"cpu_seconds": "processor time (s)", "peak_mb": "peak memory (MB)", "mb": "bytes (MB)"}
_MARKS = {"embedded": "o", "spark": "s"}


def growth(rows: Sequence[Row], axis: str) -> Figure:
    """One panel each for time, memory and bytes against ``axis``, a line for each engine."""
    figure, panels = new_panels(3, width=9.5, height=3.4)
    measured = [row for row in rows if row["kind"] == "measured" and row["axis"] == axis]
    for panel, (name, title) in zip(panels, PANELS.items(), strict=True):
        for number, engine in enumerate(_MARKS):
            points = sorted(
                (float(str(row["place"])), float(str(row[_column(name, engine)])))
                for row in measured
                if row["engine"] == engine
            )
            if points:
                panel.plot(
                    *zip(*points, strict=True),
                    marker=_MARKS[engine],
                    color=COLOURS[number],
                    label=_label(name, engine),
                )
        panel.set(xscale="log", yscale="log", title=title, xlabel=axis)
    _proportional(panels[0], measured)
    legend_below(figure, 4)
    return figure


def _column(name: str, engine: str) -> str:
    if name != "mb":
        return name
    return "state_mb" if engine == "embedded" else "shuffle_mb"


def _label(name: str, engine: str) -> str:
    if name != "mb":
        return engine
    return f"{engine}: {'state' if engine == 'embedded' else 'shuffle'}"


def _proportional(panel: Axes, measured: Sequence[Row]) -> None:
    """A line through the largest case along which cost is proportional."""
    own = [row for row in measured if row["engine"] == "embedded"]
    if not own:
        return
    largest = max(own, key=lambda row: float(str(row["place"])))
    least = min(float(str(row["place"])) for row in own)
    size, value = float(str(largest["place"])), float(str(largest["cpu_seconds"]))
    panel.plot(
        [least, size],
        [value * least / size, value],
        linestyle=":",
        color=INK,
        linewidth=1,
        label="proportional",
    )
