"""The two rank servers of the mode of shares under load: reports at a given pace, until verified.

Each server is a process of its own on one core, without limits and with one long period, its SQLite
file on the disk of the temporary folder; the load comes from this process. A report is sent to the
second server, then to the first, as a client does; its latency counts from the time it was due
until the first has acknowledged it. More reports are offered than the pair must hold, since nobody
acknowledges more than were sent. While reports come in the servers verify them together, once a
second; how long after the last answer both have verified all shows whether they keep up.
"""

import json
import os
import sqlite3
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.shares import SharedReport
from sottovoce.errors import CheckFailedError
from sottovoce_lab.bench.rank_server import TOPICS, LoadOutcome, cpu_s, send_in_turn
from sottovoce_lab.bench.rows import BenchRow, OwnCommand, bench_row

PACE = 300
"""Reports a second that the pair must take on one core each."""
OFFERED = 400
"""Reports a second that are sent."""
BOUND_MS = 200.0
BEHIND_S = 2.0
"""How far behind verifying may be: a pause of a second, and a second of work."""
_PATIENCE_S = 60.0
_TOPIC = "debt"


class _Server:
    """One of the two, as a process."""

    def __init__(self, folder: Path, name: str, core: int, *more: object) -> None:
        own = folder / name
        own.mkdir()
        self._store = own / "rank.sqlite"
        options = ["--mode", "shares", "--topics", folder / "topics.toml", "--measure", "lda"]
        limits = ["--period", "52w", "--rate", 0, "--rate-per-address", 0, "--port", 0]
        kept = ["--peer-key", folder / "peer.key", "--store", self._store, *more]
        words = [str(word) for word in (*options, *limits, *kept)]
        self._command = OwnCommand("rank-server", *words, folder=own)
        os.sched_setaffinity(self._command.pid, {core})
        self.url = str(self._command.announced()["url"])
        self.port = int(self.url.rpartition(":")[2])

    def describe(self) -> dict[str, Any]:
        with urlopen(f"{self.url}/description") as answer:  # noqa: S310 - on this machine
            found: dict[str, Any] = json.load(answer)
        return found

    def cpu_s(self) -> float:
        return cpu_s(self._command.pid)

    def answer_verify(self) -> int:
        """How many reports it has found valid."""
        with closing(sqlite3.connect(self._store)) as connection:
            query = "SELECT COUNT(*) FROM rank_verdict WHERE length(output) > 0"
            return int(connection.execute(query).fetchone()[0])

    def stop(self) -> None:
        self._command.stop()


def pair_rows(reports: int, *, offered: float = OFFERED) -> list[BenchRow]:
    """Pace, latency and processor time of two servers that take and verify reports."""
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "topics.toml").write_text(TOPICS, encoding="utf-8")
        (folder / "peer.key").write_text(os.urandom(32).hex(), encoding="ascii")
        (folder / "peer.key").chmod(0o600)
        second = _Server(folder, "second", cores[-1])
        stack.callback(second.stop)
        first = _Server(folder, "first", cores[0], "--peer", second.url)
        stack.callback(first.stop)
        bodies = _bodies(first.describe(), reports)
        before = [server.cpu_s() for server in (first, second)]
        outcome = send_in_turn((second.port, first.port), bodies, offered)
        waited = _waited(first, second, len(outcome.latencies_s))
        used = [server.cpu_s() - was for server, was in zip((first, second), before, strict=True)]
    return _rows(outcome, offered, waited, max(used))


def _bodies(described: dict[str, Any], reports: int) -> dict[str, tuple[bytes, bytes]]:
    """Requests to the second server and to the first, by the report's id."""
    rules, period = Description.from_record(described), described["period"]
    head = {"topic": _TOPIC, "period": period, "description": rules.version}
    number = rules.topic(_TOPIC).buckets.number
    made = [
        SharedReport.of(rules, _TOPIC, period, os.urandom(16).hex(), place % number)
        for place in range(reports)
    ]
    return {report.token: (_body(head, report, 1), _body(head, report, 0)) for report in made}


def _body(head: dict[str, Any], report: SharedReport, server: int) -> bytes:
    return json.dumps(head | report.to(server)).encode()


def _waited(first: _Server, second: _Server, number: int) -> float:
    """How long after the last answer it took until all reports were verified by both."""
    begun = time.perf_counter()
    while min(first.answer_verify(), second.answer_verify()) < number:
        if time.perf_counter() - begun > _PATIENCE_S:
            raise CheckFailedError("the servers did not verify all reports that they acknowledged.")
        time.sleep(0.02)
    return time.perf_counter() - begun


def _rows(outcome: LoadOutcome, offered: float, waited: float, cpu: float) -> list[BenchRow]:
    taken = len(outcome.latencies_s)
    sent = taken + len(outcome.failed)
    case = f"server pair, {sent:,} reports at {offered:g}/s, one core each"
    held = taken / outcome.seconds
    bound = f"bound of {BOUND_MS:g} ms at p95"
    each = 1000 * cpu / sent
    share = f"a core's share at {PACE}/s"
    return [
        bench_row("vdaf", f"{case}, held", "reports/s", held, f"asked for {PACE}/s", PACE),
        bench_row(
            "vdaf", f"{case}, all verified after the last answer", "s", waited,
            "bound", BEHIND_S, less_is_better=True,
        ),
        bench_row(
            "vdaf", f"{case}, p95", "ms", outcome.percentile_ms(95), bound, BOUND_MS,
            less_is_better=True,
        ),
        bench_row(
            "vdaf", f"{case}, processor time of each at the busier server", "ms", each,
            share, 1000 / PACE, less_is_better=True,
        ),
    ]  # fmt: skip
