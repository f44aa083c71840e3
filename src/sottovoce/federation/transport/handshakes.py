"""Handshakes that TLS refused, as events: gRPC tells of them on the standard error only.

Its core says neither who called nor calls anything back; it writes a line. So while a party serves,
what native code writes to the standard error goes through a pipe: a failed handshake becomes an
event, gRPC's other lines are dropped, and anything else goes where it was meant to.
"""

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from sottovoce.federation.engine.books import Log

_STANDARD_ERROR = 2
_LONGEST_LINE = 4096
_OF_GRPC = re.compile(rb"^[IWEF]\d{4} \d\d:\d\d:\d\d")
_FAILED = re.compile(rb"Handshake failed with error .*?OPENSSL_internal:(.{1,160})")
_FAILED_BARELY = re.compile(rb"Handshake failed with error (.{1,160})")


@contextmanager
def handshakes_logged(log: Log) -> Iterator[None]:
    """Log every handshake that fails meanwhile; Python's own standard error stays as it is."""
    kept, python_s = os.dup(_STANDARD_ERROR), sys.stderr
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # a line may be lost, a party must not wait
    with os.fdopen(reading, "rb") as lines, os.fdopen(kept, "wb", buffering=0) as true_error:
        sys.stderr = os.fdopen(
            os.dup(kept), "w", encoding="utf-8", errors="backslashreplace", buffering=1
        )
        os.dup2(writing, _STANDARD_ERROR)
        os.close(writing)
        thread = threading.Thread(target=_sort, args=(lines, true_error, log), daemon=True)
        thread.start()
        try:
            yield
        finally:
            os.dup2(kept, _STANDARD_ERROR)  # the pipe's last writer: the thread comes to its end
            thread.join()
            sys.stderr.close()
            sys.stderr = python_s


def failure(line: bytes) -> str | None:
    """Why a handshake failed, if a line of gRPC's says that one did."""
    found = _FAILED.search(line) or _FAILED_BARELY.search(line)
    return None if found is None else found[1].decode("ascii", "replace").strip()


def _sort(lines: BinaryIO, true_error: BinaryIO, log: Log) -> None:
    while line := lines.readline(_LONGEST_LINE):
        why = failure(line)
        if why is not None:
            log("handshake refused", error=why)
        elif not _OF_GRPC.match(line):
            true_error.write(line)
