"""Samplers on a script: bits that are given, and tables with one entry off."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy._laws import LawTable
from sottovoce.privacy.sampler import TableSampler

_Sampler = TypeVar("_Sampler", bound=TableSampler)


class Scripted:
    """A keystream that plays back given numbers, each in as many bytes as it says."""

    def __init__(self, *numbers: tuple[int, int]) -> None:
        self._bytes = b"".join(value.to_bytes(size, "little") for value, size in numbers)

    def fill(self, out: NDArray[np.uint8]) -> None:
        out[:] = np.frombuffer(self._bytes[: out.size], dtype=np.uint8)
        self._bytes = self._bytes[out.size :]

    def is_used_up(self) -> bool:
        return not self._bytes


def draw(sampler: TableSampler, *numbers: tuple[int, int]) -> int:
    """One draw by given bits, all of which it takes."""
    source = Scripted(*numbers)
    value = int(sampler.draw(1, source)[0])
    assert source.is_used_up()
    return value


def escape_at(point: int) -> list[tuple[int, int]]:
    """The 16 and 64 bits whose first 64 are ``point``."""
    return [(point >> 48, 2), ((point & (1 << 48) - 1) << 16, 8)]


def with_one_off(
    sampler: _Sampler, boundary: int | None = None, cell: int | None = None, to: int = 0
) -> _Sampler:
    """The sampler with one entry of its table off."""
    boundaries, cells = sampler.table.boundaries.copy(), sampler.table.cells.copy()
    if boundary is not None:
        boundaries[boundary] += np.uint64(1)
    if cell is not None:
        cells[cell] = to
    sampler.table = LawTable(cells, boundaries)
    return sampler
