"""Ledgers that do not know each other are asked: what a document spent in any of them counts."""

import shlex
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.shown import Run

import sottovoce as sv
from sottovoce.errors import BudgetError, LedgerError
from sottovoce.files import state_folder
from sottovoce.privacy.ledger.elsewhere import user_ledger
from sottovoce.privacy.ledger.ledger import Ledger

NOTES = tuple(f"debt number {i} and a loan" for i in range(12))
ASKED: Any = {"words": ["debt", "loan"], "epsilon": 2, "precision": 2}
pytestmark = pytest.mark.filterwarnings("ignore:the ledger .* beside the corpus is used")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def older(folder: Path) -> Path:
    """A corpus of the same notes whose ledger has spent 2 of 4 beside it."""
    posts = folder / "posts.csv"
    posts.write_text("text\n" + "".join(f"{each}\n" for each in NOTES))
    (folder / "words.txt").write_text("debt\nloan\n")
    beside: Any = {**ASKED, "words": "words.txt", "ledger": f"{posts}.ledger", "budget": 4}
    sv.release_counts(posts, **beside)
    for noted in (state_folder() / "ledgers").iterdir():
        noted.unlink()
    return posts


def copied(path: Path, *more: str) -> Path:
    copy = path.parent / "elsewhere" / "notes.csv"
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(path.read_text() + "".join(f"{each}\n" for each in more))
    return copy


def test_what_the_users_ledger_spent_counts_in_one_beside_the_corpus(older: Path) -> None:
    sv.release_counts(list(NOTES), **ASKED, budget=4)
    with pytest.raises(
        BudgetError, match=rf"has spent 4 of 4; nothing.*counts too: {user_ledger()}\."
    ):
        sv.release_counts(older, **ASKED, label="second")


def test_what_a_ledger_beside_the_corpus_spent_counts_for_a_copy_elsewhere(older: Path) -> None:
    sv.release_counts(older, **ASKED, label="second")
    assert user_ledger().exists() is False
    with pytest.raises(BudgetError, match=r"has spent 4 of 4;.*counts too: .*posts.csv.ledger"):
        sv.release_counts(copied(older), **ASKED)
    assert user_ledger().exists() is False


def test_documents_have_the_budget_that_they_have_in_another_ledger(older: Path) -> None:
    copy = copied(older)
    shutil.move(f"{older}.ledger", copy.parent / "old.ledger")
    shutil.move(f"{older}.ledger.outputs", copy.parent / "old.ledger.outputs")
    shutil.move(f"{older}.ledger.key", copy.parent / "old.ledger.key")
    quoted = sv.release_counts(copy, **ASKED, dry_run=True)
    assert quoted.spent_before == (
        f"all of these 12 documents have spent 2 of 4 already, at N=2, in the ledger "
        f"{copy.parent / 'old.ledger'}"
    )
    sv.release_counts(copy, **ASKED)
    (account,) = Ledger(user_ledger()).accounts()
    assert (account.budget.epsilon, account.spent * 2) == (Fraction(4), Fraction(2))
    with pytest.raises(BudgetError, match="has spent 4 of 4"):
        sv.release_counts(copy, **ASKED, label="third")


def test_a_document_pays_for_what_it_spent_itself_and_not_for_its_company(older: Path) -> None:
    # Its old release again, which is free, teaches it the documents.
    sv.release_counts(older, **{**ASKED, "words": "words.txt"})
    mixed = [*NOTES[:2], "a home", "the work"]
    sv.release_counts(mixed, **ASKED)
    with pytest.raises(BudgetError, match="2 of these 4 documents have spent 4 of 4 already"):
        sv.release_counts(mixed, **ASKED, label="again")
    sv.release_counts(mixed[2:], **ASKED)


def test_a_ledger_that_was_named_says_what_it_does_not_count() -> None:
    sv.release_counts(list(NOTES), **ASKED)
    with pytest.warns(UserWarning, match=r"all of these 12 documents .* does not count that"):
        sv.release_counts(list(NOTES), **ASKED, ledger="own.ledger")
    # What it spent counts in turn where nobody chose a ledger.
    with pytest.raises(BudgetError, match=r"has spent 4 of 2;.*counts too: .*own.ledger"):
        sv.release_counts(list(NOTES), **ASKED, label="second")
    sv.release_counts(list(NOTES), **ASKED, ledger="own.ledger")


def test_a_copy_of_a_ledger_counts_nothing_twice(older: Path) -> None:
    sv.release_counts(older, **{**ASKED, "words": "words.txt"})
    for name in ("copy", "again"):
        shutil.copy(f"{older}.ledger", f"{name}.ledger")
        shutil.copy(f"{older}.ledger.key", f"{name}.ledger.key")
    sv.release_counts(older, **ASKED, label="second")
    other = older.with_name("other.csv")
    other.write_text(older.read_text())
    quoted = sv.release_counts(other, **ASKED, dry_run=True, budget=6)
    assert quoted.spent_before.count("documents have spent 4 of 4 already") == 1
    assert quoted.spent_before.count("documents have spent") == 1


def spend_unnamed(path: Path) -> None:
    """Spend 2 of 4 from a ledger that is not told on which documents."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ledger = sv.privacy.Ledger(path, create=True)
    ledger.set_budget("notes", sv.privacy.LimitedPrecision(2, 4))
    ledger.commit(sv.privacy.SpendRequest("first", "notes", sv.privacy.LimitedPrecision(2, 2)))
    ledger.close()


def test_documents_that_the_ledger_was_not_told_might_be_any_new_ones() -> None:
    spend_unnamed(user_ledger())
    with pytest.raises(BudgetError, match=r"has spent 2 of 3;.*Make those requests again"):
        sv.release_counts(list(NOTES), **ASKED, budget=3)
    sv.release_counts(list(NOTES), **ASKED, budget=4)
    with pytest.raises(BudgetError, match="has spent 4 of 4"):
        sv.release_counts(list(NOTES), **ASKED, label="second")


def test_another_ledger_that_cannot_say_whose_its_spends_are_is_named(folder: Path) -> None:
    spend_unnamed(folder / "own.ledger")
    quoted = sv.release_counts(list(NOTES), **ASKED, dry_run=True)
    said = f"the ledger {folder / 'own.ledger'} may have spent on these documents"
    assert said in quoted.spent_before


def test_what_is_no_ledger_stops_nothing(older: Path) -> None:
    Path("accounts.ledger").write_text("2024-01-01 * a book of accounts")
    sv.release_counts(older, **ASKED, label="second")
    sv.release_counts(["a home"], **ASKED)
    assert Path("accounts.ledger").read_text().startswith("2024")


def test_a_ledger_in_the_corpus_folder_that_cannot_be_asked_stops_a_release(older: Path) -> None:
    sv.release_counts(older, **ASKED, label="second")
    for noted in (state_folder() / "ledgers").iterdir():
        noted.unlink()
    Path(f"{older}.ledger.key").unlink()
    with pytest.raises(LedgerError, match=r"posts.csv.ledger cannot be asked.*or move it else"):
        sv.release_counts(copied(older).rename(older.with_name("more.csv")), **ASKED)


@pytest.fixture
def elsewhere(folder: Path) -> Path:
    """A ledger on another disk, from which the notes have spent their budget."""
    disk = folder / "another disk"
    disk.mkdir()
    sv.release_counts(list(NOTES), **ASKED, ledger=disk / "notes.ledger")
    return disk


def test_a_known_ledger_whose_disk_is_away_is_named_with_the_cause_and_a_way_on(
    elsewhere: Path,
) -> None:
    elsewhere.rename("away")
    known = elsewhere / "notes.ledger"
    with pytest.raises(LedgerError) as refused:
        sv.release_counts(list(NOTES), **ASKED)
    for part in (
        f"the ledger {known} cannot",
        "No such file",
        "Put it back",
        "Nothing was released",
    ):
        assert part in str(refused.value)
    command = str(refused.value).partition("run: sottovoce ")[2].partition(";")[0]
    assert shlex.split(command) == ["ledger", "forget-place", str(known)]
    Path("away").rename(elsewhere)
    with pytest.raises(BudgetError):
        sv.release_counts(list(NOTES), **ASKED)


def test_a_known_ledger_that_is_gone_for_good_is_forgotten_by_name(
    elsewhere: Path, run: Run
) -> None:
    known = str(elsewhere / "notes.ledger")
    code, _, err = run("ledger", "forget-place", known)
    assert (code, "still answers" in err) == (2, True)
    shutil.rmtree(elsewhere)
    code, out, _ = run("ledger", "forget-place", known)
    assert (code, "its 1 spends no longer count" in out) == (0, True)
    sv.release_counts(list(NOTES), **ASKED)
    code, _, err = run("ledger", "forget-place", known)
    assert (code, "is known to this machine" in err) == (2, True)


def test_a_forgotten_ledger_that_comes_back_old_is_refused_all_the_same(
    elsewhere: Path, run: Run
) -> None:
    known = elsewhere / "notes.ledger"
    shutil.copytree(elsewhere, "backup")
    sv.release_counts(["a home"], **ASKED, ledger=known, budget=2)
    shutil.rmtree(elsewhere)
    assert run("ledger", "forget-place", str(known))[0] == 0
    shutil.move("backup", elsewhere)
    with pytest.raises(LedgerError, match="it is an old copy"):
        sv.release_counts(["the work"], **ASKED, ledger=known, budget=2)


def test_an_old_copy_of_a_known_ledger_is_no_answer(elsewhere: Path) -> None:
    shutil.copytree(elsewhere, "backup")
    sv.release_counts(["a home"], **ASKED, ledger=elsewhere / "notes.ledger", budget=2)
    shutil.rmtree(elsewhere)
    shutil.move("backup", elsewhere)
    with pytest.raises(LedgerError, match="cannot be asked what was spent there: .* an old copy"):
        sv.release_counts(["a home"], **ASKED)


def test_another_ledger_in_the_place_of_a_known_one_is_no_answer(elsewhere: Path) -> None:
    Ledger(elsewhere / "new.ledger", create=True).close()
    (elsewhere / "new.ledger").replace(elsewhere / "notes.ledger")
    with pytest.raises(LedgerError, match="another ledger lies there"):
        sv.release_counts(list(NOTES), **ASKED)


def test_a_ledger_that_was_moved_is_no_other_one(elsewhere: Path) -> None:
    elsewhere.rename("moved")
    options: Any = {**ASKED, "ledger": "moved/notes.ledger"}
    sv.release_counts(list(NOTES), **options)
    with pytest.raises(BudgetError):
        sv.release_counts(list(NOTES), **options, label="second")
    with pytest.raises(BudgetError):
        sv.release_counts(list(NOTES), **ASKED)


def test_a_ledger_that_was_named_says_which_others_it_cannot_ask(elsewhere: Path) -> None:
    shutil.rmtree(elsewhere)
    with pytest.warns(UserWarning, match=r"notes.ledger cannot be asked .* does not count that"):
        sv.release_counts(list(NOTES), **ASKED, ledger="own.ledger")


def test_rows_without_a_place_for_the_users_ledger_are_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", "file")
    with pytest.raises(LedgerError, match="no folder that can be written. Name a ledger: --ledger"):
        sv.release_counts(list(NOTES), **ASKED)


def test_a_users_ledger_that_is_gone_is_missed() -> None:
    sv.release_counts(list(NOTES), **ASKED)
    for path in user_ledger().parent.glob("ledger*"):
        if path.name != "ledgers":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for dry_run in (True, False):
        with pytest.raises(LedgerError, match="is gone, from which 1 spends were made.*Restore it"):
            sv.release_counts(list(NOTES), **ASKED, dry_run=dry_run)
    assert not user_ledger().exists()
    (noted,) = (state_folder() / "ledgers").iterdir()
    assert noted.stat().st_mode & 0o777 == 0o600
    noted.unlink()
    sv.release_counts(list(NOTES), **ASKED)
