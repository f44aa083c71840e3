"""The advisor page, as its tests meet it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.advisor_page import PageClient, served
from support.rank_servers import Clock


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageClient]:
    """Let in, for tests that change nothing."""
    with served(tmp_path_factory.mktemp("page")) as page:
        yield page


@pytest.fixture
def client(tmp_path: Path) -> Iterator[PageClient]:
    """Let in, with nothing brought."""
    with served(tmp_path) as page:
        yield page


@pytest.fixture
def demo(client: PageClient) -> PageClient:
    """Let in, and looking at the demo community."""
    assert client.post("/start/demo").headers["location"] == "/standing"
    return client


@pytest.fixture
def clock() -> Clock:
    return Clock()
