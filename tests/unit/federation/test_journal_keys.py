"""Keys of runs in a journal: sealed, and there after a rotation."""

import sqlite3
from pathlib import Path

import pytest
from support.federations import JOURNAL_KEY

from sottovoce.errors import JournalError
from sottovoce.federation._journal import Journal
from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.journal_key import forget_run_keys, rotate_journal
from sottovoce.federation.party.party import JOURNAL_FILE, ConfiguredParty
from sottovoce.federation.setup import SetupPlan, set_up

SESSION = bytes(range(16))


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
