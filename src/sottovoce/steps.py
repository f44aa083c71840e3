"""What a long command is doing, and whether anybody still waits for it.

It is said where it is done, and heard by whoever shows progress or knows who waits.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from sottovoce.errors import UnwantedError

_Item = TypeVar("_Item")

_heard: ContextVar[Callable[[str], None] | None] = ContextVar("heard", default=None)


no_longer_wanted: ContextVar[Callable[[], bool] | None] = ContextVar("wanted", default=None)
"""Asked between pieces of long work; None: somebody waits for as long as it takes."""


def while_wanted(items: Iterable[_Item]) -> Iterator[_Item]:
    """The same, until nobody waits for what is made of them."""
    given_up = no_longer_wanted.get()
    for item in items:
        if given_up is not None and given_up():
            raise UnwantedError
        yield item


@contextmanager
def steps_heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Have ``listener`` told of every step that is said within."""
    token = _heard.set(listener)
    try:
        yield
    finally:
        _heard.reset(token)


def say_step(step: str) -> None:
    """Say what begins now; without a listener nothing happens."""
    listener = _heard.get()
    if listener is not None:
        listener(step)


def repetitions(count: int) -> Iterator[int]:
    """The numbers 0 to ``count`` - 1, each said as a repetition when it is asked for."""
    for number in range(count):
        say_step(f"repetition {number + 1} of {count}")
        yield number
