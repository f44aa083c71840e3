"""Whatever is done to a file of documents, the ledger charges the documents in it."""

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import BudgetError
from sottovoce.privacy.ledger.accounts import Account
from sottovoce.privacy.ledger.elsewhere import user_ledger
from sottovoce.privacy.ledger.ledger import Ledger

NOTES = tuple(f"debt number {i} and a loan" for i in range(12))
ASKED: Any = {"words": ["debt", "loan"], "epsilon": 2, "precision": 2}


def written(name: str, notes: tuple[str, ...] = NOTES) -> Path:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["text", *notes, ""]))
    return path


def copied(path: Path) -> Path:
    return Path(shutil.copy(path, "copy.csv"))


def linked(path: Path) -> Path:
    os.link(path, "hard.csv")
    return Path("hard.csv")


def pointed_to(path: Path) -> Path:
    Path("soft.csv").symlink_to(path)
    return Path("soft.csv")


def moved(path: Path) -> Path:
    Path("elsewhere").mkdir()
    return Path(shutil.move(path, "elsewhere/notes.csv"))


def compressed(path: Path) -> Path:
    Path("notes.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    return Path("notes.csv.gz")


def reformatted(path: Path) -> Path:
    lines = (f'{{"text": "{note}"}}' for note in NOTES)
    path.with_suffix(".jsonl").write_text("\n".join(lines))
    return path.with_suffix(".jsonl")


def reordered(_path: Path) -> Path:
    return written("turned.csv", NOTES[::-1])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def account_of(number: int) -> Account:
    """The one account with so many documents."""
    accounts = Ledger(user_ledger()).accounts()
    (found,) = [account for account in accounts if account.documents == number]
    return found


def groups(account: Account) -> list[tuple[int, int]]:
    return sorted((group.documents, int(group.spent * 2)) for group in account.groups)


@pytest.mark.parametrize("change", [copied, linked, pointed_to, moved, compressed, reformatted])
def test_the_same_documents_elsewhere_get_the_same_bytes_and_no_budget(
    change: Callable[[Path], Path],
) -> None:
    path = written("notes.csv")
    first = sv.release_counts(path, **ASKED)
    changed = change(path)
    again = sv.release_counts(changed, **ASKED)
    assert (first.counts != again.counts).nnz == 0
    assert groups(account_of(12)) == [(12, 2)]
    with pytest.raises(BudgetError, match="the corpus has spent 2 of 2; nothing was spent"):
        sv.release_counts(changed, **ASKED, label="another")


def test_documents_in_another_order_are_another_release_on_the_same_budget() -> None:
    path = written("notes.csv")
    sv.release_counts(path, **ASKED, budget=4)
    turned = sv.release_counts(reordered(path), **ASKED)
    assert turned.card.documents == 12
    assert [groups(account) for account in Ledger(user_ledger()).accounts()] == [[(12, 4)]] * 2
    with pytest.raises(BudgetError):
        sv.release_counts(path, **ASKED, label="third")


def test_texts_with_other_blanks_and_capitals_are_charged_as_the_same_documents() -> None:
    sv.release_counts(["My debt.", "a loan, and a debt"], **ASKED, budget=4)
    rewritten = ["my  DEBT", "a loan and\r\na debt"]
    quoted = sv.release_counts(rewritten, **ASKED, dry_run=True)
    assert quoted.spent_before == "all of these 2 documents have spent 2 of 4 already, at N=2"
    sv.release_counts(rewritten, **ASKED)
    with pytest.raises(BudgetError, match="the corpus has spent 4 of 4"):
        sv.release_counts(rewritten, **ASKED, label="third")


def test_an_appended_row_pays_for_itself_and_the_others_once_more() -> None:
    sv.release_counts(written("notes.csv"), **ASKED, budget=4)
    more = written("more.csv", (*NOTES, "a new one"))
    quoted = sv.release_counts(more, **ASKED, dry_run=True)
    assert quoted.spent_before == "12 of these 13 documents have spent 2 of 4 already, at N=2"
    sv.release_counts(more, **ASKED)
    assert groups(account_of(13)) == [(1, 2), (12, 4)]
    assert groups(account_of(12)) == [(12, 4)]
    with pytest.raises(BudgetError, match="12 of these 13 documents have spent 4 of 4 already"):
        sv.release_counts(more, **ASKED, label="again")


def test_a_part_of_a_corpus_has_spent_what_the_whole_spent() -> None:
    sv.release_counts(written("notes.csv"), **ASKED, budget=4)
    sv.release_counts(written("part.csv", NOTES[:5]), **ASKED)
    assert groups(account_of(12)) == [(5, 4), (7, 2)]
    with pytest.raises(BudgetError, match="5 of these 12 documents have spent 4 of 4 already"):
        sv.release_counts("notes.csv", **ASKED, label="again")
    sv.release_counts(written("rest.csv", NOTES[5:]), **ASKED)
    assert groups(account_of(12)) == [(5, 4), (7, 4)]


def test_a_merger_has_spent_what_each_of_its_parts_spent() -> None:
    sv.release_counts(written("left.csv", NOTES[:5]), **ASKED, budget=4)
    sv.release_counts(written("right.csv", NOTES[5:]), **ASKED, budget=6)
    sv.release_counts(written("both.csv"), **ASKED)
    assert groups(account_of(12)) == [(5, 4), (7, 4)]
    with pytest.raises(BudgetError, match="5 of these 12 documents have spent 4 of 4 already"):
        sv.release_counts("both.csv", **ASKED, label="again")


def test_other_documents_need_no_budget_in_the_ledger_of_their_user() -> None:
    sv.release_counts(written("notes.csv"), **ASKED)
    sv.release_counts(written("others.csv", ("a home", "a loan")), **ASKED)
    assert groups(account_of(2)) == [(2, 2)]


def test_a_few_texts_that_others_wrote_too_can_be_vouched_for() -> None:
    sv.release_counts(written("notes.csv", ("thank you", "a home")), **ASKED)
    others = written("others.csv", ("thank you", *NOTES))
    with pytest.raises(
        BudgetError, match="1 of these 13 documents has spent 2 of 2.*--declare-new"
    ):
        sv.release_counts(others, **ASKED)
    made = sv.release_counts(others, **ASKED, declare_new_documents=True)
    assert "were taken for new ones" in made.card.in_words()


def test_where_the_users_ledger_cannot_be_had_one_beside_the_corpus_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = written("notes.csv")
    Path("file").touch()
    monkeypatch.setenv("SOTTOVOCE_LEDGER", "file/ledger")
    with pytest.warns(
        UserWarning, match="notes.csv.ledger beside the corpus is used: yours cannot"
    ):
        sv.release_counts(path, **ASKED)
    assert Path("notes.csv.ledger").is_file()


@pytest.mark.long
def test_a_million_documents_are_charged_in_seconds_and_kept_in_tens_of_megabytes() -> None:
    from time import perf_counter  # noqa: PLC0415 - here only

    from sottovoce.privacy.guarantee import LimitedPrecision  # noqa: PLC0415 - here only
    from sottovoce.privacy.ledger.accounts import SpendRequest  # noqa: PLC0415 - here only
    from sottovoce.privacy.ledger.documents import DocumentSet  # noqa: PLC0415 - here only

    chance = np.random.default_rng(1)
    first = DocumentSet.of_hashes(chance.bytes(8_000_000))
    more = DocumentSet.of_hashes(first.hashes[:900_000].tobytes() + chance.bytes(800_000))
    ledger = Ledger("ledger", create=True)
    took = []
    for name, documents in (("first", first), ("more", more)):
        begin = perf_counter()
        kept = ledger.key_names(
            SpendRequest(name, name, LimitedPrecision(1, 1), documents=documents)
        )
        ledger.set_budget(kept.corpus, LimitedPrecision(1, 1000), documents)
        ledger.commit(kept)
        took.append(perf_counter() - begin)
    begin = perf_counter()
    for i in range(200):
        each = SpendRequest(f"r{i}", kept.corpus, LimitedPrecision(1, "1/10"), documents=more)
        ledger.commit(each)
    rate = 200 / (perf_counter() - begin)
    ledger.close()
    size = Path("ledger").stat().st_size / 1e6
    print(f"first {took[0]:.1f} s, overlapping {took[1]:.1f} s, {rate:.0f} spends/s, {size:.0f} MB")  # noqa: T201 - figures for the guide
    assert max(took) < 20
    assert rate >= 50
    assert size < 50
