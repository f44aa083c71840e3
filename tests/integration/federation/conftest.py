"""Parties whose processes start at once."""

from collections.abc import Iterator

import pytest
from support.warm_python import warm_parties


@pytest.fixture(autouse=True)
def parties_that_start_at_once() -> Iterator[None]:
    """What `running_parties` starts has its imports already; the page's scenario starts its own."""
    with warm_parties():
        yield
