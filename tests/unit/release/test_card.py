"""Cards say what holds, and folders are what their cards say."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.release.audit.folder import audit_release
from sottovoce.release.card import Card, make_card, read_card
from sottovoce.release.folder import unpack_bundle, verified_card, write_bundle
from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.release.plan import Plan
from sottovoce.release.settings import ReleaseSettings

VOCABULARY = Vocabulary.public(["one", "two", "three", "four"])
COUNTS = sparse.csr_array(np.array([[1, 0, 2, 0], [0, 0, 0, 1]]))
PAPER = ReleaseSettings(
    LimitedPrecision(2, 1), compression="random", columns=2, accounting="paper", prior="central"
)


def plan(settings: ReleaseSettings = PAPER) -> Plan:
    return Plan(settings, VOCABULARY.terms)


def card(**changes: object) -> Card:
    return make_card(plan(), VOCABULARY, documents=2, spend=7, **changes)  # type: ignore[arg-type] # any field


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(tmp_path / "bundle", plan().draw(COUNTS), VOCABULARY, card())
    unpack_bundle(tmp_path / "bundle", tmp_path / "out")
    return tmp_path / "out"


def test_a_card_reads_back_and_records_the_true_guarantee() -> None:
    text = card(documents_per_user=3, declared=("a stop list from a file",)).as_json()
    again = read_card(text)
    assert again.as_json() == text
    assert again.stated == LimitedPrecision(2, 1)
    assert again.guarantee.epsilon > 1
    assert again.per_user == again.guarantee.for_user(3)
    assert json.loads(text)["ledger"] == {"spend": 7}


def test_a_card_says_whom_to_trust_and_what_the_data_chose() -> None:
    chosen = Vocabulary(VOCABULARY.terms, data_dependent=True, origin="built from a corpus")
    told = make_card(plan(), chosen, documents=2)
    assert "must be trusted" in told.threat_model()
    assert "AES-256" in told.threat_model()
    assert "which this does not cover" in told.in_words()
    assert "which this does not cover" not in card().in_words()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 1"),
        ({"noise_rate": "none"}, "noise_rate must be a number"),
        ({"in_words": "Nothing can go wrong."}, "contradicts itself"),
        ({"guarantee": {"kind": "none", "reason": "x"}}, "must be of limited precision"),
        ({"guarantee": 3}, "not readable"),
    ],
)
def test_a_card_changed_by_hand_is_refused(change: dict[str, object], message: str) -> None:
    fields = json.loads(card().as_json()) | change
    with pytest.raises(InputError, match=message):
        read_card(json.dumps(fields))


def test_a_card_without_a_field_is_refused() -> None:
    fields = json.loads(card().as_json())
    del fields["documents"]
    with pytest.raises(InputError, match="lacks the field 'documents'"):
        read_card(json.dumps(fields))


def test_the_same_release_is_the_same_bundle(tmp_path: Path) -> None:
    released = plan().draw(COUNTS)
    for name in ("a", "b"):
        write_bundle(tmp_path / name, released, VOCABULARY, card())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_folder_is_verified_against_its_card(folder: Path) -> None:
    names = {"card.json", "counts.npz", "frequencies.npy", "map.json", "map.npz", "vocabulary.txt"}
    assert {path.name for path in folder.iterdir()} == names
    assert verified_card(folder).documents == 2


@pytest.mark.parametrize("name", ["counts.npz", "map.npz", "vocabulary.txt"])
def test_a_changed_file_is_noticed(folder: Path, name: str) -> None:
    with (folder / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(InputError, match=f"{name} is missing or not what the card says"):
        verified_card(folder)


def test_a_folder_without_a_card_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no readable card.json"):
        verified_card(tmp_path)


def test_a_card_that_names_files_elsewhere_is_refused(folder: Path) -> None:
    fields = json.loads((folder / "card.json").read_text())
    fields["files"]["../secret"] = "0"
    (folder / "card.json").write_text(json.dumps(fields))
    with pytest.raises(InputError, match="missing or not what the card says"):
        verified_card(folder)


def test_an_audit_replays_the_cards_mechanism(folder: Path) -> None:
    report = audit_release(folder, trials=1 << 16)
    assert report.holds
    assert report.findings[0].name == "the card's arithmetic"


def test_an_audit_catches_a_card_that_promises_more_than_its_noise_gives(folder: Path) -> None:
    fields = json.loads((folder / "card.json").read_text())
    told = read_card(json.dumps(fields))
    better = Card(**{**vars(told), "guarantee": LimitedPrecision(2, 1)})
    (folder / "card.json").write_text(better.as_json())
    report = audit_release(folder, trials=1 << 12)
    assert not report.holds
    assert not report.findings[0].holds
