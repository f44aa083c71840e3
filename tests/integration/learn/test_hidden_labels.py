"""Three labels in the hidden mode: every row is decided, and as the plain argmax decides it."""

from dataclasses import replace
from typing import Any

import pytest
from support.chance import drawn_once
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import (
    LABELS,
    budget_left,
    labels_kept,
    made_peers,
    made_terms,
    made_texts,
    query_of,
    trained,
    use_of,
)

from sottovoce.errors import QueryBudgetError
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.evaluate import JointEvaluation
from sottovoce.learn.run.party import Finished
from sottovoce.learn.run.records import read_trained

SOLVERS: dict[str, dict[str, Any]] = {
    "chebyshev": {"solver": "chebyshev", "fraction_bits": 16},
    "masked": {"solver": "masked", "fraction_bits": 14},
}
PEERS = made_peers(labels=3)
NARROW = TextRecipe(dictionary="hashed", width=6)


@drawn_once
def a_training(solver: str, queries: int) -> tuple[Any, Finished]:
    recipe = {"penalty": 0.1, "key_bits": BITS, "queries": queries, **SOLVERS[solver]}
    terms = made_terms("train", "hidden", text=NARROW, recipe=recipe, labels=LABELS, held_out=0.2)
    return terms, trained(terms, PEERS)


@drawn_once
def plainly() -> Any:  # noqa: ANN401 - a training's record
    terms = made_terms(text=NARROW, recipe={"penalty": 0.1}, labels=LABELS, held_out=0.2)
    return read_trained(trained(terms, PEERS).results["ben"])


def a_query(terms: Any, ended: Finished, texts: list[str]) -> Finished:  # noqa: ANN401 - terms
    return query_of(terms, ended, texts, PEERS, labels=LABELS)


def decided(solver: str, rows: int) -> None:
    texts, _ = made_texts(rows, 71, labels=3)
    with small_keys_allowed():
        found = labels_kept(a_query(*a_training(solver, max(rows, 4)), texts).results["ben"])
    assert len(found) == rows
    assert found == list(call_labels(plainly(), Documents.from_texts(texts)))
    assert set(found) <= set(LABELS)


def test_every_row_has_the_label_of_the_largest_score() -> None:
    """Before, a row whose signs were not one plus and two minus was left undecided."""
    decided("chebyshev", 4)


@pytest.mark.long
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_hundred_rows_have_the_labels_of_the_largest_scores(solver: str) -> None:
    decided(solver, 200)


def test_what_does_not_depend_on_the_label_is_given_once() -> None:
    with small_keys_allowed():
        _, ended = a_training("chebyshev", 4)
    said = [(each.kind, each.bytes) for each in ended.transcript]
    kinds = [kind for kind, _ in said]
    assert kinds.count("data") == 2 * len(PEERS)
    assert kinds.count("features") == kinds.count("kept") == len(PEERS)
    assert kinds.count("key") == len(PEERS) + 1
    sizes = [size for kind, size in said if kind == "summand"]
    assert len(sizes) == len(LABELS) * len(PEERS)
    assert max(sizes[len(PEERS) :]) < min(sizes[: len(PEERS)]) / 2, "further labels give b alone"


def test_a_row_costs_a_row_of_every_labels_budget() -> None:
    texts, _ = made_texts(2, 72, labels=3)
    with small_keys_allowed():
        terms, ended = a_training("chebyshev", 4)
        asked = a_query(terms, ended, texts)
        for helper in ("coordinator", "key holder"):
            parts: Any = asked.results[helper]["training"]
            assert [budget_left(part, "ben") for part in parts["helpers"]] == [2, 2, 2]
        after = replace(ended, results={**ended.results, **_spent(asked)})
        with pytest.raises(QueryBudgetError):
            a_query(terms, after, [*texts, *texts])


def _spent(asked: Finished) -> dict[str, Any]:
    return {name: asked.results[name]["training"] for name in ("coordinator", "key holder")}


def test_an_evaluation_labels_every_row() -> None:
    with small_keys_allowed():
        terms, ended = a_training("chebyshev", 4)
        done = use_of("evaluate", terms, ended, PEERS, rows=1, labels=LABELS, held_out=0.2)
    counted = JointEvaluation.from_record(done.results["coordinator"])
    assert counted.count == 4
    assert counted.counts.shape == (len(LABELS), len(LABELS))
