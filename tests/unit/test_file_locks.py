"""One command at a time updates a file, and what dead writers left goes."""

import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce.errors import InputError
from sottovoce.files import only_one, whole_file

HOLDER = """
import sys
from pathlib import Path
from sottovoce.files import only_one, whole_file
with only_one(Path(sys.argv[1])) if sys.argv[2] == "lock" else whole_file(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path, kind: str) -> "subprocess.Popen[str]":
    """A process that holds ``path`` until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_updater_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with (
        only_one(path),
        pytest.raises(InputError, match="another command is updating .*; try again when it is"),
        only_one(path, patience_s=0),
    ):
        pass


def test_the_lock_goes_with_its_block(tmp_path: Path) -> None:
    for _ in range(2):
        with only_one(tmp_path / "state", patience_s=0):
            assert [each.name for each in tmp_path.iterdir()] == ["state.lock"]
        assert not list(tmp_path.iterdir())


def test_a_waiting_updater_comes_next(tmp_path: Path) -> None:
    process = holder(tmp_path / "state", "lock")
    with pytest.raises(InputError), only_one(tmp_path / "state", patience_s=0):
        pass
    # It ends when its input does; we wait for the lock as long as that takes.
    assert process.stdin is not None
    process.stdin.close()
    with only_one(tmp_path / "state", patience_s=60):
        pass
    process.stdin = None
    process.communicate()
    assert process.returncode == 0


def test_the_lock_of_a_killed_process_holds_nobody_up(tmp_path: Path) -> None:
    process = holder(tmp_path / "state", "lock")
    process.kill()
    process.communicate()
    assert (tmp_path / "state.lock").exists()
    with only_one(tmp_path / "state", patience_s=0):
        pass
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot lock"), only_one(tmp_path / "none" / "state"):
        pass


def test_what_a_killed_writer_left_goes_with_the_next(tmp_path: Path) -> None:
    process = holder(tmp_path / "out", "file")
    process.kill()
    process.communicate()
    assert len(list(tmp_path.glob(".out.*.part"))) == 1
    with whole_file(tmp_path / "out") as temporary:
        temporary.write_text("whole")
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_what_a_living_writer_writes_stays(tmp_path: Path) -> None:
    process = holder(tmp_path / "out", "file")
    with whole_file(tmp_path / "out") as temporary:
        temporary.write_text("ours")
    assert len(list(tmp_path.glob(".out.*.part"))) == 1
    process.communicate("")
    assert process.returncode == 0
    assert (tmp_path / "out").read_text() == ""


def test_files_that_only_look_alike_stay(tmp_path: Path) -> None:
    others = {".out.12345678.part.bak", ".out.1234567.part", ".other.12345678.part", "out.part"}
    for name in others:
        (tmp_path / name).touch()
    with whole_file(tmp_path / "out"):
        pass
    assert {each.name for each in tmp_path.iterdir()} == others | {"out"}
