"""Time, memory and bytes against posts, users and topics, and what a billion users would take.

Every case runs in a process of its own, on a simulated query log, from Parquet to ranks by
``lda-dt``; the catalogue is all latent topics. Posts grow until the time is spent. Spark is
measured where it is installed, on this machine's cores: that shows its overhead, not a cluster.

There are four axes: ``posts`` of the same users; ``size``, posts with users in proportion, as a
community grows; ``users`` who write the same number of posts between them; and ``topics``.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sottovoce.errors import MissingExtraError
from sottovoce.report.page import Plot
from sottovoce.study.options import Options
from sottovoce.study.result import Row, StudyResult
from sottovoce.study.scale_parts.fits import PowerLaw, power_law, straight_line
from sottovoce.study.scale_parts.measured import EMBEDDED, SPARK, Case, Figures, measure
from sottovoce.study.scale_parts.plan import Rates, plan
from sottovoce.study.scale_parts.plots import growth
from sottovoce.study.scale_parts.workload import KEPT

SHOWN = ("what", "engine", "posts", "users", "topics", "seconds", "cpu_seconds", "peak_mb", "value")
WIDE = ("scoring_cpu_seconds", "ranking_cpu_seconds", "input_mb", "state_mb", "ranks_mb")
AXES = ("size", "posts", "users", "topics")
_MB = 1e6
_BYTES_OF_A_CELL = 12


@dataclass(frozen=True)
class Sizes:
    """What is measured."""

    posts: tuple[int, ...] = (100_000, 300_000, 1_000_000, 3_000_000, 13_000_000)
    users: tuple[int, ...] = (10_000, 30_000, 107_000)
    topics: tuple[int, ...] = (25, 50, 100, 200)
    some_posts: int = 300_000
    some_users: int = 30_000
    spark_posts: tuple[int, ...] = (100_000, 300_000, 1_000_000)
    seconds: float = 180.0

    @property
    def most_users(self) -> int:
        """The size of the community whose posts grow."""
        return self.users[-1]


QUICK = Sizes(
    posts=(4_000, 8_000),
    users=(200, 400),
    topics=(10, 20),
    some_posts=4_000,
    some_users=400,
    spark_posts=(),
    seconds=60.0,
)


@dataclass(frozen=True)
class Measured:
    """A case along one axis, and what it took."""

    axis: str
    case: Case
    figures: Figures

    @property
    def place(self) -> int:
        """Where on the axis."""
        return _place(self.axis, self.case)


def run_scale(options: Options) -> StudyResult:
    """The study as a command."""
    sizes = QUICK if options.quick else Sizes()
    deadline = time.monotonic() + (sizes.seconds if options.seconds is None else options.seconds)
    measured, notes = [], list[str]()
    reason = _without_spark(sizes)
    if reason is not None:
        notes.append(reason)
    with tempfile.TemporaryDirectory() as folder:
        for axis, cases in _axes(sizes):
            for engine in (EMBEDDED, SPARK) if reason is None else (EMBEDDED,):
                chosen = [case for case in cases if case.engine == engine]
                found, left = _within_time(axis, chosen, deadline, Path(folder))
                measured += found
                if left:
                    notes.append(_left_out(axis, engine, left))
    return _result(_with_largest(measured), notes, sizes)


def _with_largest(measured: list[Measured]) -> list[Measured]:
    """The largest log, whose posts are in proportion to its users, is on both axes."""
    most = [each for each in measured if each.axis == "posts" and each.case.engine == EMBEDDED]
    full = [each for each in most if each.case.posts == max(Sizes().posts)]
    return measured + [Measured("size", each.case, each.figures) for each in full]


def _axes(sizes: Sizes) -> Iterator[tuple[str, list[Case]]]:
    most = sizes.topics[-1]
    some = (sizes.some_posts, sizes.some_users)
    yield "users", [Case(EMBEDDED, some[0], users, most) for users in sizes.users]
    shares = [(posts, posts * sizes.most_users // sizes.posts[-1]) for posts in sizes.posts]
    yield "size", [Case(EMBEDDED, posts, max(2, users), most) for posts, users in shares[:-1]]
    yield "topics", [Case(EMBEDDED, *some, topics) for topics in sizes.topics]
    ours = [Case(EMBEDDED, posts, sizes.most_users, most) for posts in sizes.posts]
    yield (
        "posts",
        ours + [Case(SPARK, posts, sizes.most_users, most) for posts in sizes.spark_posts],
    )


def _within_time(
    axis: str, cases: Sequence[Case], deadline: float, folder: Path
) -> tuple[list[Measured], list[Case]]:
    """Measure while the next case, by what the last took, still fits."""
    found: list[Measured] = []
    took = 0.0
    for place, case in enumerate(cases):
        growth_of_case = _place(axis, case) / _place(axis, cases[max(0, place - 1)])
        expected = took * growth_of_case
        # Two points make a line, so as many are always measured.
        if len(found) > 1 and time.monotonic() + expected > deadline:
            return found, list(cases[place:])
        begin = time.monotonic()
        own = folder / f"{axis}-{case.engine}-{place}"
        own.mkdir()
        found.append(Measured(axis, case, measure(case, own)))
        shutil.rmtree(own)
        took = time.monotonic() - begin
    return found, []


def _without_spark(sizes: Sizes) -> str | None:
    if not sizes.spark_posts:
        return "Quick sizes leave Spark out."
    if find_spec("pyspark") is None:
        return f"Spark is left out: {MissingExtraError('pyspark', 'spark')}"
    if shutil.which("java") is None:
        return "Spark is left out: there is no java on this machine."
    if find_spec("sottovoce.cluster.assess_files") is None:
        return "Spark is left out: this build has no cluster engine."
    return None


def _left_out(axis: str, engine: str, cases: Sequence[Case]) -> str:
    sizes = ", ".join(f"{_place(axis, case):,}" for case in cases)
    return f"Time was spent before {sizes} {axis} on {engine}; give more with --seconds."


def _result(measured: Sequence[Measured], notes: list[str], sizes: Sizes) -> StudyResult:
    rows = [_row(each) for each in measured]
    rows += [*_fit_rows(measured), *_check_rows(measured), *_plan_rows(measured, sizes)]
    plots = tuple(
        Plot(
            growth(rows, axis),
            _finding(measured, axis),
            f"Processor time, peak memory and bytes against {axis}, both scales logarithmic.",
        )
        for axis in AXES
    )
    return StudyResult(tuple(rows), plots, SHOWN, tuple(notes), wide=WIDE)


def _place(axis: str, case: Case) -> int:
    return {
        "size": case.posts,
        "posts": case.posts,
        "users": case.users,
        "topics": case.topics,
    }[axis]


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
    """The largest log as the smaller ones foretell it."""
    for quantity in ("scoring_cpu_s", "seconds"):
        sizes, values = _points(measured, "posts", quantity)
        line = straight_line(sizes[:-1], values[:-1])
        if line is None:
            continue
        foretold = line[0] + line[1] * sizes[-1]
        yield _blank(
            kind="check",
            axis="posts",
            what=f"{quantity} of the largest log, foretold by the smaller ones",
            engine=EMBEDDED,
            posts=int(sizes[-1]),
            value=foretold,
            because=f"measured {values[-1]:.4g}: off by {foretold / values[-1] - 1:+.1%}",
        )


def _plan_rows(measured: Sequence[Measured], sizes: Sizes) -> Iterator[Row]:
    for line in plan(_rates(measured, sizes)):
        yield _blank(
            kind="plan",
            what=f"10^9 users: {line.what}",
            value=line.value,
            unit=line.unit,
            because=line.because,
        )


def _rates(measured: Sequence[Measured], sizes: Sizes) -> Rates:
    largest = max(
        (each for each in measured if each.case.engine == EMBEDDED),
        key=lambda each: each.case.posts,
    )
    case, figures = largest.case, largest.figures
    line = straight_line(*_points(measured, "posts", "scoring_cpu_s"))
    slope = line[1] if line is not None and line[1] > 0 else figures.scoring_cpu_s / case.posts
    full = Sizes()
    return Rates(
        cpu_s_per_post=slope,
        ranking_cpu_s_per_user=figures.ranking_cpu_s / figures.users,
        # A user of every week has all her slots, which a young community has not yet.
        state_bytes_per_user=max(
            figures.state_bytes / figures.users, _BYTES_OF_A_CELL * case.topics * KEPT
        ),
        line_bytes=_BYTES_OF_A_CELL * case.topics,
        posts_per_user=full.posts[-1] / full.most_users,
        rankings=-(-sizes.topics[-1] // 10),
    )


def _finding(measured: Sequence[Measured], axis: str) -> str:
    cost = _exponent(power_law(*_points(measured, axis, "scoring_cpu_s")))
    memory = _exponent(power_law(*_points(measured, axis, "peak_bytes")))
    return (
        f"On one machine the processor time of scoring grows with the {cost} power of {axis}, "
        f"peak memory with the {memory}."
    )


def _exponent(law: PowerLaw | None) -> str:
    return "(unknown)" if law is None else f"{law.exponent:.2f}"
