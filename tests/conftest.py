"""What every test shares."""

import hashlib
import math
import os
import sys
from collections.abc import Generator, Iterator
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main
from hypothesis import HealthCheck, settings

from sottovoce.cli import main

sys.path.insert(0, str(Path(__file__).parent))

from support.made_data import write_all
from support.shown import Run, Shown

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
pytest_plugins = ["support.chance", "support.costs", "support.tracing"]

# All commands, made from their functions once and not for each that a test runs.
MADE_COMMANDS = cache(typer.main.get_command)
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
SET_UPS = count()


@pytest.fixture(autouse=True)
def wrapping_integers() -> Iterator[None]:
    """Uncompiled kernels wrap around like compiled ones, without NumPy's warning."""
    if COMPILED:
        yield
    else:
        with np.errstate(over="ignore"):
            yield


@pytest.fixture(scope="session", autouse=True)
def states(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for what programs keep of a user from run to run: none of it is noted at home."""
    folder = tmp_path_factory.mktemp("states")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "between-tests"))
        yield folder


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """What tests share is set up by a user of its own, however often that is done.

    Each time it draws the same bits (support/chance.py): a ledger made again would have the name of
    the first, and be taken for an old copy of it.
    """
    if fixturedef.scope == "function" or fixturedef.argname in ("tmp_path_factory", "states"):
        return (yield)
    folder: Path = request.getfixturevalue("states") / f"shared-{next(SET_UPS)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        return (yield)


@pytest.fixture(autouse=True)
def own_state(
    states: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Each test is a user of their own: nothing kept by another test, or by who runs it."""
    folder = states / hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    for name in ("SOTTOVOCE_LEDGER", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
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


@pytest.fixture(autouse=True)
def documents_enough(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of few documents are opened, since most tests train on some dozens; see the marker."""
    if request.node.get_closest_marker("opened_share") is None:
        monkeypatch.setattr("sottovoce.learn.support.MOST_OPENED_SHARE", math.inf)


@pytest.fixture
def small_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits of fewer draws than their power needs, where it only matters that they are made."""
    monkeypatch.setattr("sottovoce.privacy.audit.black_box.TRIALS", 1 << 16)
    monkeypatch.setattr("sottovoce.privacy.audit.black_box._SMALL_CLAIM_TRIALS", 1 << 16)
    # A lower bound of so few draws stays below nine tenths of the claim.
    monkeypatch.setattr(
        "sottovoce.privacy.audit.black_box.lacks_power", lambda _bound, _epsilon: False
    )
    from sottovoce.release import trial  # noqa: PLC0415 - it imports all that a release does

    every = trial.list_ways
    monkeypatch.setattr(trial, "list_ways", lambda *asked: dict(list(every(*asked).items())[:3]))


@pytest.fixture(scope="session")
def demo_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small demo, one for all processes that run tests."""
    from support.demos import shared_report  # noqa: PLC0415 - it imports all that a demo does

    # Each process of xdist has a folder of its own in a common one; else that one is of all runs.
    own = tmp_path_factory.getbasetemp()
    return shared_report(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process: its exit code, standard output and standard error."""

    def command(*arguments: object) -> Shown:
        monkeypatch.setattr(sys, "argv", ["sottovoce", *map(str, arguments)])
        monkeypatch.setattr(typer.main, "get_command", MADE_COMMANDS)
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return Shown(int(stop.value.code or 0), shown.out, shown.err)

    return command


@pytest.fixture
def run_study(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a study without any data set at hand."""
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    return partial(run, "study")
