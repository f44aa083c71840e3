"""From a peer's files to rows: reading, sentences, features."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import CorpusError, DataError, InputError, ParameterError
from sottovoce.learn._examples import label_names
from sottovoce.learn.documents import Documents, Table, held_out, read_labelled, sentences
from sottovoce.learn.features import (
    PUBLIC_KEY,
    FeatureMap,
    Features,
    TextRecipe,
    nominate_buckets,
    word_buckets,
    word_signs,
)
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.support import kept_from_sums
from sottovoce.learn.training_terms import SentenceData

ROWS = [("free prize now", "spam"), ("see you later", "ham"), ("a note", None)]


def written(folder: Path, kind: str) -> Path:
    path = folder / f"mine.{kind}"
    if kind == "jsonl":
        lines = [json.dumps({"text": text, "label": label}) for text, label in ROWS]
        path.write_text("\n".join(lines), encoding="utf-8")
    elif kind == "parquet":
        columns = {"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]}
        pq.write_table(pa.table(columns), path)
    else:
        mark = {"csv": ",", "tsv": "\t"}[kind]
        lines = [f"{text}{mark}{label or ''}" for text, label in ROWS]
        path.write_text("\n".join([f"text{mark}label", *lines, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_labelled_texts_are_read_from_every_format(kind: str, tmp_path: Path) -> None:
    found = read_labelled(written(tmp_path, kind))
    assert found.texts == ("free prize now", "see you later")
    assert found.labels == ("spam", "ham")
    everything = read_labelled(written(tmp_path, kind), labelled=False)
    assert len(everything) == 3
    assert everything.labels is None


def test_a_file_without_labels_is_refused_with_how_to_name_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("text,kind\nsome words,spam\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"label in \[texts\] .* columns={'label': 'NAME'}"):
        read_labelled(path)
    mapped = ReadOptions(columns={"label": "kind"})
    assert read_labelled(path, options=mapped).labels == ("spam",)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_sentences_are_read_with_the_id_of_their_document(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine.{kind}"
    columns = {"text": ["a b", "c d", "e f"], "label": ["x", "y", "x"], "post": [7, 7, 3]}
    if kind == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        path.write_text("text,label,post\na b,x,7\nc d,y,7\ne f,x,3\n", encoding="utf-8")
    found = read_labelled(path, document="post")
    assert found.groups is not None
    assert found.groups.tolist() == [0, 0, 1]
    assert found.split() is found
    with pytest.raises(CorpusError, match="no column 'thread'"):
        read_labelled(path, document="thread")


def test_a_sentence_ends_with_its_mark_or_its_line() -> None:
    text = "One here. Two there! Three? Four…  five\nsix\r\n\n . "
    assert sentences(text) == ["One here.", "Two there!", "Three?", "Four…", "five", "six", "."]
    assert sentences("version 3.5 is out") == ["version 3.5 is out"]
    assert sentences(" \n ") == []


def test_split_documents_keep_label_and_number() -> None:
    split = Documents.from_texts(["One. Two.", "Three."], ["a", "b"]).split()
    assert split.texts == ("One.", "Two.", "Three.")
    assert split.labels == ("a", "a", "b")
    assert split.groups is not None
    assert split.groups.tolist() == [0, 0, 1]
    with pytest.raises(DataError, match="at least 1 sentence"):
        Documents.from_texts([" "], ["a"]).split()


def test_documents_are_never_printed() -> None:
    secret = Documents.from_texts(["my secret"], ["a"])
    assert "secret" not in repr(secret)
    assert "12.5" not in repr(Table.from_rows([[12.5]], ["a"]))
    assert "key" not in repr(Features(TextRecipe(), b"a key of words", np.arange(3)))


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [([1, -1], ("1", "-1")), ([1.0, 2.0], ("1", "2")), ([True, False], ("True", "False"))],
)
def test_labels_become_names(labels: list[Any], wanted: tuple[str, ...]) -> None:
    assert label_names(labels, 2) == wanted


@pytest.mark.parametrize(
    "labels", [[0.5, 1.0], ["a"], ["a", ""], [float("nan"), 1.0], [b"a", b"b"]]
)
def test_labels_that_are_no_names_are_refused(labels: list[Any]) -> None:
    with pytest.raises(InputError, match="labels"):
        label_names(labels, 2)


def test_documents_are_held_out_whole() -> None:
    documents = Documents.from_texts(["x"] * 20, groups=np.repeat(np.arange(10), 2))
    kept = held_out(documents, 0.5, bytes(16))
    assert kept.sum() == 10
    assert (kept.reshape(10, 2)[:, 0] == kept.reshape(10, 2)[:, 1]).all()
    assert not held_out(documents, 0.0, bytes(16)).any()


def test_given_words_are_counted_in_their_order() -> None:
    recipe = TextRecipe(dictionary="given", words=("prize", "free"), values="counts")
    rows = Features(recipe).rows(("Free free PRIZE", "nothing here"))
    assert rows.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    binary = Features(replace(recipe, values="binary")).rows(("Free free PRIZE",))
    assert binary.tolist() == [[1.0, 1.0]]


def test_hashed_words_fall_where_their_hash_says() -> None:
    recipe = TextRecipe(dictionary="hashed", width=16, values="counts", signed=True)
    (row,) = Features(recipe).rows(("apple apple pear",))
    wanted = np.zeros(16)
    for word in ("apple", "apple", "pear"):
        wanted[word_buckets([word], PUBLIC_KEY, 16)[0]] += word_signs([word], PUBLIC_KEY)[0]
    assert row.tolist() == wanted.tolist()
    keyed = Features(replace(recipe, keyed=True), b"k" * 32).rows(("apple apple pear",))
    assert keyed.tolist() != [wanted.tolist()]


def test_agreed_buckets_are_found_again_for_words_that_a_peer_never_had() -> None:
    recipe, key = TextRecipe(buckets=1 << 20, width=10), b"k" * 32
    chosen = np.sort(word_buckets(["apple", "pear"], key, recipe.buckets))
    features = Features(recipe, key, chosen)
    assert features.rows(("a pear and an apple", "plums", "")).sum(axis=1).tolist() == [2, 0, 0]
    assert features.names == tuple(f"#{bucket}" for bucket in chosen)


def test_a_map_takes_words_to_its_columns() -> None:
    mapping = FeatureMap(np.array([[0, 1], [1, 0], [1, 1]]), np.array([2.0, 1.0, -1.0]), 2)
    recipe = TextRecipe(dictionary="mapped", words=("aa", "bb"), mapping=mapping, values="counts")
    assert Features(recipe).rows(("aa bb bb",)).tolist() == [[2.0, 0.0]]
    binary = Features(replace(recipe, values="binary"))
    assert binary.rows(("aa bb bb",)).tolist() == [[1.0, 1.0]]
    assert binary.names == ("#0", "#1")


def test_a_peer_nominates_its_most_used_words_and_no_counts() -> None:
    recipe = TextRecipe(buckets=1 << 16, candidates=2, width=10)
    texts = ("aa bb", "aa bb cc", "aa cc", "aa")
    marks = nominate_buckets(texts, recipe, b"k")
    wanted = word_buckets(["aa", "bb"], b"k", 1 << 16)
    assert np.flatnonzero(marks).tolist() == sorted(wanted.tolist())
    assert set(marks.tolist()) == {0.0, 1.0}
    longer = tuple(" ".join([text] * 9) for text in texts) * 10
    assert nominate_buckets(longer, recipe, b"k").tolist() == marks.tolist()
    with pytest.raises(DataError, match="word that 2 of its texts use"):
        nominate_buckets(("aa", "bb"), recipe, b"k")


def test_five_sentences_of_one_document_do_not_make_a_word_common() -> None:
    """A word of one document is that document, in however many sentences it stands."""
    rows = np.zeros((40, 2))
    rows[:5, 0] = 1  # five sentences of document 0
    rows[::4, 1] = 1  # a sentence of each document
    documents = np.repeat(np.arange(10), 4)
    documents[4] = 0
    data = SentenceData(rows, np.ones(40), np.ones(2, bool), Identity(), documents)
    total = 2 * data.support()
    assert kept_from_sums(total).kept.tolist() == [False, True]
    by_rows = SentenceData(rows, np.ones(40), np.ones(2, bool), Identity(), np.arange(40))
    assert kept_from_sums(2 * by_rows.support()).kept.tolist() == [True, True]


def test_a_word_that_all_but_one_sentence_have_is_not_opened() -> None:
    rows = np.ones((40, 2))
    rows[7, 0] = 0
    rows[::2, 1] = 0
    documents = np.repeat(np.arange(10), 4)
    data = SentenceData(rows, np.ones(40), np.ones(2, bool), Identity(), documents)
    assert kept_from_sums(3 * data.support()).kept.tolist() == [False, True]


@pytest.mark.parametrize(
    "given",
    [
        {"dictionary": "other"},
        {"values": "tfidf"},
        {"unit": "word"},
        {"declared": "none"},
        {"width": 0},
        {"buckets": 10},
        {"candidates": 0},
        {"candidate_documents": 0},
        {"padded": True, "buckets": 4096},
        {"dictionary": "given"},
        {"words": ("a",)},
        {"dictionary": "given", "words": ("Upper",)},
        {"dictionary": "given", "words": ("running",), "stem": "english"},
        {"signed": True},
        {"keyed": True},
        {"dictionary": "mapped", "words": ("aa",)},
        {"mapping": FeatureMap(np.zeros((1, 2), int), np.ones(1), 1)},
        {"stem": "klingon"},
    ],
    ids=str,
)
def test_recipes_that_contradict_themselves_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        TextRecipe(**given)


@pytest.mark.parametrize(
    ("entries", "weights", "width"),
    [
        ([[0, 2]], [1.0], 2),
        ([[0, 0]], [float("inf")], 1),
        ([[0, 0]], [1.0, 2.0], 1),
        ([[-1, 0]], [1.0], 1),
        ([0, 0], [1.0], 1),
    ],
)
def test_maps_that_are_no_matrices_are_refused(
    entries: list[Any], weights: list[float], width: int
) -> None:
    with pytest.raises(ParameterError, match="feature map"):
        FeatureMap(np.array(entries), np.array(weights), width)


def test_a_map_of_other_words_is_refused() -> None:
    mapping = FeatureMap(np.array([[5, 0]]), np.ones(1), 1)
    with pytest.raises(ParameterError, match="words must be 0 to 0, got 5"):
        TextRecipe(dictionary="mapped", words=("aa",), mapping=mapping)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="documents must be texts"):
        Documents.from_texts([1, 2])  # type: ignore[list-item] # a user's mistake
    with pytest.raises(DataError, match="at least 1 document, got none"):
        Documents.from_texts([])
    with pytest.raises(InputError, match="document ids must be one per row"):
        Documents.from_texts(["a"], ["b"], [1, 2])
