"""The peak memory of one way to release a corpus, in a process of its own; run as a module.

The process loads the corpus, warms up on its first documents, notes its high-water mark, releases,
and prints by how many bytes the mark rose and how large the output is. The mark is VmHWM, since
ru_maxrss starts from the size of the process that started this one.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sottovoce.errors import CheckFailedError
from sottovoce.parsing import parse_json
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.compression.maps import Compression, NoCompression, RandomCompression
from sottovoce.release.counts import Counts, checked_counts
from sottovoce_lab.bench import noise as opendp

# A release this far from what its rate makes of it is not the same work.
_DEVIATIONS = 6


@dataclass(frozen=True)
class ReleaseBenchSetting:
    """How many words become how many columns, and the rate of their noise."""

    words: int
    columns: int
    rate: Fraction

    def compression(self, counts: Counts) -> Compression:
        """The public map, the same for every way."""
        if self.columns == self.words:
            return NoCompression().fit(counts)
        return RandomCompression(self.columns, random_state=0).fit(counts)

    def compress_counts(self, counts: Counts) -> Counts:
        """The columns before noise, by a plain product with the map."""
        if self.columns == self.words:
            return counts
        return sparse.csr_array(counts @ self.compression(counts[:1]).map_.matrix)


Way = Callable[[ReleaseBenchSetting, Counts], Counts]


def ours(setting: ReleaseBenchSetting, counts: Counts, *, threads: int | None = None) -> Counts:
    """The estimator's path: input checked, summed into columns, noised without a dense matrix."""
    checked, fitted = checked_counts(counts, threads=threads), setting.compression(counts[:1])
    columns = fitted.map_.compress(checked, threads=threads)
    return GeometricMechanism(setting.rate).sparse(columns, threads=threads)


def opendp_by_document(setting: ReleaseBenchSetting, counts: Counts) -> Counts:
    """OpenDP's vector mechanism on one document after the other."""
    measurement = opendp.laplace_on_vectors(setting.rate)
    if measurement is None:
        raise CheckFailedError("OpenDP is not installed; to compare with it: make peers.")
    rows = setting.compress_counts(counts).astype(np.int32)
    noised = [measurement(rows[[i]].toarray()[0]) for i in range(rows.shape[0])]
    return sparse.csr_array(np.array(noised, dtype=np.int64))


def numpy_dense(setting: ReleaseBenchSetting, counts: Counts) -> Counts:
    """The difference of two geometric draws on every cell of a dense matrix."""
    generator = np.random.default_rng()
    success = -math.expm1(-float(setting.rate))
    dense = setting.compress_counts(counts).toarray()
    dense += generator.geometric(success, dense.shape)
    dense -= generator.geometric(success, dense.shape)
    return sparse.csr_array(dense)


WAYS: dict[str, Way] = {"ours": ours, "opendp": opendp_by_document, "numpy": numpy_dense}


def check_release(
    name: str, setting: ReleaseBenchSetting, counts: Counts, released: Counts
) -> None:
    """Refuse what is not ``counts`` in columns under noise at the rate, as E|Z| tells.

    E|Z| = 2 alpha / (1 - alpha^2) and E Z^2 = 2 alpha / (1 - alpha)^2.
    """
    alpha = math.exp(-float(setting.rate))
    cells = released.shape[0] * setting.columns
    noise = abs(released - setting.compress_counts(counts)).sum() / cells
    wrong_by = abs(noise - 2 * alpha / (1 - alpha**2))
    if wrong_by > _DEVIATIONS * math.sqrt(2 * alpha / (1 - alpha) ** 2 / cells):
        raise CheckFailedError(f"{name} adds other noise than the rate {setting.rate} asks for.")


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
