"""Results that were kept: read again as they were, or refused by name."""

from collections.abc import Mapping

import numpy as np
import pytest
from support.text_runs import AGREED, made_peers, made_terms, made_texts, trained

from sottovoce.errors import DamagedRecordError, ParameterError
from sottovoce.learn.documents import Documents
from sottovoce.learn.query_budget import QueryBudget
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.records import (
    read_hidden,
    read_model,
    read_trained,
)
from sottovoce.learn.wire.codec import Value, decode_value, encode_value, from_value, to_value


@pytest.fixture(scope="module")
def result() -> Mapping[str, Value]:
    terms = made_terms(text=AGREED, recipe={"penalty": 0.1})
    return trained(terms, made_peers()).results["ben"]


def test_a_result_survives_a_disk(result: Mapping[str, Value]) -> None:
    again = decode_value(encode_value(result))
    assert isinstance(again, Mapping)
    texts = Documents.from_texts(made_texts(20, 90)[0])
    assert call_labels(read_trained(again), texts) == call_labels(read_trained(result), texts)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", 1),
        ("kind", "classify"),
        ("mode", "ajar"),
        ("mode", 3),
        ("session", "text"),
        ("names", (1, 2)),
        ("labels", "ham"),
        ("peers", ("ada", 1)),
        ("features", ("no recipe",)),
        ("features", {"recipe": None, "key": 7, "chosen": None}),
        ("has", np.arange(3)),
        ("held_out", np.zeros(2)),
        ("more", 1),
        ("classifiers", ("one",)),
    ],
)
def test_a_damaged_result_is_refused(result: Mapping[str, Value], name: str, value: Value) -> None:
    with pytest.raises(DamagedRecordError):
        read_trained({**result, name: value})


def test_rados_that_an_intermediary_made_are_no_classifier(result: Mapping[str, Value]) -> None:
    with pytest.raises(ParameterError, match="the key holder alone has its rados"):
        read_trained({**result, "kind": "rados"})


def test_a_classifier_of_another_width_is_refused(result: Mapping[str, Value]) -> None:
    (kept,) = read_trained(result).classifiers
    with pytest.raises(DamagedRecordError, match="must have 3 numbers"):
        read_model(kept, 3)
    with pytest.raises(DamagedRecordError):
        read_hidden(kept)


def test_a_budget_is_put_down_and_taken_up() -> None:
    budget = QueryBudget({"ada": 5, "ben": 5}, 8)
    budget.spend("ada", 4)
    again = from_value(to_value(budget), QueryBudget)
    assert (again.rows_left("ada"), again.rows_left("ben"), again.rows_left("eve")) == (1, 4, 0)
    for left in (1, {"ada": -1}, {"ada": "x"}):
        with pytest.raises(DamagedRecordError):
            from_value({"left": left, "together": 3}, QueryBudget)
