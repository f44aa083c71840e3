"""What a rank server says of itself to whoever runs it: numbers and events, never who or what.

An event is one line of JSON: a time, a name and numbers about a topic and period. Nothing is said
of one report, and of a period's reports nothing before its histogram is published. Counters and
latencies are for Prometheus, in its text format; they too are of all requests together, without an
address. How many reports arrived is told by them at any time, so only the operator may ask.
"""

import json
import os
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.errors import InputError
from sottovoce.files import PRIVATE_MODE

COUNTERS = {
    "stored": "Reports that were stored.",
    "verified": "Reports that this server found valid.",
    "refused": "Reports that this server found invalid.",
    "dropped": "Reports left out because the two servers disagreed about them.",
}
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
OTHER = "other"
_PREFIX = "sottovoce_rank"


class Telemetry:
    """Counts, and tells events to ``write``, a line each; it is silent by default."""

    def __init__(
        self, write: Callable[[str], None] | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._write, self._clock = write, clock
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._answers: Counter[tuple[str, int]] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, name: str, number: int = 1) -> None:
        """Add to one of `COUNTERS`."""
        with self._lock:
            self._counts[name] += number

    def value_of(self, name: str) -> int:
        """What one of `COUNTERS` stands at."""
        with self._lock:
            return self._counts[name]

    def note_answer(self, route: str, status: int, seconds: float) -> None:
        """Note how a request was answered, and how long it took."""
        with self._lock:
            self._answers[route, status] += 1
            self._seconds[route] += seconds
            for bound in BOUNDS_S:
                if seconds <= bound:
                    self._within[route, bound] += 1

    def tell(self, event: str, **facts: int | str) -> None:
        """Say that something happened."""
        if self._write is not None:
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
            self._write(json.dumps({"time": at, "event": event} | facts))

    def metrics(self) -> str:
        """Everything that was counted, in the text format of Prometheus."""
        with self._lock:
            return "\n".join([*self._report_lines(), *self._request_lines()]) + "\n"

    def _report_lines(self) -> Iterator[str]:
        for name, meaning in COUNTERS.items():
            full = f"{_PREFIX}_reports_{name}_total"
            yield from (f"# HELP {full} {meaning}", f"# TYPE {full} counter")
            yield f"{full} {self._counts[name]}"

    def _request_lines(self) -> Iterator[str]:
        full = f"{_PREFIX}_requests_total"
        yield from (f"# HELP {full} Requests that were answered.", f"# TYPE {full} counter")
        for (route, status), number in sorted(self._answers.items()):
            yield f'{full}{{route="{route}",status="{status}"}} {number}'
        full = f"{_PREFIX}_request_seconds"
        yield from (f"# HELP {full} How long answers took.", f"# TYPE {full} histogram")
        for route, seconds in sorted(self._seconds.items()):
            everything = sum(n for (each, _), n in self._answers.items() if each == route)
            for bound in BOUNDS_S:
                yield f'{full}_bucket{{route="{route}",le="{bound}"}} {self._within[route, bound]}'
            yield f'{full}_bucket{{route="{route}",le="+Inf"}} {everything}'
            yield f'{full}_sum{{route="{route}"}} {seconds:.6f}'
            yield f'{full}_count{{route="{route}"}} {everything}'


@contextmanager
def event_writer(where: str | None) -> Iterator[Callable[[str], None] | None]:
    """What writes events to a file, to standard error (``-``), or to nobody (None)."""
    if where is None:
        yield None
        return
    with _event_file(where) as file:

        def write(line: str) -> None:
            file.write(line + "\n")
            file.flush()

        yield write


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_MODE)


def _event_file(where: str) -> AbstractContextManager[TextIO]:
    if where == "-":
        return nullcontext(sys.stderr)
    try:
        return open(where, "a", encoding="utf-8", opener=_for_owner)
    except OSError as error:
        raise InputError(f"cannot write events to {where}: {error.strerror}.") from None


class RequestMeter:
    """Measures every request by its route, not by its path, which may name anything."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app, self._telemetry = app, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", OTHER)
            self._telemetry.note_answer(route, status, time.perf_counter() - begun)
