"""A folder is audited against the texts it was made of, in figures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import InputError
from sottovoce.privacy.audit.findings import AuditReport
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.audit import audit_with_texts

WORDS = [f"word{i}" for i in range(120)]


def texts(documents: int = 500) -> list[str]:
    chance = np.random.default_rng(1)
    share = 1 / np.arange(1, 121)
    lengths = chance.integers(1, 60, documents)
    return [" ".join(chance.choice(WORDS, n, p=share / share.sum())) for n in lengths]


def audited(place: Path, **options: Any) -> AuditReport:  # noqa: ANN401 - any option
    options = {"epsilon": 1, **options}
    sv.release_counts(
        texts(), words=WORDS, precision=2, ledger=place / "ledger", out=place / "out", **options
    )
    return audit_with_texts(place / "out", texts(), ReadOptions())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 2},
        {"compress": "random", "columns": 30, "maps": 3},
        {"constant_work": True, "epsilon": 6},
    ],
)
def test_a_sound_folder_holds_and_says_what_it_leaves_open(
    tmp_path: Path, options: dict[str, object]
) -> None:
    report = audited(tmp_path, **options)
    assert report.holds, str(report)
    found, whole = report.findings[:2]
    assert "of 200 tries among 500 rows (by guessing: 0.2%)" in found.detail
    assert "That a whole document of" in whole.detail
    assert not any(word in str(report).split() for word in WORDS)


@pytest.mark.parametrize(("epsilon", "least", "most"), [(1, 0, 60), (7, 80, 100)])
def test_a_row_with_less_noise_is_found_more_often_by_its_text(
    tmp_path: Path, epsilon: int, least: int, most: int
) -> None:
    told = audited(tmp_path, epsilon=epsilon).findings[0].detail
    assert least <= float(told.partition(" at once in ")[2].partition("%")[0]) <= most


@pytest.mark.parametrize("fault", ["counts of 1 exact", "tails cut", "a tenth copied"])
def test_a_faulty_folder_does_not_hold(
    tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = GeometricMechanism.dense

    def broken(self: GeometricMechanism, counts: np.ndarray, **options: object) -> np.ndarray:
        noise = sound(self, counts, **options) - counts  # type: ignore[arg-type] # as the sound one
        if fault == "tails cut":
            noise = np.clip(noise, -9, 9)
        gone = counts == 1 if "1" in fault else np.random.default_rng().random(noise.shape) < 0.1
        return counts + (noise if fault == "tails cut" else np.where(gone, 0, noise))

    monkeypatch.setattr(GeometricMechanism, "dense", broken)
    report = audited(tmp_path, constant_work=True)
    assert not report.holds
    assert any("nats from the law" in each.detail for each in report.findings if not each.holds)


def test_other_texts_are_refused(tmp_path: Path) -> None:
    audited(tmp_path)
    with pytest.raises(InputError, match="the texts make 400 rows and the release has 500"):
        audit_with_texts(tmp_path / "out", texts(400), ReadOptions())
