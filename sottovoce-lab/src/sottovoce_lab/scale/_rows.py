"""The measurements as rows and plots: as they are, fitted, checked and multiplied.

A power of each axis is fitted to cost; a line through the smaller cases foretells the largest one,
which checks the fit; and what one post and one user take is multiplied to a billion users.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.result import Row
from sottovoce_lab.scale._plan import AXES, PEOPLE, Measured, Rates, ScaleSizes, plan
from sottovoce_lab.scale.measure import EMBEDDED, KEPT, SPARK

PANELS = {"cpu_seconds": "processor time (s)", "peak_mb": "peak memory (MB)", "mb": "bytes (MB)"}
_MARKS = {"embedded": "o", "spark": "s"}
_LEAST_POINTS = 2


class PowerLaw(NamedTuple):
    """value = factor * size ** exponent."""

    factor: float
    exponent: float

    def at(self, size: float) -> float:
        """The value at ``size``."""
        return float(self.factor * size**self.exponent)


def power_law(sizes: Sequence[float], values: Sequence[float]) -> PowerLaw | None:
    """The straight line through the logarithms, by least squares; None for fewer than two."""
    usable = [(size, value) for size, value in zip(sizes, values, strict=True) if value > 0]
    if len({size for size, _ in usable}) < _LEAST_POINTS:
        return None
    logs = np.log(np.array(usable, np.float64))
    exponent, constant = np.polyfit(logs[:, 0], logs[:, 1], 1)
    return PowerLaw(float(np.exp(constant)), float(exponent))


def straight_line(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float] | None:
    """(constant, slope) with the least squares of relative errors; None for fewer than two."""
    if len(set(sizes)) < _LEAST_POINTS:
        return None
    x, y = np.array(sizes, np.float64), np.array(values, np.float64)
    weighted = np.stack([1 / y, x / y], axis=1)
    constant, slope = np.linalg.lstsq(weighted, np.ones(y.size), rcond=None)[0]
    return float(constant), float(slope)


SHOWN = ("what", "engine", "posts", "users", "topics", "seconds", "cpu_seconds", "peak_mb", "value")
WIDE = ("scoring_cpu_seconds", "ranking_cpu_seconds", "input_mb", "state_mb", "ranks_mb")
_MB = 1e6
_BYTES_OF_A_CELL = 12


def all_rows(measured: Sequence[Measured], sizes: ScaleSizes) -> list[Row]:
    """What was measured, how it grows, whether that foretells, and what a billion would take."""
    return [
        *(_row(each) for each in measured),
        *_fit_rows(measured),
        *_check_rows(measured),
        *_plan_rows(measured, sizes),
    ]


def finding(measured: Sequence[Measured], axis: str) -> str:
    """One axis in one sentence."""
    cost = _exponent(power_law(*_points(measured, axis, "scoring_cpu_s")))
    memory = _exponent(power_law(*_points(measured, axis, "peak_bytes")))
    return (
        f"On one machine the processor time of scoring grows with the {cost} power of {axis}, "
        f"peak memory with the {memory}."
    )


def _exponent(law: PowerLaw | None) -> str:
    return "(unknown)" if law is None else f"{law.exponent:.2f}"


def _row(each: Measured) -> Row:
    case, figures = each.case, each.figures
    return _blank(
        kind="measured",
        axis=each.axis,
        place=each.place,
        what=f"against {each.axis}",
        engine=case.engine,
        posts=case.posts,
        users=case.users,
        topics=case.topics,
        seconds=figures.seconds,
        cpu_seconds=figures.cpu_s,
        scoring_cpu_seconds=figures.scoring_cpu_s,
        ranking_cpu_seconds=figures.ranking_cpu_s,
        peak_mb=figures.peak_bytes / _MB,
        input_mb=figures.input_bytes / _MB,
        state_mb=figures.state_bytes / _MB,
        ranks_mb=figures.ranks_bytes / _MB,
        shuffle_mb=figures.shuffle_bytes / _MB,
    )


def _blank(**known: str | float | None) -> Row:
    names = ("kind", "axis", "place", *SHOWN, *WIDE, "shuffle_mb", "unit", "because")
    return {**dict.fromkeys(names), **known}


def _points(
    measured: Sequence[Measured], axis: str, quantity: str, engine: str = EMBEDDED
) -> tuple[list[float], list[float]]:
    chosen = [each for each in measured if (each.axis, each.case.engine) == (axis, engine)]
    sizes = [float(each.place) for each in chosen]
    return sizes, [float(getattr(each.figures, quantity)) for each in chosen]


def _fit_rows(measured: Sequence[Measured]) -> Iterator[Row]:
    """How each quantity grows along each axis."""
    for axis in AXES:
        for engine in (EMBEDDED, SPARK):
            for quantity in (
                "scoring_cpu_s",
                "cpu_s",
                "peak_bytes",
                "state_bytes",
                "shuffle_bytes",
            ):
                law = power_law(*_points(measured, axis, quantity, engine))
                if law is not None:
                    yield _blank(
                        kind="exponent",
                        axis=axis,
                        what=f"exponent of {quantity} in {axis}",
                        engine=engine,
                        value=law.exponent,
                    )


def _check_rows(measured: Sequence[Measured]) -> Iterator[Row]:
    """The largest log as the smaller ones foretell it, on both axes along which posts grow."""
    for axis, quantity in product(("posts", "size"), ("scoring_cpu_s", "seconds")):
        sizes, values = _points(measured, axis, quantity)
        line = straight_line(sizes[:-1], values[:-1])
        if line is None:
            continue
        foretold = line[0] + line[1] * sizes[-1]
        yield _blank(
            kind="check",
            axis=axis,
            what=f"{quantity} of the largest log, foretold by the smaller ones ({axis})",
            engine=EMBEDDED,
            posts=int(sizes[-1]),
            value=foretold,
            because=f"measured {values[-1]:.4g}: off by {foretold / values[-1] - 1:+.1%}",
        )


def _plan_rows(measured: Sequence[Measured], sizes: ScaleSizes) -> Iterator[Row]:
    rates = _rates(measured, sizes)
    for line in plan(rates):
        yield _blank(
            kind="plan",
            what=f"10^9 users: {line.what}",
            value=line.value,
            unit=line.unit,
            because=line.because,
        )
    yield from _plan_check_rows(measured, rates)
    yield from _shuffle_check_rows(measured, rates)


def _plan_check_rows(measured: Sequence[Measured], rates: Rates) -> Iterator[Row]:
    """What multiplying says of a billion, against what the powers of size fitted above say."""
    planned = {
        "cpu_s": ("processor time", rates.cpu_s(PEOPLE) / 3600, 3600.0, "hours"),
        "state_bytes": ("state", PEOPLE * rates.state_bytes_per_user / 1e12, 1e12, "TB"),
    }
    for quantity, (what, value, scale, unit) in planned.items():
        law = power_law(*_points(measured, "size", quantity))
        if law is None:
            continue
        fitted = law.at(PEOPLE * rates.posts_per_user) / scale
        yield _blank(
            kind="check",
            axis="size",
            what=f"10^9 users: {what} by the fitted power of size",
            engine=EMBEDDED,
            value=fitted,
            unit=unit,
            because=f"power {law.exponent:.3f}; the plan says {value:.4g}: {value / fitted:.2f} "
            "times as much",
        )


def _shuffle_check_rows(measured: Sequence[Measured], rates: Rates) -> Iterator[Row]:
    """The bound on what is shuffled, against what Spark did shuffle for each post."""
    on_spark = [each for each in measured if each.case.engine == SPARK]
    if not on_spark:
        return
    largest = max(on_spark, key=lambda each: each.case.posts)
    of_a_post = largest.figures.shuffle_bytes / largest.case.posts
    yield _blank(
        kind="check",
        axis="posts",
        what="10^9 users: shuffle by what Spark shuffled",
        engine=SPARK,
        posts=largest.case.posts,
        value=of_a_post * PEOPLE * rates.posts_per_user / 1e12,
        unit="TB",
        because=f"{of_a_post:,.0f} bytes a post, compressed; the plan allows {rates.line_bytes:,}",
    )


def _rates(measured: Sequence[Measured], sizes: ScaleSizes) -> Rates:
    largest = max(
        (each for each in measured if each.case.engine == EMBEDDED),
        key=lambda each: each.case.posts,
    )
    case, figures = largest.case, largest.figures
    line = straight_line(*_points(measured, "posts", "scoring_cpu_s"))
    slope = line[1] if line is not None and line[1] > 0 else figures.scoring_cpu_s / case.posts
    full = ScaleSizes()
    return Rates(
        cpu_s_per_post=slope,
        ranking_cpu_s_per_user=figures.ranking_cpu_s / figures.users,
        # A user who writes every week has all slots, which a young community has not yet.
        state_bytes_per_user=max(
            figures.state_bytes / figures.users, _BYTES_OF_A_CELL * case.topics * KEPT
        ),
        line_bytes=_BYTES_OF_A_CELL * case.topics,
        posts_per_user=full.posts[-1] / full.most_users,
        rankings=-(-sizes.topics[-1] // 10),
    )


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
