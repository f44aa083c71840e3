"""A whole training, from documents to what each party keeps."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.text_runs import (
    AGREED,
    GIVEN,
    HASHED,
    IDENTITIES,
    NAMES,
    PUBLIC,
    made_holdings,
    made_peers,
    made_terms,
    made_texts,
    trained,
)

from sottovoce.errors import (
    DamagedRecordError,
    DataError,
    DisagreementError,
    ParameterError,
    StalledError,
    TooFewPartiesError,
)
from sottovoce.learn import train
from sottovoce.learn.documents import Documents, Table
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.classify import call_labels, models
from sottovoce.learn.run.party import make_party, run_in_process
from sottovoce.learn.run.records import read_trained
from sottovoce.learn.run.terms import Holdings
from sottovoce.learn.sums.fixed import ALLOW_TWO
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.exchange import Exchange, Faults


def rows_of(result: Mapping[str, Value], peers: dict[str, Documents]) -> dict[str, Any]:
    features = read_trained(result).features
    assert features is not None
    return {name: (features.rows(each.texts), each.labels) for name, each in peers.items()}


@pytest.mark.parametrize(
    "text",
    [
        GIVEN,
        replace(GIVEN, values="counts"),
        HASHED,
        replace(HASHED, values="counts", signed=True, keyed=True),
        AGREED,
    ],
    ids=["given", "counted", "hashed", "signed and keyed", "agreed"],
)
def test_a_run_gives_the_classifier_of_the_same_rows_bit_for_bit(text: TextRecipe) -> None:
    peers = made_peers()
    ended = trained(made_terms(text=text), peers)
    alone = train(rows_of(ended.results["ada"], peers))
    for name in NAMES:
        (model,) = models(read_trained(ended.results[name]))
        np.testing.assert_array_equal(model.coefficients, alone.coef_[0])
        assert model.intercept == alone.intercept_[0]


def test_two_holders_and_a_coordinator_train_when_they_accept_what_that_shows() -> None:
    """Section 3.1: Alice, Bob and Cate."""
    peers = {name: each for name, each in made_peers().items() if name in {"ada", "ben"}}
    public = {name: PUBLIC[name] for name in peers}
    with pytest.raises(TooFewPartiesError, match="at least 3 parties, got 2"):
        made_terms(identities=public)
    terms = made_terms(identities=public, recipe={"allow_two": ALLOW_TWO, "penalty": 0.1})
    ended = trained(terms, peers)
    (model,) = models(read_trained(ended.results["ben"]))
    alone = train(rows_of(ended.results["ada"], peers), allow_two=ALLOW_TWO, penalty=0.1)
    np.testing.assert_array_equal(model.coefficients, alone.coef_[0])


def test_three_labels_are_trained_one_against_the_others() -> None:
    peers = made_peers(labels=3)
    ended = trained(made_terms(text=GIVEN), peers)
    result = read_trained(ended.results["ada"])
    assert result.labels == ("ham", "spam", "yam")
    rows = rows_of(ended.results["ada"], peers)
    for label, model in zip(result.labels, models(result), strict=True):
        signs = {name: (x, np.where(np.array(y) == label, 1, -1)) for name, (x, y) in rows.items()}
        np.testing.assert_array_equal(model.coefficients, train(signs).coef_[0])
    texts, labels = made_texts(200, 50, labels=3)
    assert np.mean(np.array(call_labels(result, Documents.from_texts(texts))) == labels) > 0.8


def test_a_peer_with_one_label_takes_part() -> None:
    peers = made_peers()
    texts, _ = made_texts(30, 9)
    peers["dee"] = Documents.from_texts(texts, ["ham"] * 30)
    ended = trained(made_terms(text=GIVEN), peers)
    assert read_trained(ended.results["dee"]).labels == ("ham", "spam")


def test_one_label_over_all_peers_is_refused_at_the_coordinator() -> None:
    peers = {
        name: Documents.from_texts(each.texts, ["ham"] * len(each))
        for name, each in made_peers().items()
    }
    with pytest.raises(DataError, match="from 2 to 16, got 1"):
        trained(made_terms(text=GIVEN), peers)


ADA, ME = made_peers()["ada"], IDENTITIES["ada"]
TWO_COLUMNS = {"features": ("one", "two")}
MANY_LABELS = Documents.from_texts(ADA.texts, [f"id{at}" for at in range(len(ADA))])
THREE_COLUMNS = Table.from_rows(np.ones((3, 3)), ["a", "b", "a"])


@pytest.mark.parametrize(
    ("given", "who", "brought", "words"),
    [
        ({"text": GIVEN}, "ada", Holdings(ME, MANY_LABELS), "at most 16 names .* got 40"),
        ({"labels": ("eggs", "spam")}, "ada", Holdings(ME, ADA), "the run's 2, got 1 others"),
        ({}, "ada", Holdings(ME), "ada must bring at least 1 document"),
        ({}, "ada", Holdings(ME, Documents.from_texts(["some words"])), "labelled document"),
        ({}, "ada", Holdings(examples=ADA), "its identity"),
        ({}, "ada", Holdings(Identity(), ADA), "that this run knows it by"),
        (TWO_COLUMNS, "ada", Holdings(ME, THREE_COLUMNS), "must have 2 columns, as named, got 3"),
        (TWO_COLUMNS, "ada", Holdings(ME, ADA), "ada must bring rows of numbers"),
        ({}, "eve", Holdings(), "no party called 'eve'"),
        ({"mode": "hidden", "recipe": {"penalty": 0.1}}, "coordinator", Holdings(), "Paillier key"),
    ],
)
def test_who_cannot_take_part_is_refused_by_name_and_without_its_labels(
    given: dict[str, Any], who: str, brought: Holdings, words: str
) -> None:
    with pytest.raises((DataError, ParameterError), match=words) as refusal:
        make_party(made_terms(**given), who, brought)
    assert "ham" not in str(refusal.value)


def test_no_peer_has_a_helpers_name() -> None:
    with pytest.raises(ParameterError, match="no peer may be called"):
        made_terms(identities={**PUBLIC, "intermediary": bytes(32)})


def test_given_labels_are_not_asked_for() -> None:
    ended = trained(made_terms(text=GIVEN, labels=("ham", "spam")), made_peers())
    assert "labels" not in {said.kind for said in ended.transcript}
    assert "label names" not in ended.leakage.table()


def test_another_dictionary_at_one_peer_is_found_before_anything_else_is_sent() -> None:
    """Same session, other words: somebody edited a file."""
    peers = made_peers()
    terms = made_terms(text=GIVEN)
    other = replace(terms, text=replace(GIVEN, words=GIVEN.words[:-1]))
    parties = [make_party(terms, "coordinator", Holdings())]
    for name in NAMES:
        known = other if name == "cy" else terms
        parties.append(make_party(known, name, Holdings(IDENTITIES[name], peers[name])))
    exchange = Exchange(parties)
    with pytest.raises(DisagreementError, match="cy and the coordinator must have the same terms"):
        exchange.run()
    assert {said.kind for said in exchange.transcript} == {"statement"}


def test_no_common_word_is_said_so() -> None:
    peers = {
        name: Documents.from_texts([f"{name}one {name}two"] * 6, ["a", "b"] * 3) for name in NAMES
    }
    with pytest.raises(DataError, match="nominated by at least 2 peers"):
        trained(made_terms(), peers)


def test_a_peer_that_falls_silent_in_the_dictionarys_sum_is_left_out() -> None:
    peers = made_peers()
    terms = made_terms()
    ended = run_in_process(terms, made_holdings(peers), faults=Faults(silent_from={"dee": 5}))
    rest = {name: each for name, each in peers.items() if name != "dee"}
    result = read_trained(ended.results["ada"])
    assert result.peers == ("ada", "ben", "cy")
    (model,) = models(result)
    alone = train(rows_of(ended.results["ada"], rest))
    np.testing.assert_array_equal(model.coefficients, alone.coef_[0])


def test_a_result_is_there_at_the_end_only_and_says_its_kind() -> None:
    party = make_party(made_terms(), "coordinator", Holdings())
    with pytest.raises(StalledError, match="has not finished"):
        party.result()
    assert "| coordinator |" in party.leakage.table()
    with pytest.raises(DamagedRecordError, match="of a run to train"):
        read_trained({"version": 1, "kind": "classify"})
