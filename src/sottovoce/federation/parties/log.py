"""Events as lines of JSON: names, counts and errors, never what anybody wrote."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.federation.engine.books import Log
from sottovoce.files import PRIVATE_MODE


@contextmanager
def opened_log(path: Path | None, party: str) -> Iterator[Log]:
    """Where a party's events go: appended to a file for its owner only, or nowhere."""
    if path is None:
        yield _nowhere
        return
    try:
        descriptor = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, PRIVATE_MODE)
    except OSError as error:
        raise InputError(f"cannot write the log {path}: {error.strerror}.") from None
    lock = threading.Lock()

    def noted(event: str, /, **fields: object) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "party": party, "event": event, **fields}, default=str)
        with lock:
            os.write(descriptor, line.encode() + b"\n")

    try:
        yield noted
    finally:
        os.close(descriptor)


def _nowhere(_event: str, /, **_fields: object) -> None:
    pass
