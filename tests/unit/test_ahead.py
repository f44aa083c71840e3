"""Making the next item while one is used changes neither items, order nor errors."""

import threading
from collections.abc import Iterator

import pytest

from sottovoce.compiled import read_ahead


def test_items_come_in_order_and_all() -> None:
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []


def test_none_is_an_item() -> None:
    assert list(read_ahead([None, 0, None])) == [None, 0, None]


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
