"""The ledger spends before it draws, keeps what was drawn, and refuses what it cannot afford."""

import os
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from sottovoce.errors import BudgetError, InputError, LedgerError, ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.ledger import Ledger

CORPUS = "sha256:c0ffee"
BUDGET = LimitedPrecision(10, 5)


def request(name: str = "first", epsilon: str = "1", *, part: str = "") -> SpendRequest:
    return SpendRequest(name, CORPUS, LimitedPrecision(10, epsilon), part)


class Draw:
    """Writes fresh random bytes and counts how often it was asked to."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, path: Path) -> None:
        self.times += 1
        path.write_bytes(os.urandom(32))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    ledger = Ledger(path, create=True)
    ledger.set_budget(CORPUS, BUDGET)
    return ledger


def test_a_spend_is_on_record_with_its_output(ledger: Ledger) -> None:
    spend = ledger.release(request(), Draw())
    assert ledger.spends(CORPUS) == [spend]
    assert spend.output is not None
    assert spend.output.path.read_bytes()
    assert ledger.account(CORPUS).spent == Fraction(1, 10)
    assert ledger.account(CORPUS).rest == Fraction(4, 10)


def test_the_spend_is_committed_before_noise_is_drawn(ledger: Ledger, path: Path) -> None:
    def look_from_outside(out: Path) -> None:
        assert Ledger(path).account(CORPUS).spent == Fraction(1, 10)
        out.write_bytes(b"noise")

    ledger.release(request(), look_from_outside)


def test_a_retry_gets_the_same_bytes_and_spends_nothing(ledger: Ledger, path: Path) -> None:
    draw = Draw()
    first = ledger.release(request(), draw)
    again = Ledger(path).release(request(), draw)
    assert again == first
    assert draw.times == 1
    assert ledger.account(CORPUS).spent == Fraction(1, 10)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
def test_a_draw_that_breaks_off_leaves_a_spend_and_no_output(
    ledger: Ledger, interruption: type[BaseException], path: Path
) -> None:
    def break_off(out: Path) -> None:
        out.write_bytes(b"half")
        raise interruption

    with pytest.raises(interruption):
        ledger.release(request(), break_off)
    (spend,) = ledger.spends(CORPUS)
    assert spend.output is None
    assert not list(path.parent.glob("*.outputs/*.bin"))
    assert ledger.release(request(), Draw()).id == spend.id
    assert ledger.account(CORPUS).spent == Fraction(1, 10)


def test_a_file_whose_record_was_lost_is_adopted_not_drawn_again(
    ledger: Ledger, path: Path
) -> None:
    draw = Draw()
    first = ledger.release(request(), draw)
    assert first.output is not None
    ledger.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM output")
    connection.close()
    again = Ledger(path).release(request(), draw)
    assert again.output == first.output
    assert draw.times == 1


def test_rates_add_up_to_the_budget_and_not_beyond(ledger: Ledger) -> None:
    for i in range(5):
        ledger.release(request(f"r{i}"), Draw())
    draw = Draw()
    with pytest.raises(BudgetError, match=r"has spent 5 of 5; nothing was spent or released"):
        ledger.release(request("one too many", "1e-30"), draw)
    assert draw.times == 0
    assert len(ledger.spends(CORPUS)) == 5


def test_thirds_are_exact(ledger: Ledger) -> None:
    for i in range(15):
        ledger.commit(request(f"r{i}", "1/3"))
    assert ledger.account(CORPUS).rest == 0


def test_disjoint_parts_cost_their_largest(ledger: Ledger) -> None:
    ledger.commit(request("whole", "1"))
    ledger.commit(request("left", "2", part="left"))
    ledger.commit(request("right", "3", part="right"))
    assert ledger.account(CORPUS).spent == Fraction(4, 10)
    with pytest.raises(BudgetError):
        ledger.commit(request("more", "1.01", part="right"))
    ledger.commit(request("more on the left", "2", part="left"))
    assert ledger.account(CORPUS).spent == Fraction(5, 10)


def test_a_request_id_names_one_release(ledger: Ledger) -> None:
    ledger.release(request(), Draw())
    with pytest.raises(ParameterError, match="used for another release"):
        ledger.release(request("first", "2"), Draw())
    assert ledger.account(CORPUS).spent == Fraction(1, 10)


def test_units_must_agree(ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match="per document, the release per user"):
        ledger.commit(SpendRequest("x", CORPUS, LimitedPrecision(10, 1, "user")))


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb"])
def test_an_odd_request_id_is_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(InputError, match="printable characters"):
        ledger.commit(request(name))


def test_a_changed_or_missing_output_is_refused_and_not_drawn_again(ledger: Ledger) -> None:
    draw = Draw()
    output = ledger.release(request(), draw).output
    assert output is not None
    output.path.write_bytes(b"something else")
    with pytest.raises(LedgerError, match="not what was stored"):
        ledger.release(request(), draw)
    output.path.unlink()
    with pytest.raises(LedgerError, match="missing"):
        ledger.release(request(), draw)
    assert draw.times == 1


def test_everything_is_for_the_owner_only(ledger: Ledger, path: Path) -> None:
    output = ledger.release(request(), Draw()).output
    assert output is not None
    assert output.path.parent.stat().st_mode & 0o777 == 0o700
    files = [path, *path.parent.glob("ledger.sqlite-*"), output.path]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert len(files) == 4


def test_an_empty_file_that_others_could_read_becomes_the_owners(tmp_path: Path) -> None:
    path = tmp_path / "made.by.touch"
    path.touch(mode=0o644)
    Ledger(path, create=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_to_a_ledger_is_the_ledger(ledger: Ledger, path: Path) -> None:
    draw = Draw()
    first = ledger.release(request(), draw).output
    link = path.with_name("link")
    link.symlink_to(path)
    assert Ledger(link).release(request(), draw).output == first
    assert draw.times == 1


def test_commits_are_durable(ledger: Ledger) -> None:
    with ledger._database.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_another_database_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE x (y)")
    connection.close()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger(path, create=True)


def test_a_ledger_of_another_version_is_refused(ledger: Ledger, path: Path) -> None:
    ledger.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LedgerError, match="another version"):
        Ledger(path)


def test_a_forked_child_uses_a_connection_of_its_own(ledger: Ledger) -> None:
    ledger.commit(request("parent"))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ledger.commit(request("child"))
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ledger.commit(request("parent again"))
    assert [spend.request.id for spend in ledger.spends(CORPUS)] == [
        "parent",
        "child",
        "parent again",
    ]
