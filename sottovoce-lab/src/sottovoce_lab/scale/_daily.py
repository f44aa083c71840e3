"""Days of new posts added to the kept state of a community, measured in a process of its own.

The process simulates a log, keeps the state of its first part, and adds each day: some posts of a
few of the users. It is run as a module. Making the log is not counted.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.assess.job import Assessment
from sottovoce.assess.request import AssessRequest
from sottovoce.assess.state.parts import KeptState
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.schema import BATCH_ROWS, POSTS
from sottovoce.errors import CheckFailedError
from sottovoce.json import parse_json
from sottovoce_lab.query_log import QueryLog
from sottovoce_lab.scale.measure import KEPT, MEASURE, Workload

OPENED, SCORED, WRITTEN, RANKED = "open", "score the posts", "write", "rank everybody"


@dataclass(frozen=True)
class Days:
    """What to measure: a community, and days of so many posts by so many of its users."""

    users: int
    posts: int
    topics: int
    days: int
    day_posts: int
    day_users: int


@dataclass(frozen=True)
class Step:
    """What one step of a day took; ``day`` 0 is the last day, ranked."""

    day: int
    step: str
    seconds: float
    cpu_s: float
    read_bytes: int
    written_bytes: int
    users: int
    state_bytes: int
    parts: int
    load: float


def measure_days(days: Days, folder: Path) -> list[Step]:
    """Measure in a fresh process that works in ``folder``."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(days)), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ourselves
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:]
        raise CheckFailedError(f"measuring {days} failed: {' '.join(reason)}")
    return [Step(**step) for step in parse_json(done.stdout.splitlines()[-1])]


def days_added(days: Days, folder: Path) -> Iterator[Step]:
    """Each step of each day, and at the end a ranking of everybody."""
    whole = -(-days.posts // BATCH_ROWS)
    log = QueryLog((whole + days.days) * BATCH_ROWS, days.users, days.topics)
    batches, work, state = log.batches(), Workload(log), folder / "state"
    request = AssessRequest(
        measures=MEASURE,
        topics=work.catalogue,
        model=work.model,
        keep_buckets=KEPT,
        state=state,
    )
    _keep_posts(request, islice(batches, whole), state)
    for number, batch in enumerate(batches, start=1):
        posts = folder / "day.parquet"
        pq.write_table(_day(batch, days), posts)
        marks = [(OPENED, _mark())]
        assessment = Assessment(request)
        marks.append((SCORED, _mark()))
        assessment.fold(posts, open_posts(posts))
        marks.append((WRITTEN, _mark()))
        assessment.save()
        marks.append(("", _mark()))
        yield from _steps(number, marks, state)
    marks = [(RANKED, _mark())]
    Assessment(replace(request, out=folder / "ranks.parquet")).save()
    yield from _steps(0, [*marks, ("", _mark())], state)


def _keep_posts(request: AssessRequest, batches: Iterator[pa.RecordBatch], state: Path) -> None:
    posts = state.with_name("posts.parquet")
    with pq.ParquetWriter(posts, POSTS) as writer:
        for batch in batches:
            writer.write_batch(batch)
    assessment = Assessment(request)
    assessment.fold(posts, open_posts(posts))
    assessment.save()


def _day(batch: pa.RecordBatch, days: Days) -> pa.Table:
    """The posts of the first users who come, as many as are wanted."""
    user = batch["user"].dictionary_encode().indices.to_numpy()
    chosen = np.flatnonzero(user < days.day_users)[: days.day_posts]
    return pa.Table.from_batches([batch.take(pa.array(chosen))])


def _steps(
    day: int, marks: list[tuple[str, tuple[float, float, int, int]]], state: Path
) -> Iterator[Step]:
    kept = KeptState.open(state)
    size = kept.newest.bytes + sum(part.bytes for part in kept.earlier)
    rest = (kept.users, size, 1 + len(kept.earlier), os.getloadavg()[0])
    for (step, (begin, cpu, read, written)), (_, after) in pairwise(marks):
        took = (after[0] - begin, after[1] - cpu, after[2] - read, after[3] - written)
        yield Step(day, step, *took, *rest)


def _mark() -> tuple[float, float, int, int]:
    """The clock, processor time, and bytes read and written by this process so far."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    counted = {name: int(value) for name, value in (line.split(": ") for line in lines)}
    return time.perf_counter(), time.process_time(), counted["rchar"], counted["wchar"]


def main(days: str, folder: str) -> None:
    """What the process does."""
    steps = [asdict(step) for step in days_added(Days(**parse_json(days)), Path(folder))]
    sys.stdout.write("\n" + json.dumps(steps) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
