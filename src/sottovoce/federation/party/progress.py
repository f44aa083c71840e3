"""What a running party shows: how a run stands, what it cost in the end, and a log of events.

The log has lines of JSON with names, counts and errors, never what anybody wrote.
"""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError
from sottovoce.federation.transport.frames import Log
from sottovoce.files import PRIVATE_MODE
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.terms import RunTerms

_COUNTED = ("rounds", "messages", "bytes_sent", "bytes_received")


class Progress:
    """Notes how a run stands, and for whom how long was waited."""

    def __init__(self, terms: RunTerms) -> None:
        self._terms = terms
        self._begin = self._last = time.monotonic()
        self._waits: Counter[str] = Counter()
        self._shown: dict[str, Any] = {}

    def note(self, standing: Mapping[str, Any]) -> bool:
        """Take note; whether there is something new to show."""
        now = time.monotonic()
        for name in standing["waiting_for"]:
            self._waits[name] += now - self._last  # type: ignore[assignment] # seconds
        self._last = now
        names = ("stage", "step", "status", "waiting_for", "lost", "bytes_sent", "bytes_received")
        shown = {name: standing[name] for name in names}
        changed, self._shown = shown != self._shown, shown
        return changed

    def describe(self) -> dict[str, Any]:
        """What a watcher wants to see."""
        return {**self._shown, "seconds": round(self.seconds, 2)}

    @property
    def seconds(self) -> float:
        """Since it is watched."""
        return time.monotonic() - self._begin

    @property
    def waits(self) -> dict[str, float]:
        """Seconds for which each party was waited for, those above a tenth."""
        return {name: round(s, 1) for name, s in self._waits.most_common() if s >= 0.1}  # noqa: PLR2004 - shorter ones say nothing


def summary(
    terms: RunTerms, progress: Progress, attempts: Sequence[Mapping[str, Any]], opened: str = ""
) -> dict[str, Any]:
    """A run in numbers, those of attempts that were broken off included; who has learnt what.

    ``opened`` says of how many words sums were opened.
    """
    leakage = run_leakage(terms)
    standing = attempts[-1]
    left_out = {name for each in attempts[:-1] for name in each["ended"].get("missing", ())}
    return {
        "run": standing["session"],
        "attempts": len(attempts),
        "kind": terms.kind,
        "mode": terms.mode,
        "status": standing["status"],
        "seconds": round(progress.seconds, 3),
        **{name: sum(each[name] for each in attempts) for name in _COUNTED},
        "peers": list(terms.peers),
        "lost": sorted(left_out | set(standing["lost"])),
        "waited_s": progress.waits,
        "opened": opened,
        "leakage": {
            "protocol": leakage.protocol,
            "learns": [
                *({"who": row.who, "what": row.what} for row in leakage.learns),
                *_of_broken_off(sorted(left_out)),
            ],
            "against": [{"who": row.who, "what": row.what} for row in leakage.against],
            "together": leakage.collusion,
            "assumes": leakage.assumes,
        },
    }


def _of_broken_off(left_out: list[str]) -> list[dict[str, str]]:
    if not left_out:
        return []
    names = ", ".join(left_out)
    what = (
        f"what the attempts with {names} had opened before they were broken off; where it is a sum "
        f"that was opened again, the difference is the part of {names} alone"
    )
    return [{"who": "whoever learns a sum", "what": what}]


@contextmanager
def opened_log(path: Path | None, party: str) -> Iterator[Log]:
    """Where a party's events go: appended to a file for its owner only, or nowhere."""
    if path is None:
        yield _log_nowhere
        return
    try:
        descriptor = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, PRIVATE_MODE)
    except OSError as error:
        raise InputError(f"cannot write the log {path}: {error.strerror}.") from None
    lock = threading.Lock()

    def log(event: str, /, **fields: object) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "party": party, "event": event, **fields}, default=str)
        with lock:
            os.write(descriptor, line.encode() + b"\n")

    try:
        yield log
    finally:
        os.close(descriptor)


def _log_nowhere(_event: str, /, **_fields: object) -> None:
    pass
