"""Files are whole or absent."""

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sottovoce.corpus.matrix_file import write_matrix
from sottovoce.errors import CorpusError, InputError, ParameterError
from sottovoce.files import only_one, output_folder, passing_folder, small_text, whole_file


def test_a_finished_file_has_its_content_and_leaves_nothing_beside(tmp_path: Path) -> None:
    with whole_file(tmp_path / "out") as temporary:
        temporary.write_text("whole")
        assert not (tmp_path / "out").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "whole"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_interrupted_file_leaves_the_old_one(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(error), whole_file(tmp_path / "out") as temporary:
        temporary.write_text("half")
        raise error
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "old"


def test_a_private_file_is_for_its_owner_only(tmp_path: Path) -> None:
    with whole_file(tmp_path / "out", private=True) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600


def test_a_file_in_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="cannot write into .*none: No such file"),
        whole_file(tmp_path / "none" / "out"),
    ):
        pass


def test_a_file_where_a_folder_should_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="cannot create the folder .*taken: File exists"):
        output_folder(tmp_path / "taken")


def test_a_matrix_written_in_blocks_reads_back_whole(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).poisson(0.3, (50, 7)).astype(np.int32)
    blocks = [sparse.csr_array(rows[i : i + 13]) for i in range(0, 50, 13)]
    written = write_matrix(tmp_path / "counts.npz", blocks, 7)
    assert written == (50, int(np.count_nonzero(rows)))
    assert (sparse.load_npz(tmp_path / "counts.npz").toarray() == rows).all()
    assert [p.name for p in tmp_path.iterdir()] == ["counts.npz"]


def test_the_same_matrix_gives_the_same_bytes(tmp_path: Path) -> None:
    block = sparse.csr_array(np.eye(3, dtype=np.int32))
    for name in ("a", "b"):
        write_matrix(tmp_path / name, [block], 3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_is_flushed_before_it_gets_its_name_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        seen.append((Path(f"/proc/self/fd/{descriptor}").resolve(), (tmp_path / "out").exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    with whole_file(tmp_path / "out") as temporary:
        pass
    assert seen == [(temporary, False), (tmp_path, True)]


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    with whole_file(tmp_path / "out") as one, whole_file(tmp_path / "out") as other:
        assert one != other


def test_a_count_too_large_for_the_file_is_refused(tmp_path: Path) -> None:
    block = sparse.csr_array(np.array([[1 << 40]]))
    with pytest.raises(CorpusError, match="does not fit into 32 bits"):
        write_matrix(tmp_path / "m.npz", [block], 1)
    write_matrix(tmp_path / "m.npz", [block], 1, dtype="<i8")
    assert sparse.load_npz(tmp_path / "m.npz").toarray().tolist() == [[1 << 40]]


def test_a_small_text_is_read_up_to_its_limit_and_refused_by_what_it_should_be(
    tmp_path: Path,
) -> None:
    path = tmp_path / "list.txt"
    path.write_text("abc", encoding="utf-8")
    assert small_text(path, 3, "a list") == "abc"
    with pytest.raises(ParameterError, match=r"list\.txt is too large for a list\."):
        small_text(path, 2, "a list", ParameterError)
    with pytest.raises(InputError, match="cannot read .*none: No such file"):
        small_text(tmp_path / "none", 2, "a list")


def test_a_passing_folder_is_not_taken_for_one_that_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another start comes at the worst moment: before the folder's lock is taken."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lock = fcntl.flock

    def start_another(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        with passing_folder("page-") as other:
            assert other.is_dir()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", start_another)
    with passing_folder("page-") as folder:
        assert folder.is_dir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "page-left").mkdir()
    (tmp_path / "page-left" / "posts.csv").write_text("x")
    with passing_folder("page-") as folder:
        assert list(tmp_path.iterdir()) == [folder]


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
