"""The rank server under load: reports at a given pace, their latencies, and a kill in the middle.

The server is a process of its own on one core, with its SQLite file on the disk of the temporary
folder; the load comes from this process.
"""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.bench.rank_load import Outcome, send, send_all
from sottovoce.bench.rank_server_process import ServerProcess
from sottovoce.bench.rows import BenchRow, bench_row

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


async def _send_and_kill(server: ServerProcess, bodies: dict[str, bytes], pace: float) -> Outcome:
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


def _costed(server: ServerProcess, bodies: dict[str, bytes]) -> tuple[Outcome, float]:
    """The outcome at the usual pace, and the server's processor time for it."""
    before = server.cpu_s()
    outcome = send(server.port, bodies, PACE)
    return outcome, server.cpu_s() - before


def _paced_rows(outcome: Outcome, reports: int) -> Sequence[BenchRow]:
    held = len(outcome.latencies_s) / outcome.seconds
    case = f"rank server, {reports:,} reports at {PACE}/s, one core"
    wanted = f"bound of {BOUND_MS:g} ms at p95"
    p95 = outcome.percentile_ms(95)
    return (
        bench_row("advise", f"{case}, held", "reports/s", held, f"asked for {PACE}/s", PACE),
        bench_row("advise", f"{case}, p95", "ms", p95, wanted, BOUND_MS, less_is_better=True),
    )


def _most_row(outcome: Outcome, reports: int) -> BenchRow:
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
