"""The same failures, below Python: each call of the C library fails in turn, SQLite's own as well.

The tests of failing calls run again in a process that was started under `failing_calls.c`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.failing_calls import SHIM

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "support" / "failing_calls.c"
COMPILER = shutil.which("cc")
RELEASE = "release/test_failing_calls.py::test_"
STATE = "assess/test_failing_calls_of_a_state.py::test_"
PARTY = "federation/test_failing_calls_of_a_party.py::test_"
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler (cc)")


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("shim") / "failing_calls.so"
    command = [str(COMPILER), "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


def under_shim(shim: Path, test: str) -> str:
    """What a test says whose calls are failed by the library."""
    environment = {**os.environ, "LD_PRELOAD": str(shim), SHIM: str(shim)}
    command = [sys.executable, "-m", "pytest", "-n", "0", "--no-cov", "-q", "-s", str(TESTS / test)]
    done = subprocess.run(
        command, env=environment, cwd=TESTS.parents[1], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    (line,) = (each for each in done.stdout.splitlines() if " failures of " in each)
    print(line)  # noqa: T201 - shown by -s: how many failures there were
    return line


@pytest.mark.parametrize(
    "test",
    [
        RELEASE + "no_failing_call_lets_a_release_beyond_its_budget",
        PARTY + "a_journal_keeps_what_a_party_has_said",
        pytest.param(RELEASE + "a_release_survives_every_failing_call", marks=pytest.mark.long),
        pytest.param(STATE + "a_state_grows_once_or_not_at_all[joined]", marks=pytest.mark.long),
        pytest.param(STATE + "whoever_is_erased_is_in_the_state_or_gone", marks=pytest.mark.long),
        pytest.param(PARTY + "a_memory_counts_what_was_answered_once", marks=pytest.mark.long),
        pytest.param(
            PARTY + "a_journal_opens_by_its_key_however_its_change_ends", marks=pytest.mark.long
        ),
    ],
)
def test_no_call_of_the_library_fails_unnoticed(shim: Path, test: str) -> None:
    assert under_shim(shim, test).endswith(" 0 unnamed, 0 wrong")


def test_the_library_fails_what_sqlite_calls(shim: Path) -> None:
    code = (
        "import ctypes, sqlite3, sys\n"
        f"shim = ctypes.CDLL({str(shim)!r})\n"
        "shim.calls_made.restype = ctypes.c_char_p\n"
        "shim.calls_arm(sys.argv[1].encode(), ctypes.c_long(0), 5, 0)\n"
        "base = sqlite3.connect(sys.argv[1] + '/base')\n"
        "base.execute('CREATE TABLE one (two)')\n"
        "base.close()\n"
        "print(shim.calls_made().decode())\n"
    )
    folder = shim.parent / "here"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=True,
    )
    made = done.stdout.splitlines()
    if "pwrite base" not in made:
        pytest.skip("this Python's SQLite does not call the C library by name")
    assert {"open base", "fsync base", "unlink base-journal"} <= set(made)
