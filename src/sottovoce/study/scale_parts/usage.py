"""What a process and those it started have taken, as Linux tells it."""

import os
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Usage(NamedTuple):
    """Processor time and the largest resident sizes, added up over processes."""

    cpu_s: float
    peak_bytes: int


def usage(process: int | None = None) -> Usage:
    """Of a process, by default this one, and of all its descendants that still live."""
    family = _family(os.getpid() if process is None else process)
    return Usage(sum(map(_cpu_s, family)), sum(map(_peak_bytes, family)))


def _family(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task").glob("*/children")
    numbers = [int(number) for file in children for number in _read(file).split()]
    return [process, *(member for number in numbers for member in _family(number))]


def _cpu_s(process: int) -> float:
    # After the name, which may hold anything but ends with the last bracket; fields 14 to 17.
    fields = _read(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _peak_bytes(process: int) -> int:
    """VmHWM, since ru_maxrss starts from the size of the process that started this one."""
    for line in _read(Path(f"/proc/{process}/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        # It has just ended.
        return ""
