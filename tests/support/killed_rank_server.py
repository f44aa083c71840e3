"""The rank server under load, and a kill in the middle.

The server is a process of its own, without limits and with one long period; the load comes from
this process. Reports are sent at fixed times whether or not earlier ones were answered.
"""

import asyncio
import json
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
from sottovoce_lab.bench.rows import OwnCommand

from sottovoce.advisor.rank.description import Description

_CONNECTIONS = 32


@dataclass
class LoadOutcome:
    """What became of the reports."""

    acknowledged: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)


def send(port: int, bodies: dict[str, bytes], pace: float) -> LoadOutcome:
    """Send all reports at ``pace`` a second (0: as fast as answers come)."""
    return asyncio.run(send_all(port, bodies, pace))


async def send_all(port: int, bodies: dict[str, bytes], pace: float) -> LoadOutcome:
    """The same for whoever does something else meanwhile."""
    outcome, begin = LoadOutcome(), time.perf_counter()
    jobs = enumerate(bodies.items())

    async def worker() -> None:
        connection = _Connection(port)
        for place, (token, body) in jobs:
            due = begin + place / pace if pace else time.perf_counter()
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            found = outcome.acknowledged if await connection.post(body) else outcome.failed
            found.add(token)
        connection.close()

    await asyncio.gather(*(worker() for _ in range(_CONNECTIONS)))
    return outcome


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


class ServerProcess:
    """A rank server in a folder, on a port of its own; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "rank.sqlite"
        self._topics = folder / "topics.toml"
        self._topics.write_text(TOPICS, encoding="utf-8")
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
        url = str(self._command.read_announcement()["url"])
        self.port = int(url.rpartition(":")[2])
        with urlopen(f"{url}/description") as answer:  # noqa: S310 - on this machine
            self.describe: dict[str, Any] = json.load(answer)

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        self._command.kill()

    def stop(self) -> None:
        """End it in good order."""
        self._command.stop()

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
    server = ServerProcess(folder)
    try:
        bodies = server.bodies(reports)
        outcome = asyncio.run(_send_and_kill(server, bodies, pace))
        server.lose(sorted(outcome.acknowledged)[:lose])
        lost_at_once = outcome.acknowledged - server.tokens()
        server.start()
        again = send(server.port, {token: bodies[token] for token in outcome.failed}, 0)
    finally:
        server.stop()
    stored = server.tokens()
    acknowledged = outcome.acknowledged | again.acknowledged
    lost = len(lost_at_once | (acknowledged - stored))
    return Survival(len(acknowledged), lost, len(stored), len(again.acknowledged))


async def _send_and_kill(
    server: ServerProcess, bodies: dict[str, bytes], pace: float
) -> LoadOutcome:
    sending = asyncio.create_task(send_all(server.port, bodies, pace))
    await asyncio.sleep(len(bodies) / pace / 2)
    server.kill()
    return await sending
