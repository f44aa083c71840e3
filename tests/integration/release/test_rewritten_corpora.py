"""What another program wrote, and what an earlier version of the ledger kept, is charged too."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.errors import BudgetError
from sottovoce.privacy.ledger import Ledger

VERSION_2 = Path(__file__).parents[2] / "vectors" / "release-version-2.zip"
ASKED: Any = {"words": ["debt", "loan"], "epsilon": 2, "precision": 2}
SETTLED: Any = {**ASKED, "words": "words.txt", "ledger": "user.ledger"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_texts_with_other_blanks_and_capitals_are_charged_as_the_same_documents() -> None:
    sv.release_counts(["My debt.", "a loan, and a debt"], **ASKED, budget=4)
    rewritten = ["my  DEBT", "a loan and\r\na debt"]
    quoted = sv.release_counts(rewritten, **ASKED, dry_run=True)
    assert quoted.spent_before == "all of these 2 documents have spent 2 of 4 already, at N=2"
    sv.release_counts(rewritten, **ASKED)
    with pytest.raises(BudgetError, match="the corpus has spent 4 of 4"):
        sv.release_counts(rewritten, **ASKED, label="third")


@pytest.fixture
def older(folder: Path) -> Path:
    """A ledger of version 2: 12 documents, released in two orders, have spent 4 of 6."""
    with zipfile.ZipFile(VERSION_2) as archive:
        archive.extractall(folder)
    Path("user.ledger.key").chmod(0o600)
    return folder


def groups() -> list[list[tuple[int, int]]]:
    return [
        sorted((group.documents, int(group.spent * 2)) for group in account.groups)
        for account in Ledger("user.ledger").accounts()
    ]


@pytest.mark.usefixtures("older")
def test_a_release_of_version_2_is_replayed_and_its_documents_are_learnt_anew() -> None:
    found = sv.load_release("released")
    again = sv.release_counts("posts.csv", **SETTLED)
    assert (found.counts != again.counts).nnz == 0
    sv.release_counts("turned.csv", **SETTLED)
    assert groups() == [[(12, 4)], [(12, 4)]]
    sv.release_counts("posts.csv", **SETTLED, label="third")
    with pytest.raises(BudgetError, match="has spent 6 of 6"):
        sv.release_counts("turned.csv", **SETTLED, label="fourth")


@pytest.mark.usefixtures("older")
def test_what_version_2_spent_counts_for_all_that_is_new_until_it_is_learnt() -> None:
    new = ["a home of one's own"]
    with pytest.raises(BudgetError, match=r"spent 4 of 5;.*Make those releases again"):
        sv.release_counts(new, **SETTLED, budget=5)
    for name in ("posts.csv", "turned.csv"):
        sv.release_counts(name, **SETTLED)
    sv.release_counts(new, **SETTLED, budget=5)
    assert sorted(groups()) == [[(1, 2)], [(12, 4)], [(12, 4)]]
