"""Time, memory and bytes of one assessment against posts, users and topics.

Every case runs in a process of its own, on a simulated query log, from Parquet to ranks by
``lda-dt``; the catalogue is all latent topics. Posts grow until the time is spent.

There are four axes: ``posts`` of the same users; ``size``, posts with users in proportion, as a
community grows; ``users`` who write the same number of posts between them; and ``topics``.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from sottovoce.assess.job import Assessment
from sottovoce.assess.request import AssessRequest
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CheckFailedError
from sottovoce.parsing import parse_json
from sottovoce.report.page import COLOURS, Plot, new_panels
from sottovoce.report.result import Row, StudyResult, number
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce_lab.bench.memory import high_water_mark
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.query_log import QueryLog

MEASURE = "lda-dt"
KEPT = 3
"""As many buckets as -m asks for."""
AXES = ("size", "posts", "users", "topics")
COSTS = ("scoring_cpu_seconds", "ranking_cpu_seconds", "peak_mb", "state_mb")
SHOWN = ("kind", "axis", "posts", "users", "topics", "seconds", *COSTS)
_TOPICS_OF_A_DOMAIN = 10
_SALIENT_WORDS = 20
_ALPHA = 0.1
_MB = 1e6
_WARM_UP = QueryLog(queries=2_000, users=100, topics=10, seed=1)


@dataclass(frozen=True)
class Workload:
    """A log, the model that it was drawn from, and a catalogue of all its topics.

    Each latent topic is a topic of the catalogue, ten make a domain, and the first of each ten is
    sensitive.
    """

    log: QueryLog

    @cached_property
    def model(self) -> LdaModel:
        """The log's own distributions: training would only blur them, and take its time."""
        vocabulary = Vocabulary.public(sorted(self.log.words))
        place = {word: number for number, word in enumerate(self.log.words)}
        rows = [place[word] for word in vocabulary.terms]
        alpha = np.full(self.log.topics, _ALPHA)
        return LdaModel(self.log.phi()[rows], alpha, vocabulary, TokenRules())

    @cached_property
    def catalogue(self) -> Catalogue:
        """Every topic, matched to its dimension."""
        words, own = self.log.words, self.log.topic_words
        return Catalogue(
            tuple(
                Topic(
                    f"topic {number}",
                    tuple(words[word] for word in own[number, :_SALIENT_WORDS]),
                    f"domain {number // _TOPICS_OF_A_DOMAIN}",
                    sensitive=number % _TOPICS_OF_A_DOMAIN == 0,
                    dimensions=(number,),
                )
                for number in range(self.log.topics)
            ),
            self.model.fingerprint,
        )


@dataclass(frozen=True)
class ScaleCase:
    """What to measure."""

    posts: int
    users: int
    topics: int


@dataclass(frozen=True)
class Figures:
    """What it took, from file to ranks."""

    seconds: float
    scoring_cpu_seconds: float
    ranking_cpu_seconds: float
    peak_mb: float
    state_mb: float


def measure(case: ScaleCase, folder: Path) -> Figures:
    """Measure ``case`` in a fresh process that works in ``folder``."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(case)), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ourselves
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:]
        raise CheckFailedError(f"measuring {case} failed: {' '.join(reason)}")
    return Figures(**parse_json(done.stdout.splitlines()[-1]))


def measure_here(log: QueryLog, folder: Path) -> Figures:
    """Measure one assessment in this process, once its log is written."""
    posts, state = folder / "posts.parquet", folder / "state"
    log.write(posts)
    work = Workload(log)
    request = AssessRequest(
        None,
        measures=MEASURE,
        topics=work.catalogue,
        model=work.model,
        keep_buckets=KEPT,
        state=state,
        out=folder / "ranks.parquet",
    )
    begin, before = time.perf_counter(), time.process_time()
    assessment = Assessment(request)
    assessment.fold(posts, open_posts(posts))
    scored = time.process_time()
    assessment.save()
    return Figures(
        time.perf_counter() - begin,
        scored - before,
        time.process_time() - scored,
        high_water_mark() / _MB,
        state.stat().st_size / _MB,
    )


def cases_along_axes(*, quick: bool) -> Iterator[tuple[str, list[ScaleCase]]]:
    """The cases of each axis, the smallest first."""
    posts = [4_000, 8_000] if quick else [100_000, 300_000, 1_000_000, 3_000_000, 13_000_000]
    users = [200, 400] if quick else [10_000, 30_000, 107_000]
    topics = [10, 20] if quick else [25, 50, 100, 200]
    some_posts, some_users = (4_000, 400) if quick else (300_000, 30_000)
    yield "users", [ScaleCase(some_posts, each, topics[-1]) for each in users]
    share = users[-1] / posts[-1]
    yield "size", [ScaleCase(each, max(2, int(each * share)), topics[-1]) for each in posts]
    yield "topics", [ScaleCase(some_posts, some_users, each) for each in topics]
    yield "posts", [ScaleCase(each, users[-1], topics[-1]) for each in posts]


def run_scale(options: StudyOptions) -> StudyResult:
    """Time, memory and bytes against posts, users and topics, and a plan for 10^9 users."""
    default = 60.0 if options.quick else 180.0
    deadline = time.monotonic() + (default if options.seconds is None else options.seconds)
    rows, notes = list[Row](), list[str]()
    for axis, cases in cases_along_axes(quick=options.quick):
        measured = _measure_until(deadline, axis, cases)
        rows += measured
        if left := cases[len(measured) :]:
            sizes = ", ".join(f"{getattr(case, _column(axis)):,}" for case in left)
            notes.append(f"Time was spent before {sizes} {axis}; give more with --seconds.")
    rows += [row for axis in AXES if (row := _exponents(rows, axis))]
    plots = tuple(
        Plot(
            draw_growth(rows, axis),
            describe_growth(rows, axis),
            f"Processor time, memory and bytes against {axis}, both scales logarithmic.",
        )
        for axis in AXES
    )
    return StudyResult(tuple(rows), plots, SHOWN, tuple(notes))


def _measure_until(deadline: float, axis: str, cases: Sequence[ScaleCase]) -> list[Row]:
    """Measure while the next case, by what the last took, still fits."""
    rows, took = list[Row](), 0.0
    places = [getattr(case, _column(axis)) for case in cases]
    for at, case in enumerate(cases):
        growth = places[at] / places[max(0, at - 1)]
        # Two points make a line, so as many are always measured.
        if at > 1 and time.monotonic() + took * growth > deadline:
            break
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(case, Path(folder))
        took = time.monotonic() - begin
        rows.append({"kind": "measured", "axis": axis, **asdict(case), **asdict(figures)})
    return rows


def _column(axis: str) -> str:
    """What is counted along an axis."""
    return "posts" if axis == "size" else axis


def _points(rows: Sequence[Row], axis: str, quantity: str) -> tuple[list[float], list[float]]:
    own = [row for row in rows if (row["kind"], row["axis"]) == ("measured", axis)]
    return [number(row, _column(axis)) for row in own], [number(row, quantity) for row in own]


def fit_power(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """The exponent of the power law through the points; None where fewer than two can be used."""
    usable = [(size, value) for size, value in zip(sizes, values, strict=True) if value > 0]
    if len({size for size, _ in usable}) < 2:  # noqa: PLR2004 - a line has two points
        return None
    logs = np.log(np.array(usable, np.float64))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def _exponents(rows: Sequence[Row], axis: str) -> Row:
    quantities = ("seconds", *COSTS)
    fitted = {name: fit_power(*_points(rows, axis, name)) for name in quantities}
    blank = dict.fromkeys(("posts", "users", "topics"))
    return {"kind": "exponent", "axis": axis, **blank, **fitted}


def describe_growth(rows: Sequence[Row], axis: str) -> str:
    """One axis in one sentence."""
    cost, memory = (fit_power(*_points(rows, axis, each)) for each in (COSTS[0], COSTS[2]))
    shown = ["(unknown)" if each is None else f"{each:.2f}" for each in (cost, memory)]
    return (
        f"The processor time of scoring grows with the {shown[0]} power of {axis}, "
        f"peak memory with the {shown[1]}."
    )


def draw_growth(rows: Sequence[Row], axis: str) -> Figure:
    """A panel for each cost against ``axis``, both scales logarithmic."""
    figure, panels = new_panels(len(COSTS), width=9.5, height=3.4)
    for panel, name in zip(panels, COSTS, strict=True):
        panel.plot(*_points(rows, axis, name), marker="o", color=COLOURS[0])
        panel.set(xscale="log", yscale="log", title=name.replace("_", " "), xlabel=axis)
    return figure


def main(case: str, folder: str) -> None:
    """What the process does."""
    asked = ScaleCase(**parse_json(case))
    with tempfile.TemporaryDirectory(dir=folder) as small:
        measure_here(_WARM_UP, Path(small))
    figures = measure_here(QueryLog(asked.posts, asked.users, asked.topics), Path(folder))
    sys.stdout.write("\n" + json.dumps(asdict(figures)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
