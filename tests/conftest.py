"""What every test shares."""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from sottovoce.cli import main

sys.path.insert(0, str(Path(__file__).parent))

from support.made_data import write_all

# How long an example takes says how busy the machine is, and no law here is about time; nor about
# how many of the drawn examples are of use, which varies from run to run. A commit passes or fails
# by its own examples, always the same; `make test-long` draws others (--hypothesis-profile).
for name, derandomize in (("same-examples", True), ("new-examples", False)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=derandomize,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
settings.load_profile("same-examples")
pytest_plugins = ["support.costs"]

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
HERE = Path(__file__).parent
# These run what others run too, over and over, or read sources; tracing costs them a third more.
UNTRACED = tuple(
    HERE / name
    for name in (
        "browser",
        "property",
        "statistical",
        "integration/test_named_options.py",
        "integration/test_notebooks.py",
        "integration/test_readme.py",
        "unit/test_layout.py",
    )
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Trace repetitions only where kernels are not compiled: there they are what is traced."""
    for item in items if COMPILED else []:
        if any(item.path.is_relative_to(each) for each in UNTRACED):
            item.add_marker("no_cover")


@pytest.fixture(autouse=True)
def wrapping_integers() -> Iterator[None]:
    """Uncompiled kernels wrap around like compiled ones, without NumPy's warning."""
    if COMPILED:
        yield
    else:
        with np.errstate(over="ignore"):
            yield


@pytest.fixture(scope="session", autouse=True)
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What parties note outside their folders goes to a folder of this run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what programs keep of a user from run to run."""
    return tmp_path_factory.mktemp("states")


@pytest.fixture(autouse=True)
def own_state(
    states: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Each test is a user of their own: no ledger of another test, or of whoever runs it."""
    folder = states / hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.delenv("SOTTOVOCE_LEDGER", raising=False)
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of data sets, or a skip that says where to get them."""
    given = os.environ.get("SOTTOVOCE_DATA")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("data sets are absent: point SOTTOVOCE_DATA at their folder")
    return folder


@pytest.fixture(scope="session")
def made_up_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stand-ins for the data sets."""
    return write_all(tmp_path_factory.mktemp("data") / "made-up")


@pytest.fixture(
    params=["made_up_data", pytest.param("shared_data", marks=pytest.mark.long)],
    ids=["made-up", "real"],
)
def some_data(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data sets, where any will do: made up, and in the long run the real ones."""
    folder: Path = request.getfixturevalue(request.param)
    monkeypatch.setenv("SOTTOVOCE_DATA", str(folder))
    return folder


@pytest.fixture
def small_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits of fewer draws than their power needs, where it only matters that they are made."""
    monkeypatch.setattr("sottovoce.privacy.audit._black_box.TRIALS", 1 << 16)
    monkeypatch.setattr("sottovoce.privacy.audit._black_box._SMALL_CLAIM_TRIALS", 1 << 16)
    # A lower bound of so few draws stays below nine tenths of the claim.
    monkeypatch.setattr(
        "sottovoce.privacy.audit._black_box.lacks_power", lambda _bound, _epsilon: False
    )


@pytest.fixture(scope="session")
def demo_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small demo, one for all processes that run tests."""
    from support.demos import shared_report  # noqa: PLC0415 - it imports all that a demo does

    # Each process of xdist has a folder of its own in a common one; else that one is of all runs.
    own = tmp_path_factory.getbasetemp()
    return shared_report(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process: its exit code, standard output and standard error."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sottovoce", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err

    return command


@pytest.fixture
def run_study(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Run a study without any data set at hand."""
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    return partial(run, "study")
