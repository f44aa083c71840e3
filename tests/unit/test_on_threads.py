"""Tasks on threads that stay: results in order, errors told, no deadlock, forks start over."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial

import numpy as np
import pytest

from sottovoce import compiled
from sottovoce.compiled import in_turn, on_threads, read_ahead

OUTER: ContextVar[str] = ContextVar("outer", default="none")


@pytest.mark.parametrize("threads", [None, 1, 2, 3, 9])
def test_results_come_in_the_order_of_the_tasks(threads: int | None) -> None:
    tasks = [partial(pow, number, 2) for number in range(7)]
    assert on_threads(tasks, threads) == [number**2 for number in range(7)]


def test_two_tasks_run_at_once_and_the_caller_does_one() -> None:
    meeting = threading.Barrier(2, timeout=10)

    def meet() -> int:
        meeting.wait()
        return threading.get_ident()

    found = on_threads([meet, meet])
    assert threading.get_ident() in found
    assert len(set(found)) == 2


def test_the_threads_are_there_the_next_time() -> None:
    meeting = threading.Barrier(3, timeout=10)
    on_threads([meeting.wait] * 3)
    before = threading.active_count()
    for _ in range(5):
        on_threads([meeting.wait] * 3)
    assert threading.active_count() == before


def test_a_task_may_run_tasks_on_threads_itself() -> None:
    def inner() -> int:
        return sum(on_threads([partial(int, number) for number in (1, 2, 3)]))

    def outer() -> int:
        return sum(on_threads([inner] * 4))

    assert on_threads([outer] * 300, 300) == [24] * 300


def test_an_error_is_told_once_all_tasks_that_were_begun_are_done() -> None:
    meeting, caller, done = threading.Barrier(2, timeout=10), threading.get_ident(), list[int]()

    def task() -> None:
        meeting.wait()
        if threading.get_ident() == caller:
            raise ValueError("here")
        time.sleep(0.05)
        done.append(1)

    with pytest.raises(ValueError, match="here"):
        on_threads([task] * 2)
    assert done == [1]


def test_no_task_on_several_threads_sees_the_caller_s_variables() -> None:
    token = OUTER.set("seen")
    try:
        assert on_threads([OUTER.get] * 3) == ["none"] * 3
    finally:
        OUTER.reset(token)


def test_what_a_task_sets_is_gone_when_its_thread_has_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meeting = threading.Barrier(3, timeout=10)

    def task() -> str:
        found = OUTER.get()
        OUTER.set("left behind")
        # So that each thread has one task.
        meeting.wait()
        return found

    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(compiled, "_POOL", [pool])
        assert [on_threads([task] * 3) for _ in range(2)] == [["none"] * 3] * 2


def test_after_an_error_no_other_task_is_begun() -> None:
    meeting, began = threading.Barrier(2, timeout=10), list[int]()

    def fail() -> None:
        meeting.wait()
        raise ValueError

    def late() -> None:
        meeting.wait()
        time.sleep(0.1)

    def begin() -> None:
        began.append(1)

    for first, second in ((fail, late), (late, fail)):
        with pytest.raises(ValueError):  # noqa: PT011 - it has no words
            on_threads([first, second, *[begin] * 20], 2)
    assert began == []


def test_a_forked_process_starts_threads_of_its_own() -> None:
    on_threads([threading.get_ident] * 3)
    child = os.fork()
    if not child:
        # Only two threads at once get past it.
        meeting = threading.Barrier(2, timeout=5)
        with suppress(threading.BrokenBarrierError):
            on_threads([meeting.wait] * 2)
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_items_come_in_order_and_all() -> None:
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []


def test_the_next_item_is_made_while_one_is_used() -> None:
    started = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        started.set()
        yield 2

    coming = read_ahead(items())
    assert next(coming) == 1
    assert started.wait(10)
    assert list(coming) == [2]


def test_no_more_than_one_item_is_made_ahead() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            made.append(number)
            yield number

    coming = read_ahead(items())
    next(coming)
    # Closing waits for the item under way.
    coming.close()  # type: ignore[attr-defined] # a generator
    assert made == [0, 1]


def test_an_error_comes_where_its_item_would_have_come() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("here")

    coming = read_ahead(items())
    assert next(coming) == 1
    with pytest.raises(ValueError, match="here"):
        next(coming)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_in_turn_come_in_the_order_of_the_tasks(threads: int) -> None:
    def slow_first(number: int) -> int:
        time.sleep(0.01 if number == 0 else 0.0)
        return number

    assert list(in_turn([partial(slow_first, n) for n in range(20)], threads)) == list(range(20))


def test_tasks_are_not_begun_long_before_their_results_are_taken() -> None:
    asked = []

    def tasks() -> Iterator[partial[int]]:
        for number in range(100):
            asked.append(number)
            yield partial(int, number)

    results = in_turn(tasks(), 2, waiting=1)
    assert next(results) == 0
    assert len(asked) <= 2 * (1 + 1) + 1
    results.close()
    assert len(asked) <= 2 * (1 + 1) + 1


def test_an_error_comes_out_where_the_result_would_and_ends_the_rest() -> None:
    ran = []

    def task(number: int) -> int:
        if number == 3:
            raise ZeroDivisionError
        ran.append(number)
        return number

    found = []
    with pytest.raises(ZeroDivisionError):
        for result in in_turn([partial(task, n) for n in range(50)], 2):
            found.append(result)  # noqa: PERF402 - what came before the error
    assert found == [0, 1, 2]
    assert len(ran) < 50


def test_numpy_treats_errors_there_as_here() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(in_turn([lambda: np.ones(1) / np.zeros(1)] * 2, 2))
