"""What a count refuses in words of its own, with nothing spent."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import BudgetError, InputError, LedgerError, ParameterError
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.privacy import WholeDocument

HOLDERS = {name: [f"a debt of {name} {at}" for at in range(5)] for name in ("ada", "ben", "cy")}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def count(ledger: Path, holders: object = HOLDERS, **options: object) -> TogetherCounts:
    chosen = {"words": ["debt", "loan"], "epsilon": 1, "votes": 3, **options}
    return sv.count_together(holders, ledger=ledger, **chosen)  # type: ignore[arg-type] # tests of what is refused


@pytest.mark.parametrize("given", [2.5, "two", True])
@pytest.mark.parametrize("name", ["votes", "drop", "collude", "documents_per_user"])
def test_what_is_counted_in_whole_numbers_must_be_one(
    ledger: Path, name: str, given: object
) -> None:
    # With votes=2.5 a document would cast 3, at noise for 2.5.
    with pytest.raises(ParameterError, match=f"{name} must be a (whole )?number"):
        count(ledger, **{name: given})
    assert not ledger.exists()


def test_whole_numbers_of_other_kinds_are_taken() -> None:
    recipe = CountRecipe(votes=np.int64(4), drop=1.0, collude="1")  # type: ignore[arg-type] # whole all the same
    assert (recipe.votes, recipe.drop, recipe.collude) == (4, 1, 1)
    assert {type(recipe.votes), type(recipe.drop), type(recipe.collude)} == {int}


class Running:
    """A federation that must not be asked."""

    identities: Mapping[str, bytes] = {}
    here = "ada"

    def run(self, terms: object, examples: object) -> Mapping[str, Any]:
        raise AssertionError((terms, examples))


@pytest.mark.parametrize("name", ["text", "label", "user", "id", "ledger", "budget"])
def test_what_running_peers_say_themselves_is_refused(name: str) -> None:
    given: Any = {name: "1"}
    with pytest.raises(ParameterError, match=rf"own party\.toml .*: leave out {name}\."):
        sv.count_together(Running(), words=["debt"], epsilon=1, **given)


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "a"], "ab"])
def test_labels_that_are_no_list_of_two_are_refused_as_a_count_s(
    ledger: Path, labels: object
) -> None:
    holders = {name: (texts, ["a"] * 5) for name, texts in HOLDERS.items()}
    with pytest.raises(ParameterError, match="leave labels out to count words without them"):
        count(ledger, holders, labels=labels)
    assert not ledger.exists()


@pytest.mark.parametrize("texts", [[None, "a debt"], ["a \ud800"], [{"text": "a \ud800"}]])
def test_what_is_no_text_is_refused_by_a_planned_error(ledger: Path, texts: object) -> None:
    with pytest.raises(InputError):
        count(ledger, {**HOLDERS, "cy": texts})
    assert not ledger.exists()


def test_a_column_that_is_missing_is_named_as_counts_name_it(ledger: Path) -> None:
    rows = [{"body": "a debt"}]
    with pytest.raises(InputError, match="name it: text=, label=, user= or id="):
        count(ledger, {**HOLDERS, "cy": rows})


def test_a_budget_below_the_count_is_told_with_both_numbers(ledger: Path) -> None:
    with pytest.raises(BudgetError, match="epsilon 1 must fit it, got 0.5"):
        count(ledger, budget="0.5")
    assert not ledger.exists()


def test_a_refusal_of_what_several_hold_says_so(ledger: Path) -> None:
    held = {name: ["the same debt"] for name in HOLDERS}
    with pytest.raises(BudgetError, match="3 times: 3 of the holders have the same texts"):
        count(ledger, held, budget=2)


def test_another_budget_is_refused_in_epsilon_of_whole_documents(ledger: Path) -> None:
    count(ledger)
    with pytest.raises(LedgerError, match="twice the epsilon of a whole one"):
        count(ledger, budget=2)


def test_a_budget_of_whole_documents_holds_where_users_are_bounded(ledger: Path) -> None:
    rows = {
        name: [{"text": text, "user": "u"} for text in texts] for name, texts in HOLDERS.items()
    }
    # A single document is promised 2 epsilon then, and a budget of 2 is spent.
    count(ledger, rows, user="user", documents_per_user=3, budget=2)
    with pytest.raises(BudgetError, match="whole documents at epsilon 1 must fit"):
        count(ledger, budget=2)


def test_where_users_are_bounded_replacing_is_promised_within_a_user() -> None:
    told = WholeDocument(1, parties=3, collude=1, documents_per_user=3).in_words()
    assert "(replacing one by another of the same user, its label included: e^2" in told
    assert "one of another user: e^4)" in told
