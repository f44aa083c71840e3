"""Rank servers of a test are closed at its end, and live under a clock that it turns."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.rank_reports import Servers
from support.rank_servers import MADE, Clock, pair


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def servers(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Servers:
    """Two servers under the module's ``RULES``."""
    return pair(tmp_path, clock, request.module.RULES)


@pytest.fixture(autouse=True)
def closing() -> Iterator[None]:
    """Close every server that the test has made; those of a whole module stay."""
    begin = len(MADE)
    yield
    while len(MADE) > begin:
        MADE.pop().close()
