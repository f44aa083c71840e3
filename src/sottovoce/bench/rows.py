"""The form of every bench result, and how things are timed."""

import time
from collections.abc import Callable, Mapping
from typing import TypedDict, TypeVar

Result = TypeVar("Result")
Work = Callable[[], object]
Clock = Callable[[], float]

ROUNDS = 3
# Short works are repeated for at least this long: one quiet moment of the machine is enough.
SECONDS = 2.0


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
    bench: str,
    case: str,
    unit: str,
    ours: float,
    peer: str,
    theirs: float | None,
    *,
    less_is_better: bool = False,
) -> BenchRow:
    """A row whose ratio says how many times better ours is; ``theirs`` is None for no peer."""
    better, worse = (theirs, ours) if less_is_better else (ours, theirs)
    ratio = None if better is None or worse is None else better / worse
    return BenchRow(
        bench=bench, case=case, unit=unit, ours=ours, peer=peer, theirs=theirs, ratio=ratio
    )


def best_time(
    work: Callable[[], Result], repeats: int, clock: Clock = time.perf_counter
) -> tuple[float, Result]:
    """The shortest time of ``repeats`` runs, in the clock's seconds, and the last result."""
    shortest = float("inf")
    for _ in range(repeats):
        begin = clock()
        result = work()
        shortest = min(shortest, clock() - begin)
    return shortest, result


def best_times(
    works: Mapping[str, Work],
    *,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
    clock: Clock = time.perf_counter,
) -> dict[str, float]:
    """The shortest wall time of each of ``works``, in seconds, or what ``clock`` tells.

    They take turns, so that whatever else runs on the machine slows all of them: at least
    ``rounds`` rounds, and more until ``seconds`` have passed. A turn lasts at least a twentieth of
    that, since a short work would otherwise only be seen with the caches its predecessor left.
    """
    shortest = dict.fromkeys(works, float("inf"))
    end = time.perf_counter() + seconds
    done = 0
    while done < rounds or time.perf_counter() < end:
        for name, work in works.items():
            shortest[name] = min(shortest[name], _best_of_turn(work, seconds / 20, clock))
        done += 1
    return shortest


def _best_of_turn(work: Work, seconds: float, clock: Clock) -> float:
    end = time.perf_counter() + seconds
    shortest, _ = best_time(work, 1, clock)
    while time.perf_counter() < end:
        shortest = min(shortest, best_time(work, 1, clock)[0])
    return shortest
