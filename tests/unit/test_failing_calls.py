"""The shim that fails calls finds what is done in the wrong order, and fails every kind of call."""

import errno
import fcntl
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from support.failing_calls import (
    LOST_ANSWERS,
    ONCE_AND_LASTING,
    Calls,
    Failure,
    count_calls,
    fail_each,
    in_child,
    watched,
)


def nothing(_folder: Path) -> None:
    """There is nothing before."""


def touch_everything(folder: Path) -> None:
    file = folder / "file"
    file.write_bytes(b"one")
    assert file.read_text() == "one"
    descriptor = os.open(file, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.write(descriptor, b"two")
    os.ftruncate(descriptor, 2)
    os.fsync(descriptor)
    os.close(descriptor)
    file.rename(folder / "other")
    (folder / "other").replace(file)
    os.link(file, folder / "second")
    (folder / "second").unlink()
    base = sqlite3.connect(folder / "base")
    base.execute("CREATE TABLE one (two)")
    base.close()


def test_calls_are_counted_by_name_and_file(tmp_path: Path) -> None:
    made = count_calls(nothing, touch_everything, tmp_path)
    assert made[:4] == ["open file", "write file", "open file", "read file"]
    rest = ["open", "flock", "write", "ftruncate", "fsync", "rename", "replace", "link", "unlink"]
    rest += ["connect", "CREATE"]
    found = [name.split()[0] for name in made]
    assert [name for name in found[4:] if name != "read"] == rest


def test_calls_elsewhere_are_neither_counted_nor_failed(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with watched(Calls(tmp_path / "here", Failure(1, lasting=True))) as calls:
        touch_everything(tmp_path)
    assert not calls.made


def test_every_call_fails_in_its_turn_with_the_error_that_was_asked_for(tmp_path: Path) -> None:
    number = len(count_calls(nothing, touch_everything, tmp_path))
    for place in range(1, number + 1):
        folder = tmp_path / str(place)
        folder.mkdir()
        with (
            watched(Calls(folder, Failure(place, errno.ENOSPC))),
            pytest.raises((OSError, sqlite3.OperationalError), match=r"[Nn]o space|full"),
        ):
            touch_everything(folder)


def charge(folder: Path) -> None:
    (folder / "charged").write_text("1")


def publish(folder: Path) -> None:
    (folder / "published").write_text("1")


def charge_then_publish(folder: Path) -> None:
    charge(folder)
    publish(folder)


def publish_then_charge(folder: Path) -> None:
    publish(folder)
    charge(folder)


def charge_if_it_can_be(folder: Path) -> None:
    with suppress(OSError):
        charge(folder)
    publish(folder)


def check_charged(folder: Path) -> None:
    published, charged = folder / "published", folder / "charged"
    assert not (published.exists() and published.read_text()) or charged.read_text() == "1"


def test_a_sound_order_survives_and_wrong_ones_are_found(tmp_path: Path) -> None:
    for operate in (charge_then_publish, publish_then_charge, charge_if_it_can_be):
        outcomes = fail_each(nothing, operate, check_charged, tmp_path / operate.__name__)
        assert outcomes.failed == len(ONCE_AND_LASTING) * outcomes.calls == 8
        assert bool(outcomes.wrong) == (operate is not charge_then_publish), outcomes.report()


def test_a_statement_whose_answer_is_lost_was_done(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "base", isolation_level=None)
    base.close()
    with watched(Calls(tmp_path, Failure(3, after=True))), suppress(sqlite3.Error):
        connection = sqlite3.connect(tmp_path / "base", isolation_level=None)
        connection.execute("CREATE TABLE one (two)")
        connection.execute("INSERT INTO one VALUES (1)")
    assert LOST_ANSWERS[0](3).after
    base = sqlite3.connect(tmp_path / "base")
    assert base.execute("SELECT two FROM one").fetchall() == [(1,)]
    base.close()


def test_a_child_says_what_it_died_of() -> None:
    assert in_child(lambda: "said") == "said"
    assert in_child(lambda: str(1 // 0)).startswith("ZeroDivisionError")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_a_child_is_somebody_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "file").write_text("x")
    assert in_child((tmp_path / "file").read_text) == "x"
    assert in_child((tmp_path / "file").read_text, 65534).startswith("PermissionError")
