"""One assessment measured in a process of its own; run as a module.

The process simulates a log, warms up on a small one, and then goes from the file to ranks and state
on one engine. Making the log is not counted.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sottovoce.assess.job import Assessment, Request
from sottovoce.corpus.reading import ReadOptions, open_posts
from sottovoce.corpus.simulate.query_log import QueryLog
from sottovoce.errors import CheckFailedError
from sottovoce.study.scale_parts.usage import Usage, usage
from sottovoce.study.scale_parts.workload import KEPT, MEASURE, Workload

EMBEDDED, SPARK = "embedded", "spark"
_WARM_UP = QueryLog(queries=2_000, users=100, topics=10, seed=1)


@dataclass(frozen=True)
class Case:
    """What to measure."""

    engine: str
    posts: int
    users: int
    topics: int


@dataclass(frozen=True)
class Figures:
    """What it took. Spark's scoring and ranking are one; it keeps no state, and shuffles."""

    scoring_s: float
    ranking_s: float
    scoring_cpu_s: float
    ranking_cpu_s: float
    peak_bytes: int
    input_bytes: int
    state_bytes: int
    ranks_bytes: int
    shuffle_bytes: int
    users: int

    @property
    def seconds(self) -> float:
        """From file to ranks, by the clock."""
        return self.scoring_s + self.ranking_s

    @property
    def cpu_s(self) -> float:
        """The same in processor time, which a busy machine changes little."""
        return self.scoring_cpu_s + self.ranking_cpu_s


def measure(case: Case, folder: Path) -> Figures:
    """Measure ``case`` in a fresh process that works in ``folder``."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(case)), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ourselves
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:]
        raise CheckFailedError(f"measuring {case} failed: {' '.join(reason)}")
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def embedded(log: QueryLog, folder: Path) -> Figures:
    """On this machine alone."""
    posts, state, ranks = folder / "posts.parquet", folder / "state", folder / "ranks.parquet"
    size = log.write(posts)
    work = Workload(log)
    request = Request((MEASURE,), catalogue=work.catalogue, spaces=(work.model,), kept=KEPT)
    marks = [_mark()]
    assessment = Assessment(request, state)
    assessment.fold(posts, open_posts(posts))
    marks.append(_mark())
    assessment.save(ranks)
    marks.append(_mark())
    (begin, before), (middle, scored), (end, ranked) = marks
    return Figures(
        scoring_s=middle - begin,
        ranking_s=end - middle,
        scoring_cpu_s=scored.cpu_s - before.cpu_s,
        ranking_cpu_s=ranked.cpu_s - scored.cpu_s,
        peak_bytes=ranked.peak_bytes,
        input_bytes=size,
        state_bytes=state.stat().st_size,
        ranks_bytes=ranks.stat().st_size,
        shuffle_bytes=0,
        users=len(assessment.state),
    )


def on_spark(log: QueryLog, folder: Path) -> Figures:
    """On a Spark of this machine's cores, once it has started and warmed up."""
    from sottovoce.cluster.assess import Plan  # noqa: PLC0415 - an extra
    from sottovoce.cluster.assess_files import assess_files  # noqa: PLC0415 - an extra
    from sottovoce.cluster.session import open_session  # noqa: PLC0415 - an extra

    posts, ranks = folder / "posts.parquet", folder / "ranks"
    size = log.write(posts)
    with open_session("local[*]", settings={"spark.ui.enabled": "false"}) as session:

        def run(log: QueryLog, source: Path, out: Path) -> int:
            work = Workload(log)
            plan = Plan(work.catalogue, (work.model,), (MEASURE,), kept=KEPT)
            return assess_files(session, str(source), str(out), plan, ReadOptions()).users

        _WARM_UP.write(folder / "warm.parquet")
        run(_WARM_UP, folder / "warm.parquet", folder / "warm")
        shuffled = _shuffled(session)
        begin, before = _mark()
        users = run(log, posts, ranks)
        end, after = _mark()
        shuffled = _shuffled(session) - shuffled
    return Figures(
        scoring_s=end - begin,
        ranking_s=0.0,
        scoring_cpu_s=after.cpu_s - before.cpu_s,
        ranking_cpu_s=0.0,
        peak_bytes=after.peak_bytes,
        input_bytes=size,
        state_bytes=0,
        ranks_bytes=sum(part.stat().st_size for part in ranks.glob("*.parquet")),
        shuffle_bytes=shuffled,
        users=users,
    )


def _mark() -> tuple[float, Usage]:
    return time.perf_counter(), usage()


def _shuffled(session: Any) -> int:  # noqa: ANN401 - Spark has no types
    """The bytes that tasks have written for others so far."""
    executors = session.sparkContext._jsc.sc().statusStore().executorList(False)  # noqa: SLF001 - Spark's own counts have no other door
    return sum(int(executors.apply(place).totalShuffleWrite()) for place in range(executors.size()))


def main(case: str, folder: str) -> None:
    """What the process does."""
    asked = Case(**json.loads(case))
    log = QueryLog(asked.posts, asked.users, asked.topics)
    if asked.engine == SPARK:
        figures = on_spark(log, Path(folder))
    else:
        with tempfile.TemporaryDirectory(dir=folder) as small:
            embedded(_WARM_UP, Path(small))
        figures = embedded(log, Path(folder))
    sys.stdout.write("\n" + json.dumps(asdict(figures)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
