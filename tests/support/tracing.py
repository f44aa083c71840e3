"""Which tests are traced for coverage: tracing makes all of Python slower while it is on.

Not traced are tests that run what others run too, over and over, or read sources; the dear ones
that tools/untraced.py has listed; and all that workers but the first import to find their tests.
With compilation off everything is traced: that run is there to look inside kernels.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from coverage import Coverage

TESTS = Path(__file__).parents[1]
FOLDERS = ("browser", "property", "statistical")
FILES = ("test_named_options.py", "test_notebooks.py", "test_readme.py")
LISTED = frozenset((TESTS / "untraced.txt").read_text(encoding="utf-8").split())
FIRST_WORKER = "gw0"
_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """One worker sees what runs when modules are imported, and that is enough."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", FIRST_WORKER)
    with nullcontext() if worker == FIRST_WORKER else _untraced():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Leave out a test with its fixtures."""
    with nullcontext() if is_traced(item) else _untraced():
        return (yield)


def is_traced(item: pytest.Item) -> bool:
    """Whether coverage counts what a test passes; all are, where a run notes who passed what."""
    noted = bool(item.config.getoption("cov_context", None))
    left_out = is_repeated(item.path.relative_to(TESTS)) or item.nodeid.partition("[")[0] in LISTED
    return noted or not (_COMPILED and left_out)


def is_repeated(path: Path) -> bool:
    """Whether the tests of a file below ``tests`` run what others run too."""
    return path.parts[0] in FOLDERS or path.name in FILES


@contextmanager
def _untraced() -> Iterator[None]:
    measured = Coverage.current()
    if measured is None:
        yield
        return
    measured.stop()
    try:
        yield
    finally:
        measured.start()
