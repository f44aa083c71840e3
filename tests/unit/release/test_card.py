"""Cards say what holds, and folders are what their cards say."""

import hashlib
import json
import re
from dataclasses import fields, replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.privacy.audit.findings import AuditReport
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release import card as card_module
from sottovoce.release.audit import audit_presence, audit_release
from sottovoce.release.card import ReleaseCard, make_card, read_card
from sottovoce.release.compression.word_map import load_maps
from sottovoce.release.counts import Matrix
from sottovoce.release.folder import unpack_bundle, verified_card, write_bundle
from sottovoce.release.groups import Grouping
from sottovoce.release.plan import ReleasePlan, ReleaseSettings

VOCABULARY = Vocabulary.public(["one", "two", "three", "four"])
COUNTS = sparse.csr_array(np.array([[1, 0, 2, 0], [0, 0, 0, 1]]))
PAPER = ReleaseSettings(
    LimitedPrecision(2, 1), compression="random", columns=2, accounting="paper", prior="central"
)


def plan(settings: ReleaseSettings = PAPER) -> ReleasePlan:
    return ReleasePlan(settings, VOCABULARY.terms)


def card(**changes: object) -> ReleaseCard:
    return make_card(plan(), VOCABULARY, documents=2, spend=7, **changes)  # type: ignore[arg-type] # any field


def published(
    place: Path, settings: ReleaseSettings = PAPER, vocabulary: Vocabulary = VOCABULARY
) -> Path:
    """A folder with a release by these settings, beside the bundle it came from."""
    told = make_card(plan(settings), VOCABULARY, documents=2, spend=7)
    write_bundle(place / "bundle", plan(settings).draw(COUNTS), vocabulary, told)
    unpack_bundle(place / "bundle", place / "out")
    return place / "out"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return published(tmp_path)


def test_a_card_reads_back_and_records_the_true_guarantee() -> None:
    text = card(documents_per_user=3, declared=("a stop list from a file",)).as_json()
    again = read_card(text)
    assert again.as_json() == text
    assert again.stated == LimitedPrecision(2, 1)
    assert again.guarantee.epsilon > 1
    assert again.per_user == again.guarantee.for_user(3)
    assert json.loads(text)["ledger"] == {"spend": 7}


def test_a_card_says_whom_to_trust_and_what_was_declared() -> None:
    told = card(declared=("a vocabulary that the data chose",))
    assert "must be trusted" in told.threat_model()
    assert "AES-256" in told.threat_model()
    assert "not covered: a vocabulary that the data chose." in told.in_words()
    assert "not covered" not in card().in_words()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 1"),
        ({"noise_rate": "none"}, "noise_rate must be a number"),
        ({"in_words": "Nothing can go wrong."}, "contradicts itself"),
        ({"noise_rate": "1e300000000"}, "noise_rate must lie between 1e-40 and 1e40"),
        ({"prior": {"kind": "central", "rate": "1e-300000000"}}, "prior rate must lie between"),
        ({"documents_per_user": 10**400}, "must lie between 1e-40 and 1e40"),
        ({"guarantee": {"kind": "none", "reason": "x"}}, "must be of limited precision"),
        ({"guarantee": 3}, "not readable"),
        ({"prior": {"kind": "central", "rate": "-1"}}, "prior and cost and noise cannot be true"),
        ({"prior": {"kind": "local", "rate": "0"}}, "cannot be true"),
        ({"prior": []}, "not readable"),
        ({"documents_per_user": 3}, "per_user cannot be true"),
        ({"words": 5_000_000}, "noise cannot be true"),
        ({"compression": {"method": "banana", "maps": 1}}, "compression cannot be true"),
        ({"compression": {"method": "random", "maps": -4}}, "compression cannot be true"),
        ({"accounting": "tight"}, "noise cannot be true"),
        ({"threshold": -5}, "threshold must be > 0"),
        ({"noise_rate": "1/100"}, "cost and noise cannot be true"),
        ({"documents": 2.0}, ""),
        ({"documents": True}, ""),
        ({"ledger": "x"}, ""),
        ({"ledger": {"spend": True}}, ""),
        ({"files": None}, ""),
        ({"files": []}, ""),
        ({"vocabulary": []}, ""),
        ({"compression": {"method": "random", "maps": True}}, ""),
        ({"threshold": "2"}, ""),
    ],
)
def test_a_card_changed_by_hand_is_refused_though_its_hashes_fit(
    folder: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message or None):
        verified_card(forged(folder, "card.json", **change))


def test_whoever_groups_documents_is_trusted_and_no_card_denies_it() -> None:
    local = plan(ReleaseSettings(LimitedPrecision(2, 1)))
    grouped = make_card(local, VOCABULARY, documents=2, grouping=Grouping("thread"))
    alone = make_card(local, VOCABULARY, documents=2)
    fields = json.loads(grouped.as_json())
    assert "put the documents of a row together saw" in fields["threat_model"]
    assert "nobody has to be trusted" not in fields["threat_model"]
    for one, other in ((grouped, alone), (alone, grouped)):
        changed = json.loads(one.as_json()) | {"threat_model": other.threat_model()}
        with pytest.raises(InputError, match="contradicts itself"):
            read_card(json.dumps(changed))


def test_every_field_of_the_card_is_explained() -> None:
    explained = set(re.findall(r"`(\w+)`", card_module.__doc__ or ""))
    assert {each.name for each in fields(ReleaseCard)} <= explained


@pytest.mark.parametrize("name", sorted(json.loads(card().as_json()).keys() - {"software"}))
@pytest.mark.parametrize("wrong", [{"?": 1}, ["?"], "?", -7])
def test_no_field_of_the_card_may_hold_anything(name: str, wrong: object) -> None:
    changed = json.loads(card().as_json()) | {name: wrong}
    with pytest.raises(InputError):
        read_card(json.dumps(changed))


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


@pytest.mark.parametrize("files", [{}, {"../secret": "0"}])
def test_a_card_that_names_other_files_is_refused(folder: Path, files: dict[str, str]) -> None:
    fields = json.loads((folder / "card.json").read_text()) | {"files": files}
    (folder / "card.json").write_text(json.dumps(fields))
    with pytest.raises(InputError, match="must name just these files"):
        verified_card(folder)


def test_maps_and_words_must_be_those_of_the_card(folder: Path, tmp_path: Path) -> None:
    other = Vocabulary.public(["four", "three", "two", "one"])
    published(tmp_path, vocabulary=other)
    with pytest.raises(InputError, match="not the one that the card names"):
        verified_card(folder)
    wide = ReleasePlan(PAPER, tuple("abcdef"))
    six = sparse.csr_array(np.ones((2, 6), dtype=int))
    write_bundle(tmp_path / "wide", wide.draw(six), VOCABULARY, card())
    unpack_bundle(tmp_path / "wide", folder)
    with pytest.raises(InputError, match="not those that the card describes"):
        verified_card(folder)


def test_the_bundle_holds_the_map_that_was_used_and_no_true_sum(tmp_path: Path) -> None:
    loud = ReleaseSettings(
        LimitedPrecision(1, 300),
        compression="random",
        columns=2,
        prior="central",
        prior_share=Fraction(1, 2),
    )
    out = published(tmp_path, loud)
    maps, _ = load_maps(out / "map")
    counts = sparse.load_npz(out / "counts.npz").toarray()
    assert (counts == maps[0].compress(COUNTS).toarray()).all()
    quiet = ReleaseSettings(
        LimitedPrecision(1, "0.01"), compression="random", columns=2, prior="central"
    )
    sums = [tuple(plan(quiet).draw(COUNTS).frequencies) for _ in range(4)]
    assert len(set(sums)) > 1


@pytest.mark.usefixtures("small_audits")
def test_an_audit_replays_the_cards_mechanism(folder: Path) -> None:
    report = audit_release(folder, trials=1 << 16)
    assert report.holds
    names = [finding.name for finding in report.findings]
    assert names[0] == "noise in the published counts"
    assert {"support on the integers", "fresh noise", "neighbours: N words"} <= set(names)
    assert "noise that is the law's in every row (constant work)" in names
    assert sum(name.startswith("table of") for name in names) == 4


@pytest.mark.usefixtures("small_audits")
def test_an_audit_goes_through_the_code_that_releases(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts without noise are found out, whichever way of drawing lost it."""

    def without_noise(
        self: GeometricMechanism,
        counts: Matrix,
        *,
        threshold: int | None = None,
        threads: int | None = None,
    ) -> Matrix:
        return counts

    for way in ("sparse", "dense"):
        with monkeypatch.context() as patch:
            patch.setattr(GeometricMechanism, way, without_noise)
            assert not audit_release(folder, trials=1 << 12).holds


@pytest.mark.usefixtures("small_audits")
def test_a_threshold_is_audited_too(tmp_path: Path) -> None:
    settings = ReleaseSettings(LimitedPrecision(2, 1), threshold=2)
    out = published(tmp_path, settings)
    report = audit_release(out, trials=1 << 14)
    assert report.holds
    assert "neighbours: one word (from 2 on)" in [finding.name for finding in report.findings]


@pytest.mark.parametrize("threshold", [None, 2])
def test_published_counts_without_noise_are_found_out(threshold: int | None) -> None:
    counts = sparse.csr_array((np.random.default_rng(1).random((400, 50)) < 0.05).astype(np.int64))
    rate = Fraction(1, 2)
    noised = GeometricMechanism(rate).sparse(counts, threshold=threshold)
    assert audit_presence(noised, rate, threshold).holds
    assert not audit_presence(counts, rate, threshold).holds


def forged(folder: Path, name: str, content: bytes | None = None, **fields: Any) -> Path:  # noqa: ANN401 - any JSON
    """The folder with one file replaced, or fields of its card, and the hashes made to fit."""
    card_file = folder / "card.json"
    told = json.loads(card_file.read_text()) | fields
    if content is not None:
        (folder / name).write_bytes(content)
    told["files"] = told["files"] and {
        each: hashlib.sha256((folder / each).read_bytes()).hexdigest() for each in told["files"]
    }
    card_file.write_text(json.dumps(told))
    return folder


def packed(**arrays: NDArray[np.generic]) -> bytes:
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type] # numpy's overloads
    return buffer.getvalue()


def matrix(counts: NDArray[np.generic]) -> bytes:
    buffer = BytesIO()
    sparse.save_npz(buffer, sparse.csr_array(counts))
    return buffer.getvalue()


def marked(vocabulary: Vocabulary) -> bytes:
    return replace(vocabulary, data_dependent=True).as_text().encode()


FORGERIES = {
    "float counts": ("counts.npz", matrix(np.ones((2, 2)))),
    "an array": ("counts.npz", packed(x=np.zeros(3))),
    "a bomb": ("counts.npz", matrix(np.zeros((2, 2), int)) and packed(data=np.zeros(10**6))),
    "no zip": ("counts.npz", b"nothing"),
    "frequencies of zero": ("frequencies.npy", b"\x93NUMPY"),
    "a marked vocabulary": ("vocabulary.txt", marked(VOCABULARY)),
}


@pytest.mark.parametrize("case", FORGERIES)
def test_a_forged_file_is_refused_though_its_hash_fits(folder: Path, case: str) -> None:
    with pytest.raises(InputError):
        verified_card(forged(folder, *FORGERIES[case]))


def test_the_stated_method_must_be_the_maps(folder: Path) -> None:
    described = json.loads((folder / "map.json").read_text()) | {"method": "frequency"}
    with pytest.raises(InputError, match="not those that the card describes"):
        verified_card(forged(folder, "map.json", json.dumps(described).encode()))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": 1, "format": 1}', "null"])
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not one of a release"):
        read_card(text)


def test_the_card_is_renamed_last(folder: Path, tmp_path: Path) -> None:
    """Whoever sees a card sees a whole release."""
    bundle, order = tmp_path / "bundle", []
    rename = Path.replace

    def watched(self: Path, target: Path) -> Path:
        order.append(Path(target).name)
        return rename(self, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", watched)
        unpack_bundle(bundle, tmp_path / "again")
    assert len(order) == 6
    assert order[-1] == "card.json"


def test_an_audit_never_tries_more_words_than_it_can(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[LimitedPrecision] = []

    def watched(
        claim: LimitedPrecision, *, threshold: int | None, trials: int | None, written: object
    ) -> AuditReport:
        asked.append(claim)
        return AuditReport(())

    monkeypatch.setattr("sottovoce.release.audit.audit_mechanism", watched)
    monkeypatch.setattr("sottovoce.release.audit.audit_whole_way", lambda *_: ())
    monkeypatch.setattr(
        "sottovoce.release.audit.verified_card",
        lambda _folder: make_card(
            plan(ReleaseSettings(LimitedPrecision(10**6, 10**6))), VOCABULARY, documents=2
        ),
    )
    audit_release(folder)
    assert asked[0].n == 1000
    assert asked[0].rate == 1
