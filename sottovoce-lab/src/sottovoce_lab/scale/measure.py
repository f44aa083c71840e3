"""One assessment measured in a process of its own; run as a module.

The process simulates a query log, and an adversary who knows its topics; warms up on a small one;
and then goes from the file to ranks and state on one engine. Making the log is not counted. What
the process and those it started have taken is as Linux tells it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sottovoce.assess.job import Assessment
from sottovoce.assess.request import AssessRequest
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CheckFailedError
from sottovoce.json import parse_json
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce_lab.query_log import QueryLog

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Usage(NamedTuple):
    """Processor time and the largest resident sizes, added up over processes."""

    cpu_s: float
    peak_bytes: int


def usage(process: int | None = None) -> Usage:
    """Of a process, by default this one, and of all its descendants that still live."""
    family = _family(os.getpid() if process is None else process)
    return Usage(sum(map(_cpu_s, family)), sum(map(_peak_bytes, family)))


def _family(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task").glob("*/children")
    numbers = [int(number) for file in children for number in _read(file).split()]
    return [process, *(member for number in numbers for member in _family(number))]


def _cpu_s(process: int) -> float:
    # After the name, which may hold anything but ends with the last bracket; fields 14 to 17.
    fields = _read(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _peak_bytes(process: int) -> int:
    """VmHWM, since ru_maxrss starts from the size of the process that started this one."""
    for line in _read(Path(f"/proc/{process}/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        # It has just ended.
        return ""


MEASURE = "lda-dt"
KEPT = 3
"""As many buckets as -m asks for."""
_TOPICS_OF_A_DOMAIN = 10
_SALIENT_WORDS = 20
_ALPHA = 0.1


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


EMBEDDED, SPARK = "embedded", "spark"
_WARM_UP = QueryLog(queries=2_000, users=100, topics=10, seed=1)


@dataclass(frozen=True)
class ScaleCase:
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


def measure(case: ScaleCase, folder: Path) -> Figures:
    """Measure ``case`` in a fresh process that works in ``folder``."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(case)), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ourselves
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:]
        raise CheckFailedError(f"measuring {case} failed: {' '.join(reason)}")
    return Figures(**parse_json(done.stdout.splitlines()[-1]))


def embedded(log: QueryLog, folder: Path) -> Figures:
    """On this machine alone."""
    posts, state, ranks = folder / "posts.parquet", folder / "state", folder / "ranks.parquet"
    size = log.write(posts)
    work = Workload(log)
    request = AssessRequest(
        measures=MEASURE,
        topics=work.catalogue,
        model=work.model,
        keep_buckets=KEPT,
        state=state,
        out=ranks,
    )
    marks = [_mark()]
    assessment = Assessment(request)
    assessment.fold(posts, open_posts(posts))
    marks.append(_mark())
    assessment.save()
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
    from sottovoce_spark.assess import SparkAssessPlan, assess_files  # noqa: PLC0415 - an extra
    from sottovoce_spark.session import open_session  # noqa: PLC0415 - an extra

    posts, ranks = folder / "posts.parquet", folder / "ranks"
    size = log.write(posts)
    with open_session("local[*]", settings={"spark.ui.enabled": "false"}) as session:

        def run(log: QueryLog, source: Path, out: Path) -> int:
            work = Workload(log)
            plan = SparkAssessPlan(work.catalogue, (work.model,), (MEASURE,), kept=KEPT)
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
    asked = ScaleCase(**parse_json(case))
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
