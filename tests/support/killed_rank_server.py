"""The rank server, a process of its own, killed under load.

Reports are sent at fixed times whether or not earlier ones were answered.
"""

import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.advisor.rank.description import Description, HttpTransport
from sottovoce.errors import SottovoceError
from support.rank_processes import Running

_CONNECTIONS = 32
_UNLIMITED = ("--period", "52w", "--rate", 0, "--rate-per-address", 0)


@dataclass(frozen=True)
class Survival:
    """A server was killed under load: which acknowledged reports it still has."""

    acknowledged: int
    lost: int
    stored: int
    retried: int


def survive_kill(folder: Path, reports: int, *, pace: float, lose: int = 0) -> Survival:
    """Kill the server halfway, start it again, send again what failed; count what is lost.

    ``lose`` plants a fault for whoever checks the reckoning: so many acknowledged
    reports are deleted by hand.
    """
    server = Running(folder, *_UNLIMITED)
    bodies = make_reports(server.url, reports)
    with ThreadPoolExecutor(1) as beside:
        sending = beside.submit(send, server.url, bodies, pace)
        time.sleep(reports / pace / 2)
        server.process.kill()
        acknowledged = sending.result()
    server.process.communicate()
    with closing(sqlite3.connect(folder / "rank.sqlite")) as base, base:
        lost = [(token,) for token in sorted(acknowledged)[:lose]]
        base.executemany("DELETE FROM rank_report WHERE token = ?", lost)
    lost_at_once = acknowledged - stored_tokens(folder)
    again = Running(folder, *_UNLIMITED)
    failed = {token: body for token, body in bodies.items() if token not in acknowledged}
    retried = send(again.url, failed, pace)
    again.stop()
    stored, known = stored_tokens(folder), acknowledged | retried
    return Survival(len(known), len(lost_at_once | (known - stored)), len(stored), len(retried))


def send(url: str, bodies: dict[str, Any], pace: float) -> set[str]:
    """Send all reports at ``pace`` a second; the ids of those that were acknowledged."""
    begin = time.perf_counter()

    def post(place: int, token: str) -> bool:
        time.sleep(max(0.0, begin + place / pace - time.perf_counter()))
        try:
            HttpTransport(url).call("POST", "/reports", bodies[token])
        except SottovoceError:
            return False
        return True

    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        answers = pool.map(post, range(len(bodies)), bodies)
        return {token for token, answer in zip(bodies, answers, strict=True) if answer}


def stored_tokens(folder: Path) -> set[str]:
    """The ids of all reports in the store."""
    with closing(sqlite3.connect(folder / "rank.sqlite")) as base:
        return {row[0] for row in base.execute("SELECT token FROM rank_report")}


def make_reports(url: str, number: int) -> dict[str, Any]:
    """``number`` reports as requests, by id."""
    told = HttpTransport(url).call("GET", "/description")
    rules = Description.from_record(told)
    noise = rules.noise("debt")
    entries = noise.reports(np.arange(number) % noise.buckets).tolist()
    head = {"topic": "debt", "period": told["period"], "description": rules.version}
    tokens = [os.urandom(16).hex() for _ in range(number)]
    return {
        token: head | {"id": token, "entries": row}
        for token, row in zip(tokens, entries, strict=True)
    }
