"""`sottovoce release`, typed by an unprivileged user, where the disk is read-only or full.

The disk is one: a mount that this process alone sees. It fails what SQLite calls, too.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from support.failing_calls import in_child
from support.mounts import can_mount, mount_read_only, mount_small

from sottovoce.cli import main

NOBODY = 65534
WORDS = "bank\ndebt\nloan\n"
TEXTS = "".join(f"my debt and the bank of {'loan ' * (number % 3)}\n" for number in range(6))
pytestmark = pytest.mark.skipif(
    not can_mount(), reason="only root of a machine that allows it mounts a disk"
)


@pytest.fixture(scope="module", autouse=True)
def _imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import and compile as root what somebody else may not be able to read."""
    place = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as patch:
        prepare(place, patch)
        assert typed(place, "one").startswith("0 "), typed(place, "one")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that an unprivileged user reaches and owns."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        place = Path(made)
        prepare(place, monkeypatch)
        for path in (place, *place.rglob("*")):
            shutil.chown(path, NOBODY, NOBODY)
        yield place


def prepare(place: Path, patch: pytest.MonkeyPatch) -> None:
    """Put texts, words and a place for the account's ledger there."""
    patch.delenv("SOTTOVOCE_LEDGER", raising=False)
    patch.setenv("XDG_STATE_HOME", str(place / "ledgers"))
    patch.chdir(place)
    (place / "ledgers").mkdir()
    (place / "texts.txt").write_text(TEXTS)
    (place / "words.txt").write_text(WORDS)


def typed(folder: Path, label: str, budget: str = "4") -> str:
    """The exit code and the error of a release with this label, into a folder of that name."""
    options = ["--epsilon", "2", "--precision", "2", "--out", str(folder / label), "--label", label]
    words = ["release", str(folder / "texts.txt"), "--vocabulary", str(folder / "words.txt")]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()):
        patch.setattr(sys, "argv", ["sottovoce", *words, *options, "--budget", budget])
        with redirect_stderr(StringIO()) as said:
            try:
                main()
            except SystemExit as end:
                return f"{end.code or 0} {said.getvalue()}"
    return f"0 {said.getvalue()}"


def by_nobody(
    folder: Path, label: str, first: Callable[[], object] | None = None, budget: str = "4"
) -> str:
    return in_child(partial(typed, folder, label, budget), NOBODY, first)


def is_published(folder: Path, label: str) -> bool:
    return (folder / label / "card.json").exists()


def test_a_ledger_on_a_disk_that_nobody_writes_to_stops_a_release(folder: Path) -> None:
    assert by_nobody(folder, "one").startswith("0 ")
    said = by_nobody(folder, "two", lambda: mount_read_only(folder / "ledgers"))
    assert said.startswith("2 "), said
    assert "sottovoce is read-only for you" in said, said
    assert "is used" not in said
    assert not is_published(folder, "two")
    assert by_nobody(folder, "two").startswith("0 ")


def test_what_was_spent_while_the_accounts_disk_was_read_only_counts(folder: Path) -> None:
    said = by_nobody(folder, "one", lambda: mount_read_only(folder / "ledgers"), budget="2")
    assert said.startswith("0 warning: the ledger ")
    assert "beside the corpus is used" in said
    again = by_nobody(folder, "two", budget="2")
    assert again.startswith("2 "), again
    assert not is_published(folder, "two")


def test_a_folder_on_a_disk_that_nobody_writes_to_is_said(folder: Path) -> None:
    (folder / "one").mkdir()
    said = by_nobody(folder, "one", lambda: mount_read_only(folder / "one"))
    assert said.startswith("2 "), said
    assert not is_published(folder, "one")


@pytest.mark.parametrize("kilobytes", [4, 16, 32, 48, 64, 96, 128, 192])
def test_a_disk_that_is_full_stops_a_release_or_lets_it_be_whole(
    folder: Path, kilobytes: int
) -> None:
    kept = folder / "kept"

    def fill() -> None:
        mount_small(folder / "ledgers", kilobytes, NOBODY)

    def release_and_keep() -> str:
        said = typed(folder, "one")
        shutil.copytree(folder / "ledgers", kept)
        return said

    said = in_child(release_and_keep, NOBODY, fill)
    assert said[:2] in {"0 ", "2 "}, said
    assert is_published(folder, "one") == said.startswith("0 ")
    before = (folder / "one" / "counts.npz").read_bytes() if said.startswith("0 ") else None
    # The same disk, with room: what was charged stays charged, what was drawn is not drawn again.
    shutil.rmtree(folder / "ledgers")
    kept.rename(folder / "ledgers")
    again = by_nobody(folder, "one")
    assert again.startswith("0 "), again
    assert before in {None, (folder / "one" / "counts.npz").read_bytes()}
