"""Keys of runs in a journal: sealed, and there after an upgrade or a rotation."""

import sqlite3
from pathlib import Path

import pytest
from support.federations import JOURNAL_KEY

from sottovoce.federation._config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation._journal.journal import Journal
from sottovoce.federation._setup import SetupPlan, set_up
from sottovoce.federation._transport.frames import JournalError
from sottovoce.federation.party._journal_key import forget_run_keys, rotate_journal
from sottovoce.federation.party._party import JOURNAL_FILE, ConfiguredParty

SESSION = bytes(range(16))


def test_a_journal_of_before_keys_is_read_and_gets_a_place_for_them(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, JOURNAL_KEY)
    journal.add_run(SESSION, b"terms", ["ada"], bytes(32))
    journal.close()
    with sqlite3.connect(path) as old:
        old.executescript("DROP TABLE run_key; DROP TABLE fact; PRAGMA user_version = 2;")
    old.close()
    upgraded = Journal(path, JOURNAL_KEY)
    assert upgraded.sessions() == [SESSION]
    upgraded.keep_key(SESSION, "sums", "a", b"secret")
    assert upgraded.key(SESSION, "sums") == b"secret"
    upgraded.close()


def test_a_key_is_sealed_and_no_fingerprint_comes_twice(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", JOURNAL_KEY)
    journal.keep_key(SESSION, "sums", "a", b"very secret primes")
    with pytest.raises(JournalError):
        journal.keep_key(bytes(16), "sums", "a", b"very secret primes")
    journal.forget_key(SESSION, "sums")
    assert journal.key(SESSION, "sums") is None
    assert [key.fingerprint for key in journal.run_keys()] == ["a"]
    with pytest.raises(JournalError):
        journal.keep_key(bytes(16), "sums", "a", b"very secret primes")
    journal.close()
    for file in tmp_path.iterdir():
        assert b"very secret" not in file.read_bytes()


def test_keys_survive_a_new_journal_key_and_can_all_be_dropped(tmp_path: Path) -> None:
    plan = SetupPlan(("ada", "ben", "cy"), TrainingSettings(), features=FeatureSettings())
    set_up(tmp_path / "all", plan)
    config = load_config(tmp_path / "all" / "coordinator" / "party.toml")
    party = ConfiguredParty(config)
    with party.journal() as journal:
        journal.add_run(SESSION, b"terms", ["ada"], bytes(32))
        journal.keep_key(SESSION, "solve", "a", b"secret")
    rotate_journal(config, party.store / JOURNAL_FILE)
    with ConfiguredParty(config).journal() as journal:
        assert journal.key(SESSION, "solve") == b"secret"
        forget_run_keys(journal)
        assert journal.key(SESSION, "solve") is None
