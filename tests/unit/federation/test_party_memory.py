"""A configured peer remembers what its trainings opened, from start to start."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.text_runs import made_texts

from sottovoce.errors import JournalError, LeakError
from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.holdings import MachineMaker
from sottovoce.federation.party.memory import MEMORY_FILE, PartyMemory
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.party.renewal import rotate_identity
from sottovoce.federation.party.terms import training_terms
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.openings import TrainedDocuments
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.message import new_session

SECRET = bytes(range(32))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("memory") / "all"
    features = FeatureSettings(dictionary="hashed", width=8)
    set_up(root, SetupPlan(("ada", "ben", "cy"), TrainingSettings(), features=features))
    return root


def write_texts(folder: Path, documents: int) -> None:
    lines = [f"{text},{label}" for text, label in zip(*made_texts(documents, 3), strict=True)]
    (folder / "ada" / "texts.csv").write_text("\n".join(["text,label", *lines]), encoding="utf-8")


def begun(folder: Path, terms: RunTerms) -> None:
    """Ada starts, and begins a run."""
    party = ConfiguredParty(load_config(folder / "ada" / "party.toml"))
    memory = PartyMemory(party.store / MEMORY_FILE, party.secrets.memory)
    maker = MachineMaker(party.config, party.roster, party.secrets, lambda _: None, memory)
    try:
        maker(terms.to_bytes(), "ada")
    finally:
        memory.close()


def a_training(folder: Path) -> RunTerms:
    config = load_config(folder / "coordinator" / "party.toml")
    roster = ConfiguredParty(load_config(folder / "ada" / "party.toml"), strict=False).roster
    return replace(training_terms(config, roster), session=new_session())


def test_a_restarted_peer_refuses_one_more_document_and_not_the_same_run(folder: Path) -> None:
    write_texts(folder, 40)
    first = a_training(folder)
    begun(folder, first)
    begun(folder, first)  # begun again after a crash
    begun(folder, a_training(folder))
    write_texts(folder, 41)
    with pytest.raises(LeakError, match="at least 5, got 1 added"):
        begun(folder, a_training(folder))
    rotate_identity(load_config(folder / "ada" / "party.toml"))
    with pytest.raises(LeakError):
        begun(folder, a_training(folder))  # who signs by another key is the same to its documents


def test_a_memorys_key_is_made_where_there_is_none_and_missed_where_there_was_one(
    folder: Path,
) -> None:
    write_texts(folder, 40)
    key = folder / "ben" / "memory.key"
    key.unlink()
    party = ConfiguredParty(load_config(folder / "ben" / "party.toml"))
    assert key.stat().st_mode & 0o077 == 0
    PartyMemory(party.store / MEMORY_FILE, party.secrets.memory).close()
    key.unlink()
    party = ConfiguredParty(load_config(folder / "ben" / "party.toml"))
    with pytest.raises(JournalError, match="another secret"):
        PartyMemory(party.store / MEMORY_FILE, party.secrets.memory)


def test_no_word_of_a_document_stands_in_a_memorys_file(tmp_path: Path) -> None:
    memory = PartyMemory(tmp_path / "memory.sqlite", SECRET)
    documents = Documents.from_texts(["unmistakable words"] * 6, ["a"] * 6)
    recipe = TextRecipe(dictionary="hashed", width=8)
    opening = TrainedDocuments.from_examples(documents, recipe, memory.digest_secret).opening()
    memory.remember(bytes(16), opening)
    assert memory.earlier(b"another")[0].words == ("unmistakable", "words")
    assert memory.earlier(bytes(16)) == ()
    memory.close()
    for file in tmp_path.iterdir():
        assert b"unmistakable" not in file.read_bytes()


def test_what_was_evaluated_is_kept_and_read_again(tmp_path: Path) -> None:
    memory = PartyMemory(tmp_path / "memory.sqlite", SECRET)
    documents = frozenset({bytes([at]) * 32 for at in range(3)})
    memory.note_evaluated(b"one", b"training", documents)
    memory.close()
    again = PartyMemory(tmp_path / "memory.sqlite", SECRET)
    assert again.evaluated_documents(b"two", b"training") == (documents,)
    assert again.evaluated_documents(b"one", b"training") == ()
    assert again.evaluated_documents(b"two", b"another") == ()
    again.close()


def test_among_whom_sums_were_opened_is_kept_by_run(tmp_path: Path) -> None:
    memory = PartyMemory(tmp_path / "memory.sqlite", SECRET)
    for _ in range(2):
        memory.note_among(b"one", b"trained", ("ada", "ben", "cy"))
    memory.note_among(b"one", b"trained", ("ada", "ben", "cy", "dee"))
    memory.close()
    again = PartyMemory(tmp_path / "memory.sqlite", SECRET)
    assert set(again.among_in(b"one")) == {("ada", "ben", "cy"), ("ada", "ben", "cy", "dee")}
    assert again.peers_among(b"one", b"trained") == ()
    assert len(again.peers_among(b"two", b"trained")) == 2
    assert again.same_word_key(b"group", b"key")
    assert not again.same_word_key(b"group", b"another")
    assert again.same_word_key(b"another group", b"another")
    again.close()
