"""Tasks on several threads: results in order, no more under way than was said, errors passed on."""

import threading
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from sottovoce.compiled import in_turn


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(threads: int) -> None:
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


def test_two_tasks_run_at_once() -> None:
    both = threading.Barrier(2, timeout=10)
    assert len(list(in_turn([both.wait, both.wait], 2))) == 2


def test_numpy_treats_errors_there_as_here() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(in_turn([lambda: np.ones(1) / np.zeros(1)] * 2, 2))
