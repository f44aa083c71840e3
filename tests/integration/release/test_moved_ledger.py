"""A ledger goes to another machine, of which each has a folder of state: one place works, or none.

Attacks: a copy is kept where it left; an older one is brought to where it is; an archive is used
twice; each call that reaches a disk fails in turn.
"""

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.failing_calls import LOST_ANSWERS, ONCE_AND_LASTING, Outcomes, fail_each
from support.shown import Run

import sottovoce as sv
from sottovoce.errors import InputError, LedgerError
from sottovoce.privacy.ledger import database
from sottovoce.privacy.ledger.chosen_ledger import move_ledger
from sottovoce.privacy.ledger.ledger import Ledger

TEXTS = [f"my debt and the bank of {'loan ' * (number % 3)}" for number in range(6)]
WORDS = ["bank", "debt", "loan"]
SAMPLES = [4, pytest.param(40, marks=pytest.mark.long)]
KINDS = (*ONCE_AND_LASTING, *LOST_ANSWERS)


@pytest.fixture(autouse=True)
def _own_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOTTOVOCE_LEDGER", raising=False)
    monkeypatch.setattr(database, "_LEDGER", replace(database._LEDGER, patience_s=0.2))


@contextmanager
def on(machine: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(machine / "home"))
        yield


def move(machine: Path, name: str, target: Path) -> None:
    """Move what lies there, by its name, while on that machine."""
    with on(machine):
        move_ledger(machine / name, target)


def copy_ledger(machine: Path, folder: Path, name: str = "my") -> None:
    for file in list(machine.glob("my.ledger*")):
        copy = folder / file.name.replace("my.", f"{name}.")
        (shutil.copytree if file.is_dir() else shutil.copy)(file, copy)


def release(machine: Path, *, label: str = "", ledger: str = "my.ledger") -> bytes:
    """Counts of the same texts, at one epsilon of a budget of four."""
    with on(machine):
        out = machine / "out"
        shutil.rmtree(out, ignore_errors=True)
        asked: Any = {"label": label, "ledger": machine / ledger, "out": out}
        sv.release_counts(TEXTS, words=WORDS, epsilon=1, precision=2, budget=4, **asked)
        return (out / "counts.npz").read_bytes()


def works(machine: Path) -> bool:
    """Whether a release of before is made again there, which spends nothing."""
    if not (machine / "my.ledger").exists():
        return False
    try:
        release(machine)
    except InputError:
        return False
    return True


def machines(folder: Path) -> tuple[Path, Path]:
    return folder / "old", folder / "new"


def spend_once(folder: Path) -> tuple[Path, Path]:
    """The old machine, on which a release was made, and the new one."""
    old, new = machines(folder)
    old.mkdir()
    new.mkdir()
    release(old)
    return old, new


def moved(folder: Path, run: Run) -> tuple[Path, Path]:
    """From the old machine to the new one, by the command."""
    old, new = spend_once(folder)
    for machine, words in ((old, ("my.ledger", "a.zip")), (new, ("a.zip", "my.ledger"))):
        if machine == new:
            (old / "a.zip").rename(new / "a.zip")
        with on(machine):
            code, _, err = run("ledger", "move", *(machine / word for word in words))
        assert code == 0, err
    return old, new


def test_a_moved_ledger_goes_on_where_it_is_and_replays_what_it_drew(
    run: Run, tmp_path: Path
) -> None:
    spend_once(tmp_path)
    before = release(tmp_path / "old")
    shutil.rmtree(tmp_path / "old")
    shutil.rmtree(tmp_path / "new")
    _old, new = moved(tmp_path, run)
    spends = Ledger(new / "my.ledger", counted=False)
    assert release(new) == release(new) != before
    release(new, label="second")
    (account,) = spends.accounts()
    assert len(spends.spends(account.corpus)) == 2
    modes = {file.stat().st_mode & 0o777 for file in new.rglob("my.ledger*") if file.is_file()}
    assert modes == {0o600}
    assert not (new / "a.zip").exists()


def test_where_it_left_every_release_is_refused_and_says_since_when(
    run: Run, tmp_path: Path
) -> None:
    old, _new = moved(tmp_path, run)
    with pytest.raises(LedgerError, match=r"was moved from this machine on \d{4}-\d\d-\d\d"):
        release(old)
    assert not list(old.glob("my.ledger*/*")), "what it drew is left"
    assert not (old / "my.ledger.key").exists()


def test_no_command_takes_a_ledger_that_left_for_one_that_never_was(
    run: Run, tmp_path: Path
) -> None:
    old, _new = moved(tmp_path, run)
    for words in (("show",), ("move",)):
        to = (old / "b.zip",) if words == ("move",) else ()
        with on(old):
            code, _, err = run("ledger", *words, old / "my.ledger", *to)
        assert code == 2
        assert "was moved from this machine" in err


def test_a_copy_that_was_kept_where_it_left_is_refused(tmp_path: Path) -> None:
    old, _ = spend_once(tmp_path)
    copy_ledger(old, old, "copy")
    move(old, "my.ledger", old / "a.zip")
    (old / "a.zip").unlink()
    for file in list(old.glob("copy.ledger*")):
        file.rename(old / file.name.replace("copy.", "my."))
    with pytest.raises(LedgerError, match="was moved from this machine"):
        release(old)
    with pytest.raises(LedgerError, match="was moved from this machine"):
        release(old, label="other")
    with pytest.raises(LedgerError, match="was moved from this machine"):
        move(old, "my.ledger", old / "b.zip")


def test_an_older_copy_is_noticed_on_the_new_machine(tmp_path: Path) -> None:
    """Its count of spends has come along."""
    old, new = spend_once(tmp_path)
    (tmp_path / "backup").mkdir()
    copy_ledger(old, tmp_path / "backup")
    release(old, label="second")
    move(old, "my.ledger", new / "a.zip")
    move(new, "a.zip", new / "moved.ledger")
    for file in (tmp_path / "backup").iterdir():
        file.rename(new / file.name)
    with pytest.raises(LedgerError, match="it is an old copy"):
        release(new, label="third")


def test_an_archive_does_not_bring_back_what_has_gone_on(tmp_path: Path) -> None:
    old, new = spend_once(tmp_path)
    move(old, "my.ledger", new / "a.zip")
    shutil.copy(new / "a.zip", new / "copy.zip")
    move(new, "a.zip", new / "my.ledger")
    release(new, label="second")
    with pytest.raises(InputError, match="the archive is an old copy"):
        move(new, "copy.zip", new / "twice.ledger")
    move(new, "my.ledger", new / "b.zip")
    with pytest.raises(InputError, match="the archive is an old copy"):
        move(new, "copy.zip", new / "twice.ledger")


def test_a_ledger_can_be_moved_back(tmp_path: Path) -> None:
    old, new = spend_once(tmp_path)
    there = release(old)
    for here, other in ((old, new), (new, old)):
        move(here, "my.ledger", here / "a.zip")
        (here / "a.zip").rename(other / "a.zip")
        move(other, "a.zip", other / "my.ledger")
    assert release(old) == there
    release(old, label="second")
    assert not works(new)


def test_another_ledgers_release_asks_the_one_that_was_moved_here(tmp_path: Path) -> None:
    old, new = spend_once(tmp_path)
    move(old, "my.ledger", new / "a.zip")
    move(new, "a.zip", new / "my.ledger")
    with pytest.warns(UserWarning, match=r"my\.ledger"):
        release(new, ledger="other.ledger")


def test_nothing_is_written_over_and_no_stranger_is_let_in(tmp_path: Path) -> None:
    old, new = spend_once(tmp_path)
    (old / "a.zip").write_text("mine")
    with pytest.raises(InputError, match="there already"):
        move(old, "my.ledger", old / "a.zip")
    assert works(old)
    move(old, "my.ledger", new / "a.zip")
    (new / "my.ledger").write_text("mine")
    with pytest.raises(InputError, match="there already"):
        move(new, "a.zip", new / "my.ledger")
    assert (new / "my.ledger").read_text() == "mine"
    with zipfile.ZipFile(new / "a.zip") as packed:
        facts = json.loads(packed.read("move.json"))
    for name, more in (("../up", {}), ("ledger", {"name": "../up"}), ("ledger", {"kind": "party"})):
        with zipfile.ZipFile(new / "false.zip", "w") as packed:
            packed.writestr("move.json", json.dumps({**facts, **more}))
            packed.writestr(name, b"x")
        with pytest.raises(InputError, match="no archive of a ledger"):
            move(new, "false.zip", new / "your.ledger")
    cut = (new / "a.zip").read_bytes()
    (new / "cut.zip").write_bytes(cut[: len(cut) // 2])
    with pytest.raises(InputError, match="no archive of a ledger"):
        move(new, "cut.zip", new / "your.ledger")
    assert not (new / "your.ledger").exists()


def _cut(archive: bytes) -> bytes:
    return archive[:500]


def _not_utf8(archive: bytes) -> bytes:
    return archive.replace(b'"kind"', b'"k\xffnd"')


def _flip_last(archive: bytes) -> bytes:
    """Change the last file, the ledger, so that its sum is wrong."""
    at = archive.rindex(b"SQLite format 3") + 40
    return archive[:at] + bytes([archive[at] ^ 255]) + archive[at + 1 :]


def _lock(archive: bytes) -> bytes:
    """Call the last file encrypted, in the archive's list."""
    at = archive.rindex(b"PK\x01\x02") + 8
    return archive[:at] + bytes([archive[at] | 1]) + archive[at + 1 :]


def _compress(archive: bytes) -> bytes:
    """Call the last file compressed, in the archive's list."""
    at = archive.rindex(b"PK\x01\x02") + 10
    return archive[:at] + bytes([12]) + archive[at + 1 :]


@pytest.mark.parametrize("harm", [_cut, _not_utf8, _flip_last, _lock, _compress])
def test_a_damaged_archive_is_said_to_be_one_and_nothing_is_unpacked(
    tmp_path: Path, harm: Callable[[bytes], bytes]
) -> None:
    old, new = spend_once(tmp_path)
    move(old, "my.ledger", new / "a.zip")
    (new / "harmed.zip").write_bytes(harm((new / "a.zip").read_bytes()))
    with pytest.raises(InputError, match="no archive of a ledger, or it is damaged"):
        move(new, "harmed.zip", new / "my.ledger")
    assert {file.name for file in new.iterdir()} == {"a.zip", "harmed.zip"}
    move(new, "a.zip", new / "my.ledger")
    assert works(new)


def refuse_wrong(outcomes: Outcomes) -> None:
    print(outcomes)  # noqa: T201 - shown by -s: how many failures there were
    assert outcomes.failed
    assert not outcomes.wrong, outcomes.report()
    assert not outcomes.unnamed, outcomes.report()


def pack(folder: Path) -> None:
    old, new = machines(folder)
    move(old, "my.ledger", new / "a.zip")


def arrive(folder: Path) -> None:
    _, new = machines(folder)
    move(new, "a.zip", new / "my.ledger")


def check_one_place(folder: Path) -> None:
    """Never two places, and by the same commands one in the end."""
    old, new = machines(folder)
    before, archive = works(old), new / "a.zip"
    assert before + works(new) + archive.exists() * (not works(new)) <= 1, "two places"
    if not (archive.exists() or works(new)):
        pack(folder)
    if not works(new):
        arrive(folder)
    assert works(new), "it works nowhere"
    assert not works(old), "two places"
    assert len(Ledger(new / "my.ledger", counted=False).accounts()) == 1


@pytest.mark.parametrize("most", SAMPLES)
def test_a_move_that_fails_anywhere_leaves_one_place_or_none(tmp_path: Path, most: int) -> None:
    refuse_wrong(
        fail_each(spend_once, pack, check_one_place, tmp_path / "trials", KINDS, most=most)
    )


@pytest.mark.parametrize("most", SAMPLES)
def test_an_arrival_that_fails_anywhere_can_be_done_again(tmp_path: Path, most: int) -> None:
    def prepare(folder: Path) -> None:
        spend_once(folder)
        pack(folder)

    refuse_wrong(fail_each(prepare, arrive, check_one_place, tmp_path / "trials", KINDS, most=most))
