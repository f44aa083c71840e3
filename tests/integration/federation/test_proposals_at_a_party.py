"""What a configured party answers to a proposal, with its journal, its policy and its store."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from sottovoce.federation._journal import Event, Journal
from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party import _policy
from sottovoce.federation.party.party import JOURNAL_FILE, ConfiguredParty
from sottovoce.federation.party.service import Service
from sottovoce.federation.party.terms import training_terms, use_terms
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import encode_value
from sottovoce.learn.wire.message import new_session

Run = Callable[..., tuple[int, str, str]]
NAMES = ("ada", "ben", "cy")


@pytest.fixture(scope="module")
def with_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Large keys take long to make, and are the same to every test."""
    folder = tmp_path_factory.mktemp("set up") / "all"
    features = FeatureSettings(dictionary="hashed", width=8)
    training = TrainingSettings(mode="hidden", key_bits=2048)
    set_up(folder, SetupPlan(NAMES, training, features=features))
    return folder


@pytest.fixture
def folder(with_keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return shutil.copytree(with_keys, tmp_path / "all")


def configured(folder: Path, name: str) -> ConfiguredParty:
    return ConfiguredParty(load_config(folder / name / "party.toml"))


def proposed(folder: Path) -> RunTerms:
    party = configured(folder, "coordinator")
    return training_terms(party.config, party.roster)


def finish(party: ConfiguredParty, terms: RunTerms) -> None:
    """A finished training in a party's journal."""
    journal = Journal(party.store / JOURNAL_FILE, party.secrets.journal_key)
    session = new_session()
    journal.add_run(session, terms.to_bytes(), terms.parties, bytes(32))
    journal.advance(
        session, Event(0, "start", "", 0, ()), [], result=encode_value({"kind": "train"})
    )
    journal.close()


def texts_of(party: ConfiguredParty) -> Path:
    """Its file of texts, as its configuration names it."""
    assert party.config.party.texts is not None
    return party.config.path(party.config.party.texts.file)


class Asked:
    """A party that is asked about proposals, and does nothing else."""

    def __init__(self, party: ConfiguredParty) -> None:
        self.service = Service(party, lambda _event, /, **_: None)

    def find_refusal(self, terms: RunTerms) -> str | None:
        return self.service._find_refusal(terms.to_bytes(), "coordinator")


@pytest.fixture
def ada(folder: Path) -> Iterator[tuple[Asked, RunTerms]]:
    party, terms = configured(folder, "ada"), proposed(folder)
    texts_of(party).write_text("text,label\nmy debt,yes\nthe sea,no\n")
    finish(party, terms)
    asked = Asked(party)
    yield asked, replace(terms, session=new_session())
    asked.service.node.close()


def test_of_two_proposals_that_begin_alike_only_the_approved_one_runs(
    ada: tuple[Asked, RunTerms], folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve digits were the name, and another proposal of that name was made in minutes.

    Before, a person approved the one, and the other ran. The collision is planted here.
    """
    begins, whole = "3f2a9c001122", _policy.digest_of
    monkeypatch.setattr(_policy, "digest_of", lambda data: begins + whole(data)[12:])
    (asked, terms), config = ada, folder / "ada" / "party.toml"
    assert asked.find_refusal(terms) is None
    shown, forged = replace(terms, held_out=0.1), replace(terms, held_out=0.5)
    assert asked.find_refusal(shown)
    assert asked.find_refusal(forged)
    listed = run("learn", "approve", "--config", config)[1].splitlines()
    names = [line for line in listed if line.startswith(begins)]
    assert [len(name) for name in names] == [64, 64]
    code, _, error = run("learn", "approve", begins, "--config", config)
    assert code != 0
    assert "by its whole SHA-256, got '3f2a9c001122' of 12" in " ".join(error.split())
    assert listed[listed.index(names[0]) + 1] == "  held_out 0.0 -> 0.1"
    assert run("learn", "approve", names[0], "--config", config)[0] == 0
    assert asked.find_refusal(replace(shown, session=new_session())) is None
    assert "held_out 0.0 -> 0.5" in str(asked.find_refusal(replace(forged, session=new_session())))


def test_no_two_runs_have_one_session(ada: tuple[Asked, RunTerms]) -> None:
    asked, terms = ada
    earlier = asked.service.node.history()[0].terms
    assert "a session of its own" in str(
        asked.find_refusal(replace(terms, session=earlier.session))
    )


def test_the_key_holder_has_a_policy_too(folder: Path) -> None:
    asked = Asked(configured(folder, "key-holder"))
    terms = proposed(folder)
    assert asked.find_refusal(terms) is None
    many = replace(terms, recipe=replace(terms.recipe, queries=5000))
    assert "queries from 1 to 1000, got 5000" in str(asked.find_refusal(many))
    asked.service.node.close()


def test_a_peer_that_accepts_nothing_takes_part_in_no_run(folder: Path) -> None:
    """A key holder whose file says nothing helps in every mode."""
    party = configured(folder, "key-holder")
    bare = msgspec.structs.replace(party.config.party, accepts=None)
    party.config = msgspec.structs.replace(party.config, party=bare)
    assert party.find_refusal(proposed(folder).to_bytes(), "coordinator") is None
    path = folder / "ben" / "party.toml"
    path.write_text(path.read_text().partition("[accepts]")[0])
    refused = configured(folder, "ben").find_refusal(proposed(folder).to_bytes(), "coordinator")
    assert "accepts the modes of no run" in str(refused)


def test_a_helper_whose_store_was_put_back_answers_no_query_of_before(folder: Path) -> None:
    party, terms = configured(folder, "key-holder"), proposed(folder)
    finish(party, terms)
    asked = Asked(party)
    query = use_terms("classify", terms, asker="ada", rows=1)
    assert asked.find_refusal(query) is None
    after = int(asked.service.node.history()[0].begun) + 10
    asked.service.node.read_journal(lambda journal: journal.note_fact("restored", after))
    assert "how many rows were classified since" in str(asked.find_refusal(query))
    asked.service.node.close()
