"""The journal is private, durable, and forgets what nobody needs any more."""

import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from support.federations import JOURNAL_KEY, ToySum
from support.rehearsal import Crash, rehearse

from sottovoce.errors import JournalError, ParameterError
from sottovoce.federation._journal import JOURNAL, Event, Journal
from sottovoce.federation._keys import JournalSeal
from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.journal_key import forget_run_keys, rotate_journal
from sottovoce.federation.party.party import JOURNAL_FILE, ConfiguredParty
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.federation.transport.frames import OutgoingFrame
from sottovoce.privacy.randomness import drawing_from

SESSION, SECRET = bytes(16), b"what nobody else may read"


def filled(path: Path) -> Journal:
    journal = Journal(path, JOURNAL_KEY)
    out = OutgoingFrame("bob", 1, "message", {"kind": "x"}, SECRET)
    journal.add_run(SESSION, SECRET, ["ann", "bob"], SECRET + bytes(7))
    journal.hold(SESSION, "bob", 1, "message", SECRET)
    journal.advance(SESSION, Event(0, "start", "", 0, ("a",)), [out])
    return journal


def test_what_was_committed_is_there_after_reopening(tmp_path: Path) -> None:
    filled(tmp_path / "j").close()
    journal = Journal(tmp_path / "j", JOURNAL_KEY)
    kept = journal.run(SESSION)
    assert kept is not None
    assert (kept.terms, kept.seed, kept.status) == (SECRET, SECRET + bytes(7), "running")
    assert journal.list_frames(SESSION, "held") == [("bob", 1)]
    assert journal.read_frame(SESSION, "in", "bob", 1) == ("message", SECRET)
    assert journal.list_frames(SESSION, "unsent") == [("bob", 1)]
    assert journal.read_frame(SESSION, "out", "bob", 1) == ("message", SECRET)
    assert journal.events(SESSION) == [Event(0, "start", "", 0, ("a",))]
    journal.close()


def test_its_files_are_for_the_owner_only_and_hold_no_secret_in_clear(tmp_path: Path) -> None:
    journal = filled(tmp_path / "j")
    files = list(tmp_path.iterdir())
    assert (tmp_path / "j") in files
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert SECRET not in file.read_bytes()
    journal.close()
    assert all(SECRET not in file.read_bytes() for file in tmp_path.iterdir())


def test_the_sealed_bytes_would_be_found_if_they_were_in_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JournalSeal, "seal", lambda _, content, *place: content)
    journal = filled(tmp_path / "j")
    journal.close()
    assert any(SECRET in file.read_bytes() for file in tmp_path.iterdir())


def test_another_key_does_not_open_it_nor_does_a_row_at_another_place(tmp_path: Path) -> None:
    filled(tmp_path / "j").close()
    other = Journal(tmp_path / "j", bytes(32))
    with pytest.raises(JournalError, match="does not open"):
        other.run(SESSION)
    other.close()
    with sqlite3.connect(tmp_path / "j") as db:
        db.execute("UPDATE frame SET sequence = 2 WHERE way = 'in'")
    db.close()
    journal = Journal(tmp_path / "j", JOURNAL_KEY)
    with pytest.raises(JournalError, match="changed"):
        journal.read_frame(SESSION, "in", "bob", 2)
    journal.close()
    with pytest.raises(ParameterError, match="32 bytes"):
        Journal(None, b"short")


def test_no_two_values_are_sealed_alike_not_even_while_a_party_draws_from_its_seed() -> None:
    seal, sealed = JournalSeal(JOURNAL_KEY), set()
    for _ in range(2):
        with drawing_from(bytes(32)):
            sealed |= {seal.seal(SECRET, "here") for _ in range(2)}
    assert len({each[:12] for each in sealed}) == 4
    assert {seal.open(each, "here") for each in sealed} == {SECRET}


def test_only_one_process_at_a_time_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce.federation._journal.JOURNAL", replace(JOURNAL, patience_s=0.01))
    journal = filled(tmp_path / "j")
    with pytest.raises(JournalError, match="this party runs already"):
        Journal(tmp_path / "j", JOURNAL_KEY)
    journal.close()
    (tmp_path / "no journal").write_text("what somebody else wrote, " * 100)
    with pytest.raises(JournalError, match="a file, but not a journal"):
        Journal(tmp_path / "no journal", JOURNAL_KEY)
    with pytest.raises(JournalError, match="cannot open the journal"):
        Journal(tmp_path / "absent" / "j", JOURNAL_KEY)


def test_a_step_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    journal = filled(tmp_path / "j")
    twice = OutgoingFrame("bob", 1, "message", {}, b"of a place that is taken")
    with pytest.raises(JournalError, match="UNIQUE"):
        journal.advance(SESSION, Event(1, "receive", "bob", 1, ()), [twice], result=b"r")
    assert journal.list_frames(SESSION, "held") == [("bob", 1)]
    assert len(journal.events(SESSION)) == 1
    assert journal.result(SESSION) is None
    journal.close()


def test_a_run_that_has_ended_and_was_heard_leaves_its_result_only() -> None:
    toy = ToySum(("ann", "bob", "cy"))
    rehearsal, outcome = rehearse(toy)
    journal = rehearsal.journals["ann"]
    (kept,) = journal.runs()
    assert kept.seed == b""
    db = journal._file.connection
    assert db.execute(
        "SELECT COUNT(*) FROM frame WHERE way = 'in' AND body IS NOT NULL"
    ).fetchone() == (0,)
    assert journal.result(kept.session) == outcome.ends["ann"]


def test_a_crash_in_the_middle_leaves_seed_and_bodies_for_the_way_back() -> None:
    crash = Crash("ann", "before commit", 3, again_s=None)
    rehearsal, _ = rehearse(ToySum(("ann", "bob", "cy")), crash)
    journal = rehearsal.journals["ann"]
    (kept,) = journal.runs()
    assert len(kept.seed) == 32
    assert [event.what for event in journal.events(kept.session)] == ["start", "receive"]


RUN = bytes(range(16))


def test_a_journal_of_another_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path, JOURNAL_KEY).close()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 3")
    other.close()
    with pytest.raises(JournalError, match="reads version 2, got 3"):
        Journal(path, JOURNAL_KEY)


def test_a_key_is_sealed_and_no_fingerprint_comes_twice(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", JOURNAL_KEY)
    journal.keep_key(RUN, "sums", "a", b"very secret primes")
    with pytest.raises(JournalError):
        journal.keep_key(bytes(16), "sums", "a", b"very secret primes")
    journal.forget_key(RUN, "sums")
    assert journal.key(RUN, "sums") is None
    assert [key.fingerprint for key in journal.run_keys()] == ["a"]
    with pytest.raises(JournalError):
        journal.keep_key(bytes(16), "sums", "a", b"very secret primes")
    journal.close()
    for file in tmp_path.iterdir():
        assert b"very secret" not in file.read_bytes()


def test_a_new_journal_key_opens_everything_and_the_old_one_nothing(tmp_path: Path) -> None:
    plan = SetupPlan(("ada", "ben", "cy"), TrainingSettings(), features=FeatureSettings())
    set_up(tmp_path / "all", plan)
    config = load_config(tmp_path / "all" / "coordinator" / "party.toml")
    party = ConfiguredParty(config)
    with party.journal() as journal:
        journal.add_run(RUN, b"terms", ["ada"], bytes(32))
        journal.keep_key(RUN, "solve", "a", b"secret")
        journal.hold(RUN, "ben", 1, "message", b"held")
        journal.add_run(SESSION, b"terms", ["ada"], bytes(32))
        journal.advance(SESSION, Event(0, "start", "", 0, ()), [], result=b"found")
    rotate_journal(config, party.store / JOURNAL_FILE)
    with pytest.raises(JournalError, match="does not open"), party.journal() as journal:
        journal.run(RUN)
    with ConfiguredParty(config).journal() as journal:
        assert journal.key(RUN, "solve") == b"secret"
        assert journal.read_frame(RUN, "in", "ben", 1)[1] == b"held"
        assert journal.result(SESSION) == b"found"
        forget_run_keys(journal)
        assert journal.key(RUN, "solve") is None
