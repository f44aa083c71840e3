"""How Sottovoce compiles its kernels: one decorator, one place to spread work over cores."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar, cast

import numba

Result = TypeVar("Result")
Kernel = TypeVar("Kernel", bound=Callable[..., object])

if TYPE_CHECKING:

    def kernel(function: Kernel) -> Kernel: ...

else:
    # The GIL is released so that threads use all cores; the cache makes the second start fast.
    kernel = numba.njit(cache=True, nogil=True)


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def on_threads(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run ``tasks`` at once, one thread each, and return their results in order."""
    if len(tasks) == 1:
        return [tasks[0]()]
    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(lambda task: cast("Result", task()), tasks))
