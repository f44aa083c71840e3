"""The form of every bench result, and how things are timed."""

import time
from collections.abc import Callable
from typing import TypedDict, TypeVar

Result = TypeVar("Result")


class BenchRow(TypedDict):
    """Ours beside a peer's; a ratio above 1 means ours is better."""

    bench: str
    case: str
    unit: str
    ours: float
    peer: str
    theirs: float | None
    ratio: float | None


def bench_row(
    bench: str, case: str, unit: str, ours: float, peer: str, theirs: float | None
) -> BenchRow:
    """A row for a unit in which more is better; ``theirs`` is None when the peer is absent."""
    ratio = None if theirs is None else ours / theirs
    return BenchRow(
        bench=bench, case=case, unit=unit, ours=ours, peer=peer, theirs=theirs, ratio=ratio
    )


def best_time(work: Callable[[], Result], repeats: int) -> tuple[float, Result]:
    """The shortest wall time of ``repeats`` runs, in seconds, and the last result."""
    shortest = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest, result
