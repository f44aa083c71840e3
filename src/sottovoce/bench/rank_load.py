"""Reports sent to a rank server at a given pace, and how long each took.

They are sent at fixed times whether or not earlier ones were answered, and a latency counts from
the time a report was due, so that a server that stalls is not spared the reports it kept waiting.
"""

import asyncio
import time
from dataclasses import dataclass, field

import numpy as np

_CONNECTIONS = 32


@dataclass
class Outcome:
    """What became of the reports: acknowledged ones with their latency, and the others."""

    latencies_s: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def percentile_ms(self, percent: float) -> float:
        """A percentile of the latencies."""
        return 1000 * float(np.percentile(list(self.latencies_s.values()), percent))


def send(port: int, bodies: dict[str, bytes], pace: float) -> Outcome:
    """Send all reports at ``pace`` a second (0: as fast as answers come)."""
    return asyncio.run(send_all(port, bodies, pace))


async def send_all(port: int, bodies: dict[str, bytes], pace: float) -> Outcome:
    """The same for whoever does something else meanwhile."""
    outcome, begin = Outcome(), time.perf_counter()
    jobs = enumerate(bodies.items())

    async def worker() -> None:
        connection = _Connection(port)
        for place, (token, body) in jobs:
            due = begin + place / pace if pace else time.perf_counter()
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if await connection.post(body):
                outcome.latencies_s[token] = time.perf_counter() - due
            else:
                outcome.failed.add(token)
        connection.close()

    await asyncio.gather(*(worker() for _ in range(_CONNECTIONS)))
    outcome.seconds = time.perf_counter() - begin
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
