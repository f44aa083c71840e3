"""What is kept and sent of a run: results, terms, and digests of a peer's documents."""

import hashlib
from collections.abc import Mapping

import numpy as np
import pytest
from support.text_runs import AGREED, made_peers, made_terms, made_texts, trained

from sottovoce.errors import DamagedRecordError, ParameterError
from sottovoce.learn.documents import Documents, Table, data_digest, document_digests
from sottovoce.learn.features import FeatureMap, TextRecipe
from sottovoce.learn.query_budget import QueryBudget
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.records import read_hidden, read_model, read_trained
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import ALLOW_RARE, Recipe
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


SECRET, OTHER = b"a secret of the peer's own ......", b"a secret of somebody else's ......"
PILLS = Documents.from_texts(
    ["cheap pills", "lunch at noon", "cheap pills"], ["spam", "ham", "spam"]
)


@pytest.mark.parametrize(
    "other",
    [
        Documents.from_texts(["cheap pills", "lunch at noon"], ["spam", "ham"]),
        Documents.from_texts(
            ["cheap pills", "lunch at noon", "cheap pills"], ["spam", "ham", "ham"]
        ),
        Documents.from_texts(
            ["cheap pills", "lunch at one", "cheap pills"], ["spam", "ham", "spam"]
        ),
        Documents.from_texts(["cheap pills", "lunch at noon", "cheap pills"], None),
    ],
    ids=["a copy less", "another label", "another word", "no labels"],
)
def test_every_change_changes_the_digest(other: Documents) -> None:
    assert data_digest(other, SECRET) != data_digest(PILLS, SECRET)


def test_without_the_secret_a_digest_says_nothing_about_a_document() -> None:
    assert not set(document_digests(PILLS, SECRET)) & set(document_digests(PILLS, OTHER))
    with pytest.raises(ParameterError, match="at least 16 bytes, got 0"):
        data_digest(PILLS, b"")


def test_sentences_of_one_document_are_one_digest() -> None:
    parts = Documents.from_texts(["one", "two", "three"], ["a", "a", "b"], ["x", "x", "y"])
    assert len(document_digests(parts, SECRET)) == 2
    regrouped = Documents.from_texts(["one", "two", "three"], ["a", "a", "b"], ["x", "y", "y"])
    assert data_digest(parts, SECRET) != data_digest(regrouped, SECRET)


def test_rows_are_known_by_the_names_of_their_columns() -> None:
    table = Table.from_rows([[1.0, 2.0], [0.0, 4.0]], ["a", "b"], ["x", "y"])
    turned = Table.from_rows([[2.0, 1.0], [4.0, -0.0]], ["a", "b"], ["y", "x"])
    assert data_digest(turned, SECRET) == data_digest(table, SECRET)
    renamed = Table.from_rows([[1.0, 2.0], [0.0, 4.0]], ["a", "b"], ["x", "z"])
    assert data_digest(renamed, SECRET) != data_digest(table, SECRET)
    assert len(document_digests(Table(np.ones((2, 1))), SECRET)) == 2


PEERS = {"ada": bytes(32), "ben": bytes(range(32)), "cy": b"\x07" * 32}
MAP = FeatureMap(np.array([[0, 1], [1, 0]]), np.array([0.5, -2.0]), 3)
FULL_RECIPE = Recipe(
    statistics="rados", penalty=0.25, penalties=(0.5, 2.0),
    fraction_bits=20, moment_bits=21, rados=77, fewest_documents=2, fewest_peers=1,
    allow_rare=ALLOW_RARE, allow_two="each learns the other's summand", key_bits=2048,
    solver="chebyshev", queries=4, queries_together=9,
)  # fmt: skip
FULL_TEXT = TextRecipe(
    dictionary="mapped", words=("aa", "bb"), values="counts", width=9, buckets=1 << 12,
    candidates=33, padded=True, candidate_documents=4, unit="sentence", declared="used",
    shortest=1, bigrams=True, stop_words=("the", "é"), mapping=MAP,
)  # fmt: skip
HASHED = TextRecipe(
    dictionary="hashed", values="counts", signed=True, keyed=True, stem="english", shortest=3
)
TRAIN = RunTerms(bytes(16), "train", "open", PEERS, Recipe(), TextRecipe())
FULL = RunTerms(
    bytes(range(16)), "train", "hidden", PEERS, FULL_RECIPE, FULL_TEXT, labels=("no", "yes"),
    most_classes=8, held_out=0.25,
)  # fmt: skip
QUERY = RunTerms(
    bytes(16), "classify", "hidden", PEERS, Recipe(), HASHED, features=("x", "y"),
    training=b"\x01" * 16, asker="ada", rows=3, contributors=("ben", "cy"), offset="mean",
)  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "digest"),
    [
        (TRAIN, "97bfe65cd8fe8ac3a62e785fc301342d48ce04dfe2693c61590de763ef9684a4"),
        (FULL, "1a19c38bd585d66e893565bd16b145030ad1904884749094ba57771ac1acee97"),
        (QUERY, "36c8f38764fbb53e214807d82300c1fd7257eca48e82d8342b411b7c66591d99"),
    ],
    ids=["defaults", "every field set", "a query"],
)
def test_terms_have_the_bytes_that_they_always_had(terms: RunTerms, digest: str) -> None:
    """Parties of two releases would otherwise refuse each other under one version number."""
    assert hashlib.sha256(terms.to_bytes()).hexdigest() == digest
    assert RunTerms.from_bytes(terms.to_bytes()).to_bytes() == terms.to_bytes()
