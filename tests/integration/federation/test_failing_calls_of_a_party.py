"""Each call that keeps a party's journal, memory and approvals fails in turn: what it said stands.

A step that was done is on disk, whatever happens next; one that failed is there as a whole or not
at all, and may be done again. What was done is noted outside of the folder whose calls fail.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.failing_calls import FILE_LOST, LOST_ANSWERS, ONCE_AND_LASTING, fail_each
from support.federations import JOURNAL_KEY

from sottovoce.errors import QueryBudgetError
from sottovoce.federation._journal import Event, Journal
from sottovoce.federation._keys import JOURNAL, load_secret, new_secret
from sottovoce.federation.config import NONE
from sottovoce.federation.party.approvals import approve, is_approved, note_asked, waiting
from sottovoce.federation.party.journal_key import (
    OutsideCount,
    rotate_journal,
    settle_count,
    settle_key,
)
from sottovoce.federation.party.memory import PartyMemory
from sottovoce.federation.transport.frames import OutgoingFrame
from sottovoce.learn.query_budget import QueryCharge

SESSION, SECRET = bytes(16), b"what nobody else may read"
KINDS = (*ONCE_AND_LASTING, *LOST_ANSWERS)
SAMPLE = 40


def said_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}-said")


def say(folder: Path, what: str) -> None:
    with said_file(folder).open("a") as file:
        file.write(f"{what}\n")


def said(folder: Path) -> list[str]:
    return said_file(folder).read_text().split() if said_file(folder).exists() else []


def refuse_wrong(*given: Any, **options: Any) -> None:  # noqa: ANN401 - as `fail_each` takes them
    outcomes = fail_each(*given, **options)
    print(outcomes)  # noqa: T201 - shown by -s: how many failures there were
    assert outcomes.failed
    assert not outcomes.wrong, outcomes.report()


def nothing(_folder: Path) -> None:
    """There is nothing yet."""


def go_on(folder: Path) -> None:
    """Agree to a run, hear a frame and answer it; from wherever an earlier try has come to."""
    journal = Journal(folder / "journal", JOURNAL_KEY)
    if journal.run(SESSION) is None:
        journal.add_run(SESSION, SECRET, ["ann", "bob"], SECRET + bytes(7))
    say(folder, "agreed")
    if not journal.last_places(SESSION, "in"):
        journal.hold(SESSION, "bob", 1, "message", SECRET)
    say(folder, "heard")
    if not journal.events(SESSION):
        out = OutgoingFrame("bob", 1, "message", {"kind": "x"}, SECRET)
        journal.advance(SESSION, Event(0, "start", "", 0, ("a",)), [out])
    say(folder, "answered")
    journal.close()


def check_journal(folder: Path) -> None:
    done = said(folder)
    journal = Journal(folder / "journal", JOURNAL_KEY)
    found = {
        "agreed": journal.run(SESSION) is not None,
        "heard": bool(journal.last_places(SESSION, "in")),
        "answered": bool(journal.events(SESSION)),
    }
    assert bool(journal.last_places(SESSION, "out")) == found["answered"], "half an answer"
    journal.close()
    assert all(found[step] for step in done), "said, and not kept"
    go_on(folder)
    journal = Journal(folder / "journal", JOURNAL_KEY)
    assert len(journal.events(SESSION)) == 1, "answered twice"
    assert journal.read_frame(SESSION, "out", "bob", 1) == ("message", SECRET)
    journal.close()


def test_a_journal_keeps_what_a_party_has_said(tmp_path: Path) -> None:
    refuse_wrong(nothing, go_on, check_journal, tmp_path / "trials", KINDS, most=SAMPLE)


def test_a_journal_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    outcomes = fail_each(
        nothing,
        go_on,
        check_journal,
        tmp_path / "trials",
        ONCE_AND_LASTING[:1],
        lambda name: name.startswith("SELECT"),
    )
    assert not outcomes.unnamed, outcomes.report()


def charge(query: int, rows: int) -> QueryCharge:
    return QueryCharge(query.to_bytes(4), (b"d",), "ada", rows, each=10, together=15)


def answer(folder: Path) -> None:
    memory = PartyMemory(folder / "memory", SECRET)
    memory.spend(charge(1, rows=8))
    say(folder, "answered")
    memory.note_among(SESSION, b"sum", ("ann", "bob"))
    say(folder, "opened")
    memory.close()


def check_memory(folder: Path) -> None:
    done = said(folder)
    memory = PartyMemory(folder / "memory", SECRET)
    if "opened" in done:
        assert memory.peers_among(bytes([1] * 16), b"sum") == (("ann", "bob"),), (
            "opened and forgotten"
        )
    if "answered" in done:
        with pytest.raises(QueryBudgetError):
            memory.spend(charge(2, rows=3))
    memory.spend(charge(1, rows=8))
    memory.spend(charge(3, rows=2))
    with pytest.raises(QueryBudgetError):
        memory.spend(charge(4, rows=1))
    memory.close()


def test_a_memory_counts_what_was_answered_once(tmp_path: Path) -> None:
    refuse_wrong(nothing, answer, check_memory, tmp_path / "trials", KINDS, most=SAMPLE)


def ask_twice(folder: Path) -> None:
    note_asked(folder, "aaa", ["words"])
    note_asked(folder, "bbb", ["rate"])


def check_asked(then: Callable[[Path], object]) -> Callable[[Path], None]:
    def check(folder: Path) -> None:
        approved = {name for name in ("aaa", "bbb", "ccc") if is_approved(folder, name)}
        assert approved <= {"aaa"}, "approved by nobody"
        assert waiting(folder).keys() | approved >= {"aaa", "bbb"}, "a proposal is lost"
        then(folder)

    return check


def test_what_was_asked_is_neither_lost_nor_approved(tmp_path: Path) -> None:
    def then(folder: Path) -> None:
        note_asked(folder, "ccc", ["peers"])
        assert waiting(folder).keys() == {"aaa", "bbb", "ccc"}

    def step(folder: Path) -> None:
        note_asked(folder, "ccc", ["peers"])

    refuse_wrong(ask_twice, step, check_asked(then), tmp_path / "trials")


def test_only_what_was_approved_is(tmp_path: Path) -> None:
    def then(folder: Path) -> None:
        if not is_approved(folder, "aaa"):
            approve(folder, "aaa")
        assert is_approved(folder, "aaa")
        assert waiting(folder).keys() == {"bbb"}

    def step(folder: Path) -> None:
        approve(folder, "aaa")

    refuse_wrong(ask_twice, step, check_asked(then), tmp_path / "trials")


def look(folder: Path) -> None:
    if is_approved(folder, "bbb"):
        say(folder, "approved")


def test_approvals_that_cannot_be_read_approve_nothing(tmp_path: Path) -> None:
    def prepare(folder: Path) -> None:
        ask_twice(folder)
        approve(folder, "aaa")

    def check(folder: Path) -> None:
        assert not said(folder), "approved by nobody"

    refuse_wrong(prepare, look, check, tmp_path / "trials", (*ONCE_AND_LASTING, *FILE_LOST))


def party(folder: Path) -> Any:  # noqa: ANN401 - as much of a party's configuration as is read
    secrets = SimpleNamespace(passphrase=NONE, journal="journal.key")
    return SimpleNamespace(
        party=SimpleNamespace(secrets=secrets), folder=folder, path=lambda name: folder / name
    )


def seal_a_journal(folder: Path) -> None:
    new_secret(folder / "journal.key", JOURNAL, None)
    key = load_secret(folder / "journal.key", kind="journal", passphrase=None)
    journal = Journal(folder / "journal", key)
    journal.add_run(SESSION, SECRET, ["ann", "bob"], SECRET)
    journal.close()


def check_sealed(folder: Path) -> None:
    settle_key(folder / "journal.key", folder / "journal", None)
    assert not list(folder.glob("*.next")), "two keys are left"
    key = load_secret(folder / "journal.key", kind="journal", passphrase=None)
    journal = Journal(folder / "journal", key)
    run = journal.run(SESSION)
    journal.close()
    assert run is not None
    assert run.terms == SECRET, "the journal does not open"


def test_a_journal_opens_by_its_key_however_its_change_ends(tmp_path: Path) -> None:
    def step(folder: Path) -> None:
        rotate_journal(party(folder), folder / "journal")

    refuse_wrong(seal_a_journal, step, check_sealed, tmp_path / "trials", KINDS, most=SAMPLE)


def put_back(folder: Path) -> None:
    """A journal as it was before its party went on, whose steps are counted outside."""
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "home"))
        outside = OutsideCount(JOURNAL_KEY)
        journal = Journal(folder / "journal", JOURNAL_KEY, counted=outside.note)
        journal.add_run(SESSION, SECRET, ["ann", "bob"], SECRET)
        journal.close()
        shutil.copy(folder / "journal", folder / "copy")
        journal = Journal(folder / "journal", JOURNAL_KEY, counted=outside.note)
        journal.advance(SESSION, Event(0, "start", "", 0, ("a",)), [])
        outside.note(journal.count)
        journal.close()
    (folder / "copy").replace(folder / "journal")


def begin(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "home"))
        outside = OutsideCount(JOURNAL_KEY)
        journal = Journal(folder / "journal", JOURNAL_KEY, counted=outside.note)
        behind = outside.read_count() > journal.count
        settle_count(journal, outside)
        say(folder, "noticed" if behind else "taken-for-the-newest")


def check_noticed(folder: Path) -> None:
    assert "taken-for-the-newest" not in said(folder), "a copy of earlier goes on"


def test_a_count_outside_that_cannot_be_read_stops_a_party(tmp_path: Path) -> None:
    def of_the_count(name: str) -> bool:
        return name.startswith(("open", "read")) and "journal" not in name

    put_back(tmp_path / "sound")
    begin(tmp_path / "sound")
    assert said(tmp_path / "sound") == ["noticed"]
    kinds = ONCE_AND_LASTING[:1]
    refuse_wrong(put_back, begin, check_noticed, tmp_path / "trials", kinds, of_the_count)
