"""A classifier of counted words by one call, as other classifiers are trained."""

from pathlib import Path
from typing import Any

import pytest

from sottovoce.errors import ParameterError
from sottovoce.learn import train
from sottovoce.learn.count.reading import CountedClassifier
from sottovoce.privacy import Ledger

POST = [{"body": f"cheap pills {at}", "kind": "spam"} for at in range(4)]
POST += [{"body": f"lunch at noon {at}", "kind": "ham"} for at in range(4)]
HOLDERS = {name: [{**row, "body": f"{row['body']} {name}"} for row in POST] for name in "abc"}
# So little noise that no cell has any, but for once in a million years.
GIVEN: dict[str, Any] = {
    "epsilon": 99,
    "votes": 3,
    "words": ["cheap", "lunch", "noon", "pills"],
    "text": "body",
    "label": "kind",
    "labels": ["ham", "spam"],
}


def test_train_with_an_epsilon_counts_and_pays(tmp_path: Path) -> None:
    trained = train(HOLDERS, **GIVEN, ledger=tmp_path / "ledger")
    assert isinstance(trained, CountedClassifier)
    assert trained.predict(["pills!", "lunch, noon"]).tolist() == ["spam", "ham"]
    assert [str(account.spent) for account in Ledger(tmp_path / "ledger").accounts()] == ["198"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"mode": "hidden"}, "leave out mode"),
        ({"held_out": 0.2}, "leave out held_out"),
        ({"penalty": 0.1, "keys": (1, 2)}, "leave out keys, penalty"),
        ({"labels": None}, "all labels must be named"),
        ({"labels": ["ham"]}, "labels must be at least two"),
        ({"words": None}, "words must be a public list"),
        ({"epsilon": 0}, "epsilon must be > 0"),
    ],
)
def test_what_has_no_meaning_with_an_epsilon_is_refused_before_anything_is_spent(
    changed: dict[str, Any], words: str, tmp_path: Path
) -> None:
    given = {**GIVEN, **changed}
    with pytest.raises(ParameterError, match=words):
        train(HOLDERS, **given, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()
