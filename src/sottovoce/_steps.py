"""What a long command is doing: said where it is done, heard by whoever shows progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_heard: ContextVar[Callable[[str], None] | None] = ContextVar("heard", default=None)


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
