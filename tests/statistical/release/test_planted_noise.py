"""Each planted fault is found by the audit that is said to find it, and sound releases are not."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.planted_noise import FAULTS

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.privacy.audit._reuse import audit_repeats
from sottovoce.privacy.audit.findings import AuditReport
from sottovoce.privacy.audit.law import audit_law
from sottovoce.privacy.audit.lines import agreement_chance
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release import trial
from sottovoce.release.audit import audit_cells, audit_presence, audit_release
from sottovoce.release.folder import COUNTS_FILE, verified_card
from sottovoce.release.inputs import CountedDocuments
from sottovoce.release.job import Job, release_to_folder
from sottovoce.release.plan import ReleasePlan, ReleaseSettings
from sottovoce.release.quote import open_account
from sottovoce.release.trial import (
    PublishingWay,
    draw_noise,
    draw_release,
    frequency_noise,
    list_ways,
    made_up_counts,
)

RATE = Fraction(1, 2)
PLAIN = ReleaseSettings(LimitedPrecision.at_rate(RATE))
COMPRESSED = replace(PLAIN, compression="random", columns=48)
# What only the sampler's audit can see: it knows the counts, and draws more than any folder holds.
UNSEEN_IN_A_FOLDER = {
    "a word counted twice",
    "a keystream that repeats",
    "large counts exact",
    "bought frequencies exact",
}


def whole_way(name: str) -> list[str]:
    """The checks of the sampler's audit that fail, by the way that the fault concerns."""
    mechanism = GeometricMechanism(RATE)
    settings = COMPRESSED if name == "a word counted twice" else PLAIN
    if name == "a keystream that repeats":
        findings = [audit_repeats(RATE, partial(mechanism.noise, threads=1))]
    elif name == "bought frequencies exact":
        findings = audit_law(frequency_noise(PLAIN, "central"))
    else:
        way = PublishingWay(settings, [made_up_counts()], draw_release)
        findings = audit_law(draw_noise(way))
    return [finding.name for finding in findings if not finding.holds]


def corpus(seed: int = 1, documents: int = 1000, words: int = 300) -> "sparse.csr_array":
    """Short documents over many words; some are empty."""
    chance = np.random.default_rng(seed)
    frequent = 1 / np.arange(1, words + 1)
    means = np.outer(chance.integers(0, 3, documents), 4 * frequent / frequent.sum())
    return sparse.csr_array(chance.poisson(means).astype(np.int64))


def folder_of(place: Path, counts: "sparse.csr_array", settings: ReleaseSettings = PLAIN) -> Path:
    words = Vocabulary.public([f"word{i}" for i in range(counts.shape[1])])
    job = Job(CountedDocuments(counts, words, "made up"), ReleasePlan(settings, words.terms))
    ledger = Ledger(place / "ledger", create=True)
    open_account(ledger, job, None)
    release_to_folder(job, ledger, place / "released")
    ledger.close()
    return place / "released"


def audited(folder: Path) -> AuditReport:
    counts = sparse.csr_array(sparse.load_npz(folder / COUNTS_FILE))
    return audit_cells(verified_card(folder), counts)


@pytest.mark.parametrize("name", FAULTS)
def test_the_audit_of_the_whole_way_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    assert whole_way(name)


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in UNSEEN_IN_A_FOLDER])
def test_the_audit_of_a_folder_finds(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    FAULTS[name](monkeypatch)
    assert not audited(folder_of(tmp_path, corpus())).holds


def test_the_audit_of_a_release_makes_every_check(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    FAULTS["a column without noise in the plan"](monkeypatch)
    brief = ("as released", "compressed", "constant work")
    monkeypatch.setattr(
        trial, "list_ways", lambda *asked: {name: list_ways(*asked)[name] for name in brief}
    )
    folder = folder_of(tmp_path, corpus(documents=200, words=100))
    findings = {each.name: each.holds for each in audit_release(folder, trials=1 << 10).findings}
    assert not findings["noise in every column"]
    assert not findings["noise that is the law's in every column (as released)"]
    assert not findings["noise that is the law's in every column (compressed)"]
    assert not findings["noise that is the law's in every column (constant work)"]
    assert findings["a keystream that never comes again"]
    assert findings["noise that is the law's in every column (frequencies, local)"]
    assert findings["noise that is the law's in every column (frequencies, central)"]
    assert "neighbours: one word" in findings


def test_the_whole_way_of_sound_noise_is_found_sound() -> None:
    assert whole_way("none") == []


@pytest.mark.parametrize("rate", ["1/50", "1/2", "6"])
@pytest.mark.parametrize("kind", ["local", "central"])
def test_sound_frequencies_that_were_bought_are_found_sound(kind: str, rate: str) -> None:
    settings = replace(PLAIN, guarantee=LimitedPrecision.at_rate(Fraction(rate)))
    findings = audit_law(frequency_noise(settings, kind))
    assert [str(finding) for finding in findings if not finding.holds] == []


@pytest.mark.parametrize("rate", ["1/50", "1/2", "2", "6"])
@pytest.mark.parametrize("threshold", [None, 2])
def test_a_sound_folder_is_found_sound(rate: str, threshold: int | None, tmp_path: Path) -> None:
    settings = replace(
        PLAIN, guarantee=LimitedPrecision.at_rate(Fraction(rate)), threshold=threshold
    )
    report = audited(folder_of(tmp_path, corpus(documents=300, words=100), settings))
    assert report.holds, str(report)


def test_documents_that_are_all_alike_raise_no_alarm(tmp_path: Path) -> None:
    alike = sparse.csr_array(np.tile(np.arange(200) % 5, (300, 1)).astype(np.int64))
    assert audited(folder_of(tmp_path, alike)).holds


def test_a_folder_too_small_to_tell_says_so(tmp_path: Path) -> None:
    report = audited(folder_of(tmp_path, corpus(documents=3, words=4)))
    assert report.holds
    assert "too few cells to see a lack" in str(report)
    assert "too short to see any sharing" in str(report)


def test_two_draws_agree_as_often_as_said() -> None:
    noise = GeometricMechanism(RATE).noise(1 << 18)
    share = float(np.mean(noise[::2] == noise[1::2]))
    assert share == pytest.approx(agreement_chance(RATE), abs=0.005)


def sound_folder(seed: int, place: Path) -> Path:
    """A release of any size and rate."""
    chance = np.random.default_rng(seed)
    rate = Fraction(int(chance.integers(1, 60)), 20)
    counts = corpus(seed, int(chance.integers(20, 600)), int(chance.integers(5, 300)))
    place.mkdir()
    return folder_of(place, counts, replace(PLAIN, guarantee=LimitedPrecision.at_rate(rate)))


def test_a_zero_that_is_stored_tells_of_a_count(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, corpus(documents=300, words=100))
    counts = sparse.csr_array(sparse.load_npz(folder / COUNTS_FILE))
    assert audit_cells(verified_card(folder), counts).holds
    assert not audit_presence(counts, RATE, threshold=1).holds
    counts.data[7] = 0
    assert not audit_cells(verified_card(folder), counts).holds


@pytest.mark.long
def test_two_hundred_sound_folders_raise_no_alarm(tmp_path: Path) -> None:
    """At a level of 10^-6 each, one alarm among 200 would itself be a matter of 1 in 5,000."""
    folders = (sound_folder(seed, tmp_path / str(seed)) for seed in range(200))
    assert sum(not audited(folder).holds for folder in folders) == 0
