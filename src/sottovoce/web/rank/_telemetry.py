"""What a rank server says of itself to whoever runs it: numbers and events, never who or what.

An event is one line of JSON: a time, a name and numbers about a topic and period. Nothing is said
of one report, and of a period's reports nothing before its sum is opened. Counters are for
Prometheus, in its text format; they too are of all reports together.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable

COUNTERS = {
    "stored": "Reports that were stored.",
    "verified": "Reports that were found valid by this server.",
    "refused": "Reports that were found invalid by this server.",
    "dropped": "Reports that were left out because the two servers disagreed about them.",
}


class Telemetry:
    """Counts, and tells events to ``write``, a line each; it is silent by default."""

    def __init__(
        self, write: Callable[[str], None] | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._write, self._clock = write, clock
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def count(self, name: str, number: int = 1) -> None:
        """Add to one of `COUNTERS`."""
        with self._lock:
            self._counts[name] += number

    def counted(self, name: str) -> int:
        """What one of `COUNTERS` stands at."""
        with self._lock:
            return self._counts[name]

    def tell(self, event: str, **facts: int | str) -> None:
        """Say that something happened."""
        if self._write is not None:
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
            self._write(json.dumps({"time": at, "event": event} | facts))
