"""Who looked at what, and when: a file that only grows."""

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.files import PRIVATE_MODE


class LookLog:
    """One line of JSON for each look, on disk before anything is shown."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._append(b"")

    def note(self, event: str, **facts: str | int) -> None:
        """Append a line; when it cannot be written, whoever looks must not see anything."""
        line = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "event": event, **facts}
        self._append(json.dumps(line).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        with self._lock:
            try:
                descriptor = os.open(self.path, flags, PRIVATE_MODE)
                try:
                    os.fchmod(descriptor, PRIVATE_MODE)
                    os.write(descriptor, line)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise InputError(f"cannot write {self.path}: {error.strerror}.") from None
