"""The rank server under load: reports at a given pace, their latencies, and a kill in the middle.

The server is a process of its own on one core, without limits and with one long period, its SQLite
file on the disk of the temporary folder; the load comes from this process. Reports are sent at
fixed times whether or not earlier ones were answered, and a latency counts from the time a report
was due, so that a server that stalls is not spared the reports it kept waiting.
"""

import asyncio
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

from sottovoce.advisor.rank.description import Description
from sottovoce_lab.bench.rows import BenchRow, OwnCommand, bench_row

_CONNECTIONS = 32


@dataclass
class LoadOutcome:
    """What became of the reports: acknowledged ones with their latency, and the others."""

    latencies_s: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def percentile_ms(self, percent: float) -> float:
        """A percentile of the latencies."""
        return 1000 * float(np.percentile(list(self.latencies_s.values()), percent))


def send(port: int, bodies: dict[str, bytes], pace: float) -> LoadOutcome:
    """Send all reports at ``pace`` a second (0: as fast as answers come)."""
    return asyncio.run(send_all(port, bodies, pace))


async def send_all(port: int, bodies: dict[str, bytes], pace: float) -> LoadOutcome:
    """The same for whoever does something else meanwhile."""
    return await _send((port,), {token: (body,) for token, body in bodies.items()}, pace)


def send_in_turn(
    ports: Sequence[int], bodies: Mapping[str, Sequence[bytes]], pace: float
) -> LoadOutcome:
    """Send every report to all servers, one after the other; all must acknowledge it."""
    return asyncio.run(_send(ports, bodies, pace))


async def _send(
    ports: Sequence[int], bodies: Mapping[str, Sequence[bytes]], pace: float
) -> LoadOutcome:
    outcome, begin = LoadOutcome(), time.perf_counter()
    jobs = enumerate(bodies.items())

    async def worker() -> None:
        connections = [_Connection(port) for port in ports]
        for place, (token, parts) in jobs:
            due = begin + place / pace if pace else time.perf_counter()
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if await _posted(connections, parts):
                outcome.latencies_s[token] = time.perf_counter() - due
            else:
                outcome.failed.add(token)
        for connection in connections:
            connection.close()

    await asyncio.gather(*(worker() for _ in range(_CONNECTIONS)))
    outcome.seconds = time.perf_counter() - begin
    return outcome


async def _posted(connections: Sequence["_Connection"], parts: Sequence[bytes]) -> bool:
    for connection, body in zip(connections, parts, strict=True):
        if not await connection.post(body):
            return False
    return True


class _Connection:
    """One kept-alive connection, opened again when it broke."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> bool:
        """Whether the server acknowledged ``body``."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            writer.write(_HEAD % len(body) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(_length(head))
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return False
        return head.startswith(b"HTTP/1.1 200")

    def close(self) -> None:
        """Close it."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


_HEAD = (
    b"POST /reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n"
)


def _length(head: bytes) -> int:
    found = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
    return int(found.partition(b":")[2])


TOPICS = '[[topic]]\nname = "debt"\ndomain = "money"\nwords = ["debt"]\nsensitive = true\n'


def cpu_s(pid: int) -> float:
    """The processor time that a process has used."""
    told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


class ServerProcess:
    """A rank server in a folder, on a port of its own; it can be killed and started again."""

    def __init__(self, folder: Path, *, core: int | None = None) -> None:
        self.store = folder / "rank.sqlite"
        self._topics = folder / "topics.toml"
        self._topics.write_text(TOPICS, encoding="utf-8")
        self._core = core
        self.start()

    def start(self) -> None:
        """Start the process and wait until it answers."""
        options = {
            "--topics": self._topics,
            "--measure": "lda",
            "--period": "52w",
            "--store": self.store,
            "--port": 0,
            "--rate": 0,
            "--rate-per-address": 0,
        }
        words = [str(word) for option in options.items() for word in option]
        self._command = OwnCommand("rank-server", *words, folder=self.store.parent)
        if self._core is not None:
            os.sched_setaffinity(self._command.pid, {self._core})
        url = str(self._command.announced()["url"])
        self.port = int(url.rpartition(":")[2])
        with urlopen(f"{url}/description") as answer:  # noqa: S310 - on this machine
            self.describe: dict[str, Any] = json.load(answer)

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        self._command.kill()

    def stop(self) -> None:
        """End it in good order."""
        self._command.stop()

    def cpu_s(self) -> float:
        """The processor time that it has used."""
        return cpu_s(self._command.pid)

    def tokens(self) -> set[str]:
        """The ids of all reports in the store."""
        with closing(sqlite3.connect(self.store)) as connection:
            return {row[0] for row in connection.execute("SELECT token FROM rank_report")}

    def lose(self, tokens: Sequence[str]) -> None:
        """Delete reports from the store of a server that does not run."""
        with closing(sqlite3.connect(self.store)) as connection, connection:
            each = [(token,) for token in tokens]
            connection.executemany("DELETE FROM rank_report WHERE token = ?", each)

    def bodies(self, number: int) -> dict[str, bytes]:
        """``number`` reports as requests, by id."""
        description = Description.from_record(self.describe)
        noise = description.noise("debt")
        entries = noise.reports(np.arange(number) % noise.buckets)
        head = {
            "topic": "debt",
            "period": self.describe["period"],
            "description": description.version,
        }
        tokens = [os.urandom(16).hex() for _ in range(number)]
        return {
            token: json.dumps(head | {"id": token, "entries": row.tolist()}).encode()
            for token, row in zip(tokens, entries, strict=True)
        }


REPORTS = 10_000
PACE = 500
"""Reports a second."""
BOUND_MS = 200.0


@dataclass(frozen=True)
class Survival:
    """A server was killed under load: which acknowledged reports it still has."""

    acknowledged: int
    lost: int
    stored: int
    retried: int


def survive_kill(folder: Path, reports: int, *, pace: float = PACE, lose: int = 0) -> Survival:
    """Kill the server halfway, start it again, send again what failed; count what is lost.

    ``lose`` plants a fault for whoever checks the reckoning: so many acknowledged
    reports are deleted by hand.
    """
    server = ServerProcess(folder)
    try:
        bodies = server.bodies(reports)
        outcome = asyncio.run(_send_and_kill(server, bodies, pace))
        server.lose(sorted(outcome.latencies_s)[:lose])
        lost_at_once = set(outcome.latencies_s) - server.tokens()
        server.start()
        again = send(server.port, {token: bodies[token] for token in outcome.failed}, 0)
    finally:
        server.stop()
    stored = server.tokens()
    acknowledged = set(outcome.latencies_s) | set(again.latencies_s)
    lost = len(lost_at_once | (acknowledged - stored))
    return Survival(len(acknowledged), lost, len(stored), len(again.latencies_s))


async def _send_and_kill(
    server: ServerProcess, bodies: dict[str, bytes], pace: float
) -> LoadOutcome:
    sending = asyncio.create_task(send_all(server.port, bodies, pace))
    await asyncio.sleep(len(bodies) / pace / 2)
    server.kill()
    return await sending


def rows(reports: int = REPORTS) -> list[BenchRow]:
    """Pace and latency on one core, the most it takes, and reports lost over a kill."""
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder), core=cores[0])
        try:
            os.sched_setaffinity(0, set(cores[1:] or cores))
            paced, cpu_s = _costed(server, server.bodies(reports))
            most = send(server.port, server.bodies(reports), 0)
        finally:
            os.sched_setaffinity(0, set(cores))
            server.stop()
    with tempfile.TemporaryDirectory() as folder:
        survival = survive_kill(Path(folder), reports)
    cost = bench_row(
        "advise",
        f"rank server, {reports:,} reports at {PACE}/s, processor time of each",
        "ms",
        1000 * cpu_s / reports,
        f"a core's share at {PACE}/s",
        1000 / PACE,
        less_is_better=True,
    )
    return [*_paced_rows(paced, reports), cost, _most_row(most, reports), _kept_row(survival)]


def _costed(server: ServerProcess, bodies: dict[str, bytes]) -> tuple[LoadOutcome, float]:
    """The outcome at the usual pace, and the server's processor time for it."""
    before = server.cpu_s()
    outcome = send(server.port, bodies, PACE)
    return outcome, server.cpu_s() - before


def _paced_rows(outcome: LoadOutcome, reports: int) -> Sequence[BenchRow]:
    held = len(outcome.latencies_s) / outcome.seconds
    case = f"rank server, {reports:,} reports at {PACE}/s, one core"
    wanted = f"bound of {BOUND_MS:g} ms at p95"
    p95 = outcome.percentile_ms(95)
    return (
        bench_row("advise", f"{case}, held", "reports/s", held, f"asked for {PACE}/s", PACE),
        bench_row("advise", f"{case}, p95", "ms", p95, wanted, BOUND_MS, less_is_better=True),
    )


def _most_row(outcome: LoadOutcome, reports: int) -> BenchRow:
    most = len(outcome.latencies_s) / outcome.seconds
    case = f"rank server, {reports:,} reports as fast as they go, one core"
    return bench_row("advise", case, "reports/s", most, f"{PACE}/s", PACE)


def _kept_row(survival: Survival) -> BenchRow:
    """What was acknowledged is what must be there again: a ratio below 1 says that some is lost."""
    case = (
        f"rank server, kill -9 amid reports, {survival.retried:,} of them sent again: still there"
    )
    kept = survival.acknowledged - survival.lost
    return bench_row("advise", case, "reports", kept, "acknowledged", survival.acknowledged)
