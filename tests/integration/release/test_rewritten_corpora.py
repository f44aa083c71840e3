"""What another program wrote is charged as the same documents."""

from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.errors import BudgetError

ASKED: Any = {"words": ["debt", "loan"], "epsilon": 2, "precision": 2}


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
