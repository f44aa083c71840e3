"""The form of every bench result, how things are timed, and our commands as processes to time."""

import importlib
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import numpy as np
from scipy import sparse

from sottovoce.errors import CheckFailedError
from sottovoce.parsing import parse_json

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


def compared_row(
    bench: str,
    case: str,
    ours: Work,
    peer: str,
    theirs: Work,
    *,
    seconds: float,
    clock: Clock = time.perf_counter,
    values: int | None = None,
) -> BenchRow:
    """Two works in turns: the seconds of each, or how many of ``values`` a second."""
    best = best_times({"ours": ours, "theirs": theirs}, seconds=seconds, clock=clock)
    if values is None:
        taken = best["ours"], peer, best["theirs"]
        return bench_row(bench, case, "s", *taken, less_is_better=True)
    return bench_row(bench, case, "values/s", values / best["ours"], peer, values / best["theirs"])


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


def train_tomotopy(
    model: Any,  # noqa: ANN401 - it ships no types
    counts: sparse.csr_array,
    terms: Sequence[str],
    *,
    iterations: int,
    workers: int,
) -> None:
    """Give a peer's model the documents that have words, and train it."""
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        words = np.repeat(counts.indices[cells], counts.data[cells])
        if words.size:
            model.add_doc([terms[word] for word in words.tolist()])
    with warnings.catch_warnings():
        # Several workers give no one result; every peer gets the one that came out.
        warnings.simplefilter("ignore", RuntimeWarning)
        model.train(iterations, workers=workers, show_progress=False)


def optional_module(name: str) -> Any:  # noqa: ANN401 - a peer's, which ships no types
    """A peer's module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


TIMEOUT_S = 120


class OwnCommand:
    """``sottovoce NAME WORDS --json``, under way.

    What it says on standard error, as that it was stopped, goes to a file in ``folder``: it is no
    word of whoever started it.
    """

    def __init__(self, name: str, *words: str, folder: Path) -> None:
        self._name = name
        self._said = folder / f"{name}.said.txt"
        command = [sys.executable, "-m", "sottovoce", name, *words, "--json"]
        with self._said.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def read_announcement(self) -> dict[str, Any]:
        """The line that it prints once it can be reached; waits for it."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            said = self._said.read_text(encoding="utf-8").strip()
            raise CheckFailedError(f"sottovoce {self._name} did not start: {said}")
        return dict(parse_json(line))

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        self._process.kill()
        self._wait_for_end()

    def stop(self) -> None:
        """End it in good order."""
        self._process.terminate()
        self._wait_for_end()

    def _wait_for_end(self) -> None:
        self._process.wait(TIMEOUT_S)
        if self._process.stdout:
            self._process.stdout.close()
