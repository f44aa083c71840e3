"""A ledger that is there and cannot be used, for whatever reason, stops a release.

Root passes every permission, so that these releases run as somebody else.
"""

import os
import resource
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from support.failing_calls import in_child

import sottovoce as sv
from sottovoce.errors import InputError
from sottovoce.privacy.ledger import database

TEXTS = [f"my debt and the bank of {'loan ' * (number % 3)}" for number in range(6)]
NOBODY, ANOTHER = 65534, 65533
UNPRIVILEGED = NOBODY if os.geteuid() == 0 else None
HERE, NAMED = "my.ledger", "first.ledger"


@pytest.fixture(scope="module", autouse=True)
def _imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import and compile as root what somebody else may not be able to read."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("first")
        patch.setenv("XDG_STATE_HOME", str(place / "home"))
        _release(place, "one", NAMED)
        with suppress(InputError):
            _release(place, "two", None)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that an unprivileged user reaches and owns."""
    monkeypatch.delenv("SOTTOVOCE_LEDGER", raising=False)
    monkeypatch.setattr(database, "_LEDGER", replace(database._LEDGER, patience_s=0.2))
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        place = Path(made)
        monkeypatch.setenv("XDG_STATE_HOME", str(place / "home"))
        monkeypatch.chdir(place)
        _give(place, NOBODY)
        yield place


def _give(folder: Path, user: int) -> None:
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user)


def _release(folder: Path, label: str, ledger: str | None) -> str:
    sv.release_counts(
        TEXTS,
        words=["bank", "debt", "loan"],
        epsilon=2,
        precision=2,
        label=label,
        ledger=None if ledger is None else folder / ledger,
        out=folder / label,
    )
    return ""


def release(folder: Path, label: str, ledger: str | None = HERE) -> str:
    """Make a release as an unprivileged user; nothing, or why it was refused."""
    return in_child(lambda: _release(folder, label, ledger), UNPRIVILEGED)


def release_first(folder: Path, ledger: str | None = HERE) -> None:
    """Make a release that nothing stands in the way of."""
    if said := release(folder, "one", ledger):
        raise RuntimeError(said)


def is_published(folder: Path, label: str) -> bool:
    return (folder / label / "card.json").exists()


def make_file_read_only(folder: Path, ledger: str) -> None:
    (folder / ledger).chmod(0o400)
    if os.geteuid() == 0:
        os.chown(folder / ledger, ANOTHER, NOBODY)
        (folder / ledger).chmod(0o440)


def give_to_another(folder: Path, ledger: str) -> None:
    os.chown(folder / ledger, ANOTHER, ANOTHER)
    (folder / ledger).chmod(0o600)


def damage(folder: Path, ledger: str) -> None:
    size = (folder / ledger).stat().st_size
    with (folder / ledger).open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * (size - 100))


def cut_short(folder: Path, ledger: str) -> None:
    with (folder / ledger).open("r+b") as file:
        file.truncate(2048)


def empty(folder: Path, ledger: str) -> None:
    (folder / ledger).write_bytes(b"")


def write_text_over(folder: Path, ledger: str) -> None:
    (folder / ledger).write_text("no ledger any more")


def lose(folder: Path, ledger: str) -> None:
    (folder / ledger).unlink()


def lose_all(folder: Path, ledger: str) -> None:
    """The ledger, its key and its outputs."""
    for found in [folder / ledger, *folder.glob(f"{ledger}[.-]*")]:
        shutil.rmtree(found) if found.is_dir() else found.unlink()


def empty_all(folder: Path, ledger: str) -> None:
    lose_all(folder, ledger)
    (folder / ledger).touch()
    if os.geteuid() == 0:
        os.chown(folder / ledger, NOBODY, NOBODY)


def lose_key(folder: Path, ledger: str) -> None:
    (folder / f"{ledger}.key").unlink()


def hide(folder: Path, ledger: str) -> None:
    """Let nobody look into the folder it is in."""
    hidden = folder / "hidden"
    hidden.mkdir(mode=0o700)
    for found in folder.glob(f"{ledger}*"):
        found.rename(hidden / found.name)
    (folder / ledger).symlink_to(hidden / ledger)
    os.chown(hidden, ANOTHER, ANOTHER)


def lose_outputs(folder: Path, ledger: str) -> None:
    shutil.rmtree(folder / f"{ledger}.outputs")


Spoil = Callable[[Path, str], None]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
SPOILS = [
    pytest.param(make_file_read_only, id="read-only"),
    pytest.param(give_to_another, id="another owner's", marks=AS_ROOT),
    pytest.param(damage, id="damaged"),
    pytest.param(cut_short, id="cut short"),
    pytest.param(write_text_over, id="a text"),
    pytest.param(hide, id="hidden", marks=AS_ROOT),
    pytest.param(lose_key, id="without its key"),
]
GONE = [pytest.param(lose, id="gone"), pytest.param(empty, id="empty")]
GONE += [pytest.param(lose_all, id="all gone"), pytest.param(empty_all, id="all gone but empty")]


@pytest.mark.parametrize("spoil", [*SPOILS, *GONE[:3]])
def test_a_ledger_that_cannot_be_used_or_is_gone_stops_a_release(
    folder: Path, spoil: Spoil
) -> None:
    release_first(folder)
    spoil(folder, HERE)
    assert release(folder, "two")
    assert not is_published(folder, "two")


@pytest.mark.parametrize("spoil", [*SPOILS, *GONE])
def test_the_users_own_ledger_that_cannot_be_used_or_is_gone_stops_a_release(
    folder: Path, spoil: Spoil
) -> None:
    release_first(folder, None)
    spoil(folder / "home" / "sottovoce", "ledger")
    assert release(folder, "two", None)
    assert not is_published(folder, "two")


@pytest.mark.parametrize("spoil", [*SPOILS, *GONE])
def test_a_known_ledger_that_cannot_be_asked_stops_a_release_from_another(
    folder: Path, spoil: Spoil
) -> None:
    release_first(folder, NAMED)
    spoil(folder, NAMED)
    assert release(folder, "two", None)
    assert not is_published(folder, "two")


def test_what_was_spent_in_another_ledger_counts(folder: Path) -> None:
    release_first(folder, NAMED)
    assert "BudgetError" in release(folder, "two", None)


def test_a_known_ledger_that_another_process_has_locked_stops_a_release(folder: Path) -> None:
    release_first(folder)
    holder = sqlite3.connect(folder / HERE, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    said = release(folder, "two")
    holder.execute("ROLLBACK")
    holder.close()
    assert "LedgerError" in said
    assert not is_published(folder, "two")


def test_a_folder_that_cannot_be_written_stops_a_release(folder: Path) -> None:
    release_first(folder)
    (folder / "two").mkdir()
    _give(folder / "two", NOBODY)
    folder.chmod(0o500)
    try:
        assert release(folder, "two")
    finally:
        folder.chmod(0o700)
    assert not is_published(folder, "two")


@pytest.mark.parametrize("kilobytes", [1, 4, 16, 48, 64, 128])
def test_a_full_disk_publishes_nothing_that_is_not_charged(folder: Path, kilobytes: int) -> None:
    def on_a_full_disk() -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))
        return _release(folder, "two", "new.ledger")

    first = in_child(on_a_full_disk, UNPRIVILEGED)
    before = (folder / "two" / "counts.npz").read_bytes() if not first else None
    assert not (first and is_published(folder, "two"))
    assert release(folder, "two", "new.ledger") == ""
    after = (folder / "two" / "counts.npz").read_bytes()
    assert before in {None, after}


@pytest.mark.parametrize("what", ["key", "outputs"])
def test_a_release_whose_ledger_lost_a_part_is_not_drawn_again(folder: Path, what: str) -> None:
    release_first(folder)
    (lose_key if what == "key" else lose_outputs)(folder, HERE)
    shutil.rmtree(folder / "one")
    said = release(folder, "one")
    assert "LedgerError" in said
    assert not is_published(folder, "one")
