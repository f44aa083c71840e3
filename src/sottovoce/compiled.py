"""How Sottovoce compiles its kernels: one decorator, one place to spread work over cores."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import Context, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numba

Result = TypeVar("Result")
Kernel = TypeVar("Kernel", bound=Callable[..., object])

_MOST_STANDING = 256
# A whole number in a kernel: compiled it is a machine integer, uncompiled Python's or NumPy's.
Whole: TypeAlias = Any

if TYPE_CHECKING:

    def kernel(function: Kernel) -> Kernel: ...

    def unchecked_kernel(function: Kernel) -> Kernel: ...

else:
    # The GIL is released so that threads use all cores; the cache makes the second start fast.
    # Never with fastmath: the order of its sums depends on what else was compiled in the process,
    # so that a kernel from the cache gave other bits than the same kernel freshly compiled.
    kernel = numba.njit(cache=True, nogil=True)
    # Divides as the processor does, several at a time, and asks for no zeros: the kernel must.
    unchecked_kernel = numba.njit(cache=True, nogil=True, error_model="numpy")


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def on_threads(tasks: Sequence[Callable[[], Result]], threads: int | None = None) -> list[Result]:
    """Run ``tasks``, by default on a thread each, and return their results in order.

    The caller works too, and the other threads stay for the next time: starting some costs as much
    as a small task. On several threads no task sees the caller's context variables.
    """
    threads = min(threads or len(tasks), len(tasks))
    if threads <= 1:
        return [task() for task in tasks]
    numbered, results = iter(enumerate(tasks)), dict[int, Result]()

    def work() -> None:
        # Whoever is free takes the next; the interpreter's lock guards the iterator.
        try:
            for number, task in numbered:
                results[number] = task()
        finally:
            # After an error nobody begins another.
            deque(numbered, maxlen=0)

    others = list[Future[None]]()
    try:
        # In a context of its own: what a task sets must not be there for the thread's next one.
        others.extend(_standing().submit(Context().run, work) for _ in range(threads - 1))
        Context().run(work)
    finally:
        # What has not begun has nothing left to do; so a task may itself run tasks on threads.
        begun = [other for other in others if not other.cancel()]
        wait(begun)
    for other in begun:
        other.result()
    return [results[number] for number in range(len(tasks))]


_POOL: list[ThreadPoolExecutor] = []


def _standing() -> ThreadPoolExecutor:
    if not _POOL:
        _POOL.append(ThreadPoolExecutor(_MOST_STANDING, thread_name_prefix="standing"))
    return _POOL[0]


# A process that was forked has none of the threads.
os.register_at_fork(after_in_child=_POOL.clear)


def in_turn(
    tasks: Iterable[Callable[[], Result]], threads: int, *, waiting: int = 1
) -> Generator[Result, None, None]:
    """The results of ``tasks`` in order, that many under way at once.

    Beyond those under way, up to ``waiting`` tasks for each thread are begun or done before their
    results are asked for, and no more, so that memory is bounded however many tasks there are.
    """
    if threads == 1:
        yield from (task() for task in tasks)
        return
    pool, coming = ThreadPoolExecutor(threads), deque[Future[Result]]()
    try:
        for task in tasks:
            # In a copy of the caller's context, so that numpy treats errors there as it does here.
            coming.append(pool.submit(copy_context().run, task))
            if len(coming) > threads * (1 + waiting):
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def read_ahead(items: Iterable[Result]) -> Iterator[Result]:
    """The same items; while one is being used, a thread of its own makes the next, and no more."""
    making = iter(items)
    with ThreadPoolExecutor(1) as pool:
        # In a copy of the caller's context, so that numpy treats errors there as it does here.
        step = partial(copy_context().run, _step, making)
        coming = pool.submit(step)
        while made := coming.result():
            coming = pool.submit(step)
            yield made[0]


def _step(making: Iterator[Result]) -> tuple[Result] | None:
    for item in making:
        return (item,)
    return None
