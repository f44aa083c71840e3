"""Classifying and evaluating with what a training left, rows in parts too (equations 24, 25)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.chance import drawn_once
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import (
    HASHED,
    IDENTITIES,
    NAMES,
    SECRETS,
    budget_left,
    labels_kept,
    made_peers,
    made_terms,
    made_texts,
    part_kept,
    query_of,
    trained,
    use_of,
)
from support.trainings import small_peers

from sottovoce.errors import DamagedRecordError, DataError, ParameterError, QueryBudgetError
from sottovoce.learn import train
from sottovoce.learn.documents import Documents, Table, held_out
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.ridge import LinearModel
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.evaluate import JointEvaluation
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.party import Finished, make_party
from sottovoce.learn.run.records import read_hidden, read_trained
from sottovoce.learn.run.terms import Holdings, RunTerms

HIDDEN: dict[str, Any] = {
    "penalty": 0.1,
    "key_bits": BITS,
    "solver": "chebyshev",
    "fraction_bits": 16,
    "queries": 12,
    "queries_together": 40,
}
OPEN: dict[str, Any] = {}


RECIPES: dict[str, dict[str, Any]] = {"hidden": HIDDEN, "open": OPEN}


@drawn_once
def a_training(mode: str) -> tuple[Any, Finished]:
    """Terms and results, which nobody changes."""
    terms = made_terms("train", mode, text=HASHED, recipe=RECIPES[mode], held_out=0.25)
    return terms, trained(terms, made_peers())


def a_query(terms: Any, ended: Finished, texts: list[str]) -> Finished:  # noqa: ANN401 - terms
    return query_of(terms, ended, texts, made_peers())


def test_queries_spend_a_budget_that_helpers_keep_from_run_to_run() -> None:
    texts, _ = made_texts(7, 71)
    with small_keys_allowed():
        terms, ended = a_training("hidden")
        asked = a_query(terms, ended, texts)
        for helper in ("coordinator", "key holder"):
            kept: Any = asked.results[helper]["training"]
            assert budget_left(kept["helpers"][0], "ben") == 5
            assert budget_left(kept["helpers"][0], "ada") == 12
        later = {
            **ended.results,
            **{h: asked.results[h]["training"] for h in ("coordinator", "key holder")},
        }
        with pytest.raises(QueryBudgetError, match="ben may have 5 more rows"):
            a_query(terms, replace(ended, results=later), texts)  # type: ignore[arg-type] # records


def test_an_open_query_is_the_peers_own() -> None:
    texts, _ = made_texts(5, 72)
    terms, ended = a_training("open")
    asked = a_query(terms, ended, texts)
    assert asked.traffic.messages == 0
    assert asked.results["ben"]["labels"] == call_labels(
        read_trained(ended.results["ben"]), Documents.from_texts(texts)
    )


def test_an_evaluation_counts_what_all_peers_hold_out() -> None:
    terms, ended = a_training("open")
    found = use_of("evaluate", terms, ended, made_peers())
    result = read_trained(ended.results["cy"])
    parts = [each.part(held_out(each, 0.25, SECRETS[name])) for name, each in made_peers().items()]
    assert {len(part) for part in parts} == {10}
    calls = [call_labels(result, part) for part in parts]
    wrong = sum(
        call != truth
        for part, labels in zip(parts, calls, strict=True)
        for truth, call in zip(part.labels or (), labels, strict=True)
    )
    for name in (*NAMES, "coordinator"):
        joint = JointEvaluation.from_record(found.results[name])
        assert joint.count == 40
        assert joint.misclassification == pytest.approx(wrong / 40)
    spam = joint.of_label("spam")
    assert spam.count == 40
    assert spam.misclassification == pytest.approx(wrong / 40)


def test_a_hidden_evaluation_asks_for_as_many_rows_whatever_a_peer_has() -> None:
    with small_keys_allowed():
        terms, ended = a_training("hidden")
        peers = made_peers()
        peers["ada"] = peers["ada"].part(np.arange(40) < 12)  # of which five are held out
        found = use_of("evaluate", terms, ended, peers, rows=6)
    joint = JointEvaluation.from_record(found.results["dee"])
    assert joint.count == 5 + 3 * 6
    sizes = {
        said.bytes for said in found.transcript if said.kind == "scores" and said.sender in NAMES
    }
    assert max(sizes) - min(sizes) < 40  # names and numbers' lengths, never a row
    kept: Any = found.results["key holder"]["training"]
    assert {budget_left(kept["helpers"][0], name) for name in NAMES} == {6}


def test_another_trainings_result_is_refused() -> None:
    terms, ended = a_training("open")
    with pytest.raises(DataError, match="ben must bring its result of the training"):
        a_query(replace(terms, session=bytes(16)), ended, ["some text"])
    with pytest.raises(DataError, match="train first"):
        a_query(terms, replace(ended, results={}), ["some text"])
    with pytest.raises(DamagedRecordError):
        a_query(terms, replace(ended, results={"ben": {"version": 1, "kind": "train"}}), ["text"])


def test_a_query_has_the_rows_it_was_announced_with() -> None:
    terms, ended = a_training("open")
    query = made_terms("classify", "open", text=None, training=terms.session, asker="ada", rows=2)
    brought = Holdings(
        IDENTITIES["ada"], Documents.from_texts(["one"]), earlier=ended.results["ada"]
    )
    with pytest.raises(DataError, match="the 2 rows that this run is about, got 1"):
        make_party(query, "ada", brought)


def test_labels_that_were_not_trained_on_are_refused_at_their_peer() -> None:
    terms, ended = a_training("open")
    run = made_terms("evaluate", "open", text=None, training=terms.session)
    brought = Holdings(
        IDENTITIES["ada"],
        Documents.from_texts(["x"] * 16, ["egg"] * 16),
        earlier=ended.results["ada"],
    )
    with pytest.raises(DataError, match="of the 2 that were trained on, got 1"):
        make_party(run, "ada", brought)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "classify", "asker": "eve", "rows": 1},
        {"kind": "classify", "asker": "ada", "rows": 0},
        {"kind": "classify", "asker": "ada", "rows": 1, "training": b"short"},
        {"kind": "evaluate", "mode": "hidden"},
    ],
)
def test_terms_of_a_use_must_say_what_is_used(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        made_terms(**{"training": bytes(16), "text": None, "recipe": {"penalty": 0.1}, **given})


def test_a_readable_classifier_is_wanted_to_call_by_oneself() -> None:
    with small_keys_allowed():
        _, ended = a_training("hidden")
        with pytest.raises(DataError, match="nobody's to read"):
            call_labels(read_trained(ended.results["ada"]), Documents.from_texts(["text"]))


def test_sentences_are_evaluated_as_sentences() -> None:
    texts, labels = made_texts(40, 3)
    peers = {
        name: Documents.from_texts([f"{text}. {text}." for text in texts], labels) for name in NAMES
    }
    recipe = TextRecipe(dictionary="hashed", width=8, unit="sentence")
    terms = made_terms(text=recipe, recipe=OPEN, held_out=0.25)
    ended = trained(terms, peers)
    found = use_of("evaluate", terms, ended, peers)
    assert JointEvaluation.from_record(found.results["ada"]).count == 4 * 2 * 10


COLUMNS = ("one", "two", "three", "four")
OWN = {"ada": ("one", "two", "three"), "ben": COLUMNS, "cy": COLUMNS, "dee": ("four", "two", "one")}
HIDDEN_ROWS: dict[str, Any] = {
    "penalty": 0.1,
    "key_bits": BITS,
    "solver": "chebyshev",
    "fraction_bits": 16,
    "queries": 100,
}
ENTITIES = np.random.default_rng(5).normal(1.0, 2.0, (6, 4)).round(3)


def columns_of(rows: Any, name: str, labels: Any = None) -> Table:  # noqa: ANN401 - arrays
    places = [COLUMNS.index(column) for column in OWN[name]]
    return Table.from_rows(np.asarray(rows)[:, places], labels, OWN[name])


def given_peers() -> dict[str, Table]:
    return {name: columns_of(x, name, y) for name, (x, y) in zip(NAMES, small_peers(), strict=True)}


def a_training_of_columns(mode: str, recipe: dict[str, Any]) -> tuple[RunTerms, Finished]:
    terms = made_terms("train", mode, features=COLUMNS, recipe=recipe)
    return terms, trained(terms, given_peers())


def asked(terms: RunTerms, ended: Finished, *others: str, **given: Any) -> Finished:  # noqa: ANN401 - of terms
    parts = {name: columns_of(ENTITIES, name) for name in ("ada", *others)}
    about = {"asker": "ada", "rows": len(ENTITIES), "contributors": others, **given}
    return use_of("classify", terms, ended, given_peers() | parts, **about)


def readable(penalty: float = 0.1) -> LinearModel:
    whole = train(
        {name: (each.rows, each.labels or ()) for name, each in given_peers().items()},
        features=list(OWN.values()),
        penalty=penalty,
    )
    return LinearModel(whole.coef_[0], float(whole.intercept_[0]))


def test_a_hidden_offset_is_the_mean_row_of_who_does_not_know_the_entities() -> None:
    with small_keys_allowed():
        terms, ended = a_training_of_columns("hidden", HIDDEN_ROWS)
        found = asked(terms, ended, "dee", offset="mean")
        kept = part_kept(ended.results["dee"], "classifiers")
        found_kept = read_hidden(kept)
    standard, own = found_kept.standard, found_kept.mean_row
    model = readable()
    slope = model.coefficients * standard.scales
    rows = standard.apply(ENTITIES * [1, 1, 1, 0])[:, :-1]
    intercept = model.intercept + float(model.coefficients @ standard.means)
    scores = rows[:, :3] @ slope[:3] + own[3] * slope[3] + intercept
    assert labels_kept(found.results["ada"]) == np.where(scores > 0, "1", "-1").tolist()


def test_the_coordinator_says_who_adds_which_feature_and_none_twice() -> None:
    terms, ended = a_training_of_columns("open", {"penalty": 0.1})
    kept: Any = ended.results["coordinator"]["holdings"]
    assert {name: has.tolist() for name, has in kept.items()} == {
        name: read_trained(ended.results[name]).has.tolist() for name in NAMES
    }
    found = asked(terms, ended, "ben", "cy", "dee")
    kinds = [said.kind for said in found.transcript if said.sender == "coordinator"]
    assert kinds.count("claims") == 4


@pytest.mark.parametrize(
    "given",
    [
        {"contributors": ("eve",)},
        {"contributors": ("dee", "ben")},
        {"contributors": ("ada", "ben")},
        {"contributors": ("ben",), "offset": "mean"},
        {"mode": "hidden", "offset": "mean"},
        {"mode": "hidden", "contributors": ("ben",), "offset": "median"},
        {"kind": "evaluate", "contributors": ("ben",)},
    ],
    ids=str,
)
def test_contributors_that_make_no_query_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        made_terms(
            **{
                "kind": "classify",
                "text": None,
                "recipe": {"penalty": 0.1},
                "training": bytes(16),
                "asker": "ada",
                "rows": 1,
                **given,
            }
        )


def test_the_leakage_says_who_sees_the_scores() -> None:
    terms = made_terms(
        "classify", text=None, training=bytes(16), asker="ada", rows=2, contributors=("ben", "cy")
    )
    assert "| ben | that ada asks for 2 rows; which features" in run_leakage(terms).table()
    hidden = replace(terms, mode="hidden")
    assert "score, the sum" not in run_leakage(hidden).table()
