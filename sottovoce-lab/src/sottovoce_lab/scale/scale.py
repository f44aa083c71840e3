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
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from sottovoce.errors import MissingExtraError
from sottovoce.report.page import Plot
from sottovoce.report.result import StudyResult
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.scale._plan import (
    AXES,
    QUICK,
    Measured,
    ScaleSizes,
    cases_along_axes,
    place_on,
    with_largest,
)
from sottovoce_lab.scale._rows import SHOWN, WIDE, all_rows, finding, growth
from sottovoce_lab.scale.measure import EMBEDDED, SPARK, ScaleCase, measure


def run_scale(options: StudyOptions) -> StudyResult:
    """The study as a command."""
    sizes = QUICK if options.quick else ScaleSizes()
    deadline = time.monotonic() + (sizes.seconds if options.seconds is None else options.seconds)
    measured, notes = [], list[str]()
    reason = _without_spark(sizes)
    if reason is not None:
        notes.append(reason)
    with tempfile.TemporaryDirectory() as folder:
        for axis, cases in cases_along_axes(sizes):
            for engine in (EMBEDDED, SPARK) if reason is None else (EMBEDDED,):
                chosen = [case for case in cases if case.engine == engine]
                found, left = _within_time(axis, chosen, deadline, Path(folder))
                measured += found
                if left:
                    notes.append(_left_out(axis, engine, left))
    return _result(with_largest(measured), notes, sizes)


def _within_time(
    axis: str, cases: Sequence[ScaleCase], deadline: float, folder: Path
) -> tuple[list[Measured], list[ScaleCase]]:
    """Measure while the next case, by what the last took, still fits."""
    found: list[Measured] = []
    took = 0.0
    for place, case in enumerate(cases):
        growth_of_case = place_on(axis, case) / place_on(axis, cases[max(0, place - 1)])
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


def _without_spark(sizes: ScaleSizes) -> str | None:
    if not sizes.spark_posts:
        return "Quick sizes leave Spark out."
    if find_spec("pyspark") is None:
        return f"Spark is left out: {MissingExtraError('pyspark', 'spark')}"
    if shutil.which("java") is None:
        return "Spark is left out: there is no java on this machine."
    if find_spec("sottovoce_spark.assess") is None:
        return "Spark is left out: this build has no cluster engine."
    return None


def _left_out(axis: str, engine: str, cases: Sequence[ScaleCase]) -> str:
    sizes = ", ".join(f"{place_on(axis, case):,}" for case in cases)
    return f"Time was spent before {sizes} {axis} on {engine}; give more with --seconds."


def _result(measured: Sequence[Measured], notes: list[str], sizes: ScaleSizes) -> StudyResult:
    rows = all_rows(measured, sizes)
    plots = tuple(
        Plot(
            growth(rows, axis),
            finding(measured, axis),
            f"Processor time, peak memory and bytes against {axis}, both scales logarithmic.",
        )
        for axis in AXES
    )
    return StudyResult(tuple(rows), plots, SHOWN, tuple(notes), wide=WIDE)
