"""Parties that a run makes for itself, for tests that look inside."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

_Made = TypeVar("_Made")


@contextmanager
def captured(kind: type[_Made]) -> Iterator[list[_Made]]:
    """Every object of a class that is made within the block, in the order of their making."""
    made: list[_Made] = []
    making: Any = kind.__init__

    def noting(self: Any, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as the class takes them
        making(self, *given, **named)
        made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "__init__", noting)
        yield made
