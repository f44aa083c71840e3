"""What tests draw in place of the operating system's bits: their own, the same in every run.

A commit passes or fails by what is in it, not by chance. Each test draws from a stream of its name,
and what tests share, a fixture or what `drawn_once` keeps, from one of its own, whichever test
comes first. Long tests draw from the operating system, and so does everything with
`--system-randomness`, which is how to look for bounds that are too narrow; processes that a test
starts always do. Noise of over 2^18 cells is drawn by as many threads as there are cores, and is
the same only where their number is.
"""

import os
import random
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar, cast

import pytest

from sottovoce.privacy import randomness as source

SYSTEM = "system_randomness"
_P = ParamSpec("_P")
_T = TypeVar("_T")
_WORKER = os.getpid()
_SYSTEM_BYTES = os.urandom


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--system-randomness` leaves everything to the operating system."""
    parser.addoption("--system-randomness", action="store_true")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A stream of the test's name."""
    long = item.get_closest_marker("long") is not None
    system = long or item.get_closest_marker(SYSTEM) is not None
    if system or item.config.getoption("--system-randomness"):
        return (yield)
    with drawing(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """A stream of its own for what outlives a test."""
    if fixturedef.scope == "function" or request.config.getoption("--system-randomness"):
        return (yield)
    chosen = getattr(request, "param_index", 0)
    with drawing(f"{fixturedef.baseid}::{fixturedef.argname}[{chosen}]"):
        return (yield)


@contextmanager
def drawing(name: str) -> Iterator[None]:
    """Within the block this process draws the stream of a name from its beginning."""
    stream = random.Random(name)

    def drawn(count: int) -> bytes:
        # A child would draw what its parent draws.
        return stream.randbytes(count) if os.getpid() == _WORKER else _SYSTEM_BYTES(count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "os", SimpleNamespace(urandom=drawn, getpid=os.getpid))
        yield


def drawn_once(made: Callable[_P, _T]) -> Callable[_P, _T]:
    """Keep what ``made`` gives, like `functools.cache`; it draws a stream of its own."""

    @cache
    @wraps(made)
    def kept(*given: _P.args, **named: _P.kwargs) -> _T:
        with drawing(f"{made.__module__}.{made.__qualname__}{given}{named}"):
            return made(*given, **named)

    return cast("Callable[_P, _T]", kept)
