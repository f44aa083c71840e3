"""Each call of a release that reaches the disk fails in turn: nothing is released or spent wrongly.

What must hold: whatever is published was charged, once; the same request made again gives the same
bytes, which are those that any earlier attempt published; and an error has a name.
"""

import shutil
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from support.failing_calls import FILE_LOST, LOST_ANSWERS, ONCE_AND_LASTING, Outcomes, fail_each

import sottovoce as sv
from sottovoce.errors import BudgetError, LedgerError
from sottovoce.privacy.ledger import database
from sottovoce.privacy.ledger.ledger import Ledger

TEXTS = [f"my debt and the bank of {'loan ' * (number % 3)}" for number in range(6)]
WORDS = ["bank", "debt", "loan"]
SAMPLE = 25
ONCE = (1, Fraction(1))


@pytest.fixture(autouse=True)
def _own_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOTTOVOCE_LEDGER", raising=False)
    monkeypatch.setattr(database, "_LEDGER", replace(database._LEDGER, patience_s=0.2))


def release(folder: Path, *, out: str = "out", label: str = "", **changes: object) -> object:
    options = {"epsilon": 2, "budget": 2, "ledger": folder / "my.ledger", "out": folder / out}
    options |= changes
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "home"))
        return sv.release_counts(  # type: ignore[call-overload] # any options
            TEXTS, words=WORDS, precision=2, label=label, **options
        )


def nothing(_folder: Path) -> None:
    """The release is the first one."""


def content(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".part"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def spent(ledger: Path) -> tuple[int, Fraction]:
    opened = Ledger(ledger, counted=False)
    (account,) = opened.accounts()
    found = len(opened.spends(account.corpus)), account.spent
    opened.close()
    return found


def check_release(folder: Path) -> None:
    """Run again: the same bytes, one spend, and nothing published that is not these bytes."""
    published = content(folder / "out")
    if published:
        assert spent(folder / "my.ledger") == ONCE, "published and not charged once"
    release(folder)
    whole = content(folder / "out")
    assert spent(folder / "my.ledger") == ONCE, "charged twice, or not"
    assert published.items() <= whole.items(), "published bytes changed"
    release(folder, out="again")
    assert content(folder / "again") == whole, "another noise"


def check_leftovers(folder: Path) -> None:
    release(folder)
    left = sorted(file.name.rpartition(".")[0] for file in folder.rglob(".*.part"))
    assert not left, f"{len(left)} unfinished files are left"


def refuse_wrong(outcomes: Outcomes) -> None:
    print(outcomes)  # noqa: T201 - shown by -s: how many failures there were
    assert outcomes.failed
    assert not outcomes.wrong, outcomes.report()


def test_a_release_survives_failing_calls(tmp_path: Path) -> None:
    refuse_wrong(fail_each(nothing, release, check_release, tmp_path / "trials", most=SAMPLE))


@pytest.mark.long
def test_a_release_survives_every_failing_call(tmp_path: Path) -> None:
    refuse_wrong(fail_each(nothing, release, check_release, tmp_path / "trials"))


def is_commit(name: str) -> bool:
    return name.startswith("COMMIT")


def test_a_commit_whose_answer_is_lost_is_charged_once(tmp_path: Path) -> None:
    outcomes = fail_each(
        nothing, release, check_release, tmp_path / "trials", LOST_ANSWERS, is_commit
    )
    refuse_wrong(outcomes)


def test_a_stored_output_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    outcomes = fail_each(
        nothing,
        release,
        check_release,
        tmp_path / "trials",
        ONCE_AND_LASTING[:1],
        lambda name: name.startswith("read") and name.endswith(".bin"),
        most=SAMPLE,
    )
    assert not outcomes.unnamed, outcomes.report()


def test_the_next_release_removes_what_a_failed_one_left(tmp_path: Path) -> None:
    outcomes = fail_each(
        nothing,
        release,
        check_leftovers,
        tmp_path / "trials",
        ONCE_AND_LASTING,
        lambda name: name.startswith("unlink") and ".part" in name,
        most=8,
    )
    refuse_wrong(outcomes)


def release_again(folder: Path) -> object:
    """Another release of the same documents, whose budget is spent."""
    return release(folder, out="other", label="another")


def check_refused(folder: Path) -> None:
    assert not content(folder / "other"), "published beyond the budget"
    assert spent(folder / "my.ledger") == ONCE, "charged beyond the budget"


def test_no_failing_call_lets_a_release_beyond_its_budget(tmp_path: Path) -> None:
    def refused(folder: Path) -> None:
        with pytest.raises(BudgetError):
            release_again(folder)

    refuse_wrong(fail_each(release, refused, check_refused, tmp_path / "trials", most=SAMPLE))


def spend_elsewhere(folder: Path) -> None:
    release(folder, ledger=folder / "first.ledger")


def release_by_own_ledger(folder: Path) -> None:
    with pytest.raises(BudgetError):
        release(folder, out="other", label="another", ledger=None, budget=None)


def check_elsewhere(folder: Path) -> None:
    assert not content(folder / "other"), "published beyond what was spent in another ledger"


def reaches_another(name: str) -> bool:
    """Calls that ask which other ledgers there are, and what was spent there."""
    return "first.ledger" in name or name.partition(" ")[2].isalnum()


def test_a_known_ledger_that_cannot_be_asked_stops_a_release(tmp_path: Path) -> None:
    outcomes = fail_each(
        spend_elsewhere,
        release_by_own_ledger,
        check_elsewhere,
        tmp_path / "trials",
        only=reaches_another,
        most=SAMPLE,
    )
    refuse_wrong(outcomes)


def go_back(folder: Path) -> None:
    """Spend the budget in two releases, then put back all of the ledger as after the first."""
    for label in ("first", "second"):
        _release_half(folder, label)
        if label == "first":
            kept = folder / "backup"
            kept.mkdir()
            for found in folder.glob("my.ledger*"):
                (shutil.copytree if found.is_dir() else shutil.copy)(found, kept / found.name)
    for found in folder.glob("my.ledger*"):
        shutil.rmtree(found) if found.is_dir() else found.unlink()
    for found in (folder / "backup").iterdir():
        found.rename(folder / found.name)
    (folder / "backup").rmdir()


def _release_half(folder: Path, label: str) -> None:
    release(folder, out=label, label=label, epsilon=1)


def release_third(folder: Path) -> None:
    with pytest.raises(LedgerError, match="old copy"):
        _release_half(folder, "third")


def check_third(folder: Path) -> None:
    assert not content(folder / "third"), "published by an old copy of the ledger"


def test_a_count_of_spends_that_cannot_be_read_stops_a_release(tmp_path: Path) -> None:
    def of_the_count(name: str) -> bool:
        call, _, file = name.partition(" ")
        return call in {"open", "read"} and file.isalnum()

    outcomes = fail_each(
        go_back,
        release_third,
        check_third,
        tmp_path / "trials",
        FILE_LOST,
        of_the_count,
        most=SAMPLE,
    )
    refuse_wrong(outcomes)


def test_spends_that_cannot_be_counted_are_refused_or_said(tmp_path: Path) -> None:
    (tmp_path / "home" / "sottovoce").mkdir(parents=True)
    (tmp_path / "home" / "sottovoce" / "spends").write_text("in the way")
    with suppress(LedgerError):
        go_back(tmp_path)
        _release_half(tmp_path, "third")
    check_third(tmp_path)
