"""The blind intermediary as a run: figure 2 of the paper."""

from typing import Any

import numpy as np
import pytest
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import (
    NAMES,
    WORDS,
    made_holdings,
    made_peers,
    made_terms,
    made_texts,
    watched,
)

from sottovoce.errors import DataError, ParameterError
from sottovoce.learn.documents import Documents, Table
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.rados.intermediary import RadoIntermediary
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.party import make_party, run_in_process
from sottovoce.learn.run.records import read_trained
from sottovoce.learn.run.terms import INTERMEDIARY, Holdings

RECIPE: dict[str, Any] = {"penalty": 0.1, "key_bits": BITS, "rados": 300}
TEXT = TextRecipe(dictionary="given", words=WORDS[:20])


def test_rados_by_an_intermediary_end_in_a_classifier_at_every_peer() -> None:
    with small_keys_allowed():
        terms = made_terms("rados", recipe=RECIPE, text=TEXT)
        ended = run_in_process(terms, made_holdings(made_peers()))
    texts, labels = made_texts(200, 60)
    for name in NAMES:
        found = call_labels(read_trained(ended.results[name]), Documents.from_texts(texts))
        assert np.mean(np.array(found) == labels) > 0.8
    assert ended.results["key holder"]["rados"].shape == (1200, 21)  # type: ignore[union-attr] # an array
    assert "rados" not in ended.results[INTERMEDIARY]


def test_the_key_holders_rados_are_sums_of_the_peers_signed_rows() -> None:
    """Means of many rados come near half the sum of y x, the intercept's column included."""
    rows = np.random.default_rng(0).integers(0, 2, (30, 3)).astype(float)
    labels = np.where(rows[:, 0] > 0, "b", "a")
    peers = {name: Table.from_rows(rows, labels) for name in NAMES}
    terms = made_terms("rados", features=("x", "y", "z"), recipe={**RECIPE, "rados": 600})
    with small_keys_allowed():
        ended = run_in_process(terms, made_holdings(peers))
    rados = np.asarray(ended.results["key holder"]["rados"]).reshape(4, 600, 4)
    whole = np.hstack([rows, np.ones((30, 1))])
    wanted = np.where(labels == "b", 1, -1) @ whole / 2
    spread = np.sqrt((whole**2).sum(axis=0) / 4 / 600)
    assert (np.abs(rados.mean(axis=1) - wanted) < 5 * spread).all()


def test_the_intermediary_sees_ciphertexts_only() -> None:
    with small_keys_allowed():
        terms = made_terms("rados", recipe={**RECIPE, "rados": 5})
        exchange = watched(terms, made_holdings(made_peers()))
    kinds = {message.kind for message in exchange.views[INTERMEDIARY]}
    assert kinds == {"statements", "dictionary", "classes", "shape", "size", "key", "examples"}
    for message in exchange.views[INTERMEDIARY]:
        if message.kind == "examples":
            assert set(message.payload) == {"rows", "labelled"}
    assert EncryptedArray in RadoIntermediary._array.__annotations__.values()


def test_more_than_two_labels_are_refused() -> None:
    with small_keys_allowed(), pytest.raises(DataError, match="for two labels, got 3"):
        run_in_process(made_terms("rados", recipe=RECIPE), made_holdings(made_peers(labels=3)))


def test_a_penalty_must_be_agreed_on() -> None:
    with pytest.raises(ParameterError, match="needs a penalty"):
        make_party(made_terms("rados"), INTERMEDIARY, Holdings())
