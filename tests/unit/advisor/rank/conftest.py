"""Rank servers of a test are closed at its end, and live under a clock that it turns."""

from collections.abc import Iterator

import pytest
from support.rank_servers import MADE, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def closing() -> Iterator[None]:
    """Close every server that the test has made; those of a whole module stay."""
    begin = len(MADE)
    yield
    while len(MADE) > begin:
        MADE.pop().close()
