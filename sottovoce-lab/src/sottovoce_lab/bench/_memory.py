"""The peak memory of one way to release a corpus, in a process of its own; run as a module.

The process loads the corpus, warms up on its first documents, notes its high-water mark, releases,
and prints by how many bytes the mark rose and how large the output is. The mark is VmHWM, since
ru_maxrss starts from the size of the process that started this one.
"""

import json
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sottovoce.json import parse_json
from sottovoce.release.counts import Counts
from sottovoce_lab.bench._release_ways import WAYS, ReleaseBenchSetting

_ARRAYS = ("data", "indices", "indptr")
_WARM_UP_DOCUMENTS = 10


class Memory(NamedTuple):
    """What one release took beyond its input, and what it gave, in bytes."""

    peak: int
    output: int


def release_memory(way: str, setting: ReleaseBenchSetting, counts: Counts) -> Memory:
    """Run ``way`` on ``counts`` in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        for name in _ARRAYS:
            np.save(Path(folder) / f"{name}.npy", getattr(counts, name))
        numbers = (setting.words, setting.columns, setting.rate)
        command = [sys.executable, "-m", __name__, folder, way, *map(str, numbers)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ourselves
    return Memory(*parse_json(done.stdout))


def output_bytes(matrix: Counts) -> int:
    """The size of a CSR matrix."""
    return sum(int(getattr(matrix, name).nbytes) for name in _ARRAYS)


def main(folder: str, way: str, words: str, columns: str, rate: str) -> None:
    """What the process does."""
    setting = ReleaseBenchSetting(int(words), int(columns), Fraction(rate))
    arrays = tuple(np.load(Path(folder) / f"{name}.npy") for name in _ARRAYS)
    counts = sparse.csr_array(arrays, shape=(arrays[2].size - 1, setting.words))
    WAYS[way](setting, counts[:_WARM_UP_DOCUMENTS])
    before = high_water_mark()
    released = WAYS[way](setting, counts)
    sys.stdout.write(json.dumps([high_water_mark() - before, output_bytes(released)]))


def high_water_mark() -> int:
    """The largest resident size of this process so far, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
