"""Holders of text at `train`: the forms they come in, and labels that keep their type."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.chance import drawn_once
from support.hidden_systems import BITS, small_keys_allowed, two_keys
from support.text_runs import NAMES, WORDS, made_texts
from support.trainings import small_peers

from sottovoce.errors import InputError, ParameterError, TooFewPartiesError
from sottovoce.learn import FederatedTextClassifier, TrainedClassifier, train
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.evaluate import ConfusionCounts, JointEvaluation

HASHED: dict[str, Any] = {"dictionary": "hashed", "width": 30, "penalty": 0.1}
PAIRS = {name: made_texts(40, at) for at, name in enumerate(NAMES)}
ASKED, TRUTH = made_texts(60, 70)


@drawn_once
def trained_on_pairs() -> TrainedClassifier:
    found: TrainedClassifier = train(PAIRS, **HASHED)
    return found


@drawn_once
def fitted_to_pairs() -> FederatedTextClassifier:
    return FederatedTextClassifier(dictionary="hashed", width=30, penalty=0.1).fit(PAIRS)


def columns(texts: list[str], labels: Any) -> dict[str, Any]:  # noqa: ANN401 - any labels
    return {"body": texts, "kind": labels, "id": range(len(texts))}


def rows(texts: list[str], labels: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any labels
    return [{"body": text, "kind": label} for text, label in zip(texts, labels, strict=True)]


Form = Callable[[list[str], Any], Any]
FORMS: dict[str, Form] = {
    "pandas": lambda texts, labels: pd.DataFrame(columns(texts, labels)),
    "polars": lambda texts, labels: pl.DataFrame(columns(texts, labels)),
    "arrow": lambda texts, labels: pa.table({"body": texts, "kind": labels}),
    "dictionaries": rows,
    "a generator": lambda texts, labels: iter(rows(texts, labels)),
    "two lists": lambda texts, labels: (texts, labels),
    "two columns": lambda texts, labels: (pd.Series(texts), pd.Series(labels)),
    "documents": Documents.from_texts,
}


def categorical(form: Form) -> Form:
    return lambda texts, labels: form(texts, pd.Categorical(labels))


CATEGORIES = {
    "categorical pandas": categorical(FORMS["pandas"]),
    "categorical pair": categorical(FORMS["two lists"]),
    "categorical arrow": categorical(lambda *pair: pa.table(pd.DataFrame(columns(*pair)))),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_holder_trains_the_same_classifier(form: str) -> None:
    holders = {name: FORMS[form](*pair) for name, pair in PAIRS.items()}
    trained = train(holders, text="body", label="kind", **HASHED)
    plain = fitted_to_pairs()
    assert trained.classes_.tolist() == ["ham", "spam"]
    np.testing.assert_array_equal(trained.predict(ASKED), plain.predict(ASKED))
    assert np.mean(trained.predict(ASKED) == np.array(TRUTH)) > 0.6


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_files_are_read_with_columns_of_any_name(tmp_path: Path, suffix: str) -> None:
    holders = {}
    for name, pair in PAIRS.items():
        path = holders[name] = tmp_path / f"{name}.{suffix}"
        frame = pd.DataFrame(columns(*pair))
        if suffix == "csv":
            frame.to_csv(path, index=False)
        elif suffix == "parquet":
            frame.to_parquet(path)
        else:
            path.write_text("\n".join(map(json.dumps, rows(*pair))), encoding="utf-8")
    trained = train(holders, text="body", label="kind", **HASHED)
    plain = trained_on_pairs()
    np.testing.assert_array_equal(trained.coef_, plain.coef_)
    texts_only = train({name: str(path) for name, path in holders.items()}, text="body",
                       label="kind", **HASHED)  # fmt: skip
    np.testing.assert_array_equal(texts_only.coef_, plain.coef_)


LABELS: dict[str, tuple[Any, Any]] = {
    "int": (3, 12),
    "bool": (False, True),
    "float": (0.0, 1.0),
    "str": ("no", "yes"),
    "int8": (np.int8(-1), np.int8(1)),
    "numpy bool": (np.bool_(False), np.bool_(True)),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("form", ["pandas", "two lists", *CATEGORIES])
def test_labels_of_texts_come_back_in_their_type(kind: str, form: str) -> None:
    ham, spam = LABELS[kind]
    typed = {
        name: (texts, np.array([spam if label == "spam" else ham for label in labels]))
        for name, (texts, labels) in PAIRS.items()
    }
    wanted = np.array([ham, spam]).dtype
    made = {**FORMS, **CATEGORIES}[form]
    holders = {name: made(*pair) for name, pair in typed.items()}
    trained = train(holders, text="body", label="kind", **HASHED)
    named = trained_on_pairs().predict(ASKED) == "spam"
    classifier = FederatedTextClassifier(dictionary="hashed", width=30, penalty=0.1).fit(typed)
    for found, classes in (
        (trained.predict(ASKED), trained.classes_),
        (classifier.predict(ASKED), classifier.classes_),
    ):
        assert found.dtype.kind == wanted.kind
        if wanted.kind != "U":
            assert found.dtype == classes.dtype == wanted
        assert set(classes.tolist()) == {ham, spam}
        np.testing.assert_array_equal(found == spam, named)
    truth = [spam if label == "spam" else ham for label in TRUTH]
    assert classifier.score(ASKED, truth) == np.mean(classifier.predict(ASKED) == np.array(truth))


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_rows_come_back_in_their_type(kind: str) -> None:
    first, second = LABELS[kind]
    peers = small_peers()
    plain = train(peers, penalty=0.1)
    typed = [(x, np.array([second if sign > 0 else first for sign in y])) for x, y in peers]
    listed = [(x, pd.Series(y)) for x, y in typed]
    for given in (typed, listed):
        trained = train(given, penalty=0.1)
        found = trained.predict(peers[0][0])
        assert found.dtype == typed[0][1].dtype
        np.testing.assert_array_equal(trained.coef_, plain.coef_)
        np.testing.assert_array_equal(found == second, plain.predict(peers[0][0]) > 0)


def test_a_result_prints_counts_and_nothing_that_anybody_holds() -> None:
    trained = train({f"{name} smith": pair for name, pair in PAIRS.items()}, words=WORDS)
    assert repr(trained) == (
        f"TrainedClassifier(mode='open', peers=4, features=60, kept={len(trained.kept_features_)}, "
        f"rounds={trained.rounds}, bytes={trained.bytes})"
    )
    shown = str(trained) + trained._repr_html_()
    # Two of the made-up words are English, and stand in the sentences of the table.
    made_up = set(WORDS) - {"was", "way"}
    assert len(made_up) == len(WORDS) - 2
    assert not any(word in shown for word in ("smith", "spam", *made_up))


def test_texts_are_evaluated_on_what_was_held_out_or_is_given() -> None:
    trained = train(PAIRS, held_out=0.25, **HASHED)
    found = trained.evaluate()
    assert isinstance(found, JointEvaluation)
    assert found.count == 40
    with pytest.raises(ParameterError, match="pass no rows"):
        trained.evaluate(PAIRS)
    whole = trained_on_pairs()
    held = {name: made_texts(10, 60 + at) for at, name in enumerate(NAMES)}
    wrong = [np.mean(whole.predict(texts) != np.array(truth)) for texts, truth in held.values()]
    assert whole.evaluate(held).misclassification == pytest.approx(np.mean(wrong))
    with pytest.raises(TooFewPartiesError):
        whole.evaluate({"ada": held["ada"]})


def test_a_hidden_evaluation_of_rows_counts_every_row() -> None:
    peers = dict(zip(NAMES, small_peers(width=3), strict=True))
    recipe: dict[str, Any] = {"key_bits": BITS, "fraction_bits": 16, "penalty": 0.1}
    held = {name: (x[: 1 + at], y[: 1 + at]) for at, (name, (x, y)) in enumerate(peers.items())}
    with small_keys_allowed():
        hidden = train(
            peers, mode="hidden", keys=two_keys(), queries=20, queries_together=80, **recipe
        )
        found = hidden.evaluate(held)
    assert isinstance(found, ConfusionCounts)
    assert found == train(peers, penalty=0.1).evaluate(held)
    assert found.count == 1 + 2 + 3 + 4


def test_agreed_words_are_the_default_and_frames_can_be_asked_about() -> None:
    holders = {name: pd.DataFrame(columns(*pair)) for name, pair in PAIRS.items()}
    trained = train(holders, text="body", label="kind", width=80, buckets=4096, penalty=0.1)
    assert trained.terms.text is not None
    assert trained.terms.text.dictionary == "agreed"
    assert all(name.startswith("#") for name in trained.features_)
    frame = pl.DataFrame({"body": ASKED})
    np.testing.assert_array_equal(trained.predict(frame), trained.predict(ASKED))
    assert "which label names each peer has" in trained.leakage.table()
    named = train(holders, text="body", label="kind", labels=["spam", "ham"], **HASHED)
    assert "label names" not in named.leakage.table()


PRIVATE = "a sentence that is nobody's business"


@pytest.mark.parametrize(
    ("given", "options", "error", "text"),
    [
        ([{"body": PRIVATE, "kind": 1}, {"body": 3, "kind": 1}], {}, InputError, "one kind"),
        ([], {}, InputError, "at least 1"),
        (3, {}, InputError, "a holder must be"),
        (pd.DataFrame(columns([PRIVATE] * 2, [0.5, 1.0])), {}, InputError, "whole"),
        (rows([PRIVATE] * 2, ["a", "b"]), {"features": ["x"]}, ParameterError, "words="),
        (rows([PRIVATE] * 2, ["a", "b"]), {"colour": 1}, ParameterError, "options must be among"),
    ],
    ids=str,
)
def test_what_is_no_holder_is_refused_without_its_text(
    given: Any,  # noqa: ANN401 - a user's mistake
    options: dict[str, Any],
    error: type[Exception],
    text: str,
) -> None:
    holders = {"ada": given, **{name: rows(*PAIRS[name]) for name in NAMES[1:]}}
    with pytest.raises(error, match=text) as refused:
        train(holders, text="body", label="kind", **options)
    assert PRIVATE not in str(refused.value)


def test_sentences_stay_with_their_documents() -> None:
    """A word of five sentences of one document is that document's alone."""
    given = {
        name: Documents.from_texts([*texts, *["rarity"] * 6], [*labels, *["ham"] * 6],
                           [*range(40), *[40] * 6])
        for name, (texts, labels) in PAIRS.items()
    }  # fmt: skip
    options: dict[str, Any] = {"words": [*WORDS, "rarity"], "penalty": 0.1}
    assert "rarity" not in train(given, **options).kept_features_
    apart = {name: Documents.from_texts(each.texts, each.labels) for name, each in given.items()}
    assert "rarity" in train(apart, **options).kept_features_


def test_a_label_that_no_holder_has_is_there_if_it_is_named() -> None:
    numbers = {name: (texts, [len(label) for label in labels]) for name, (texts, labels) in
               PAIRS.items()}  # fmt: skip
    trained = train(numbers, labels=[3, 4, 7], **HASHED)
    assert trained.classes_.tolist() == [3, 4, 7]


def test_one_holder_alone_is_no_list_of_holders() -> None:
    frame = pd.DataFrame(columns(*PAIRS["ada"]))
    with pytest.raises(InputError, match="several holders, by name or in a list, got one DataFra"):
        train(frame, text="body", label="kind")


def test_a_single_text_is_no_list_of_texts_to_classify() -> None:
    with pytest.raises(InputError, match="a list of texts"):
        trained_on_pairs().predict(ASKED[0])


def test_labels_of_rows_are_two_and_named_by_nobody() -> None:
    with pytest.raises(ParameterError, match="labels are for holders of texts"):
        train(small_peers(), labels=[-1, 1])


def test_an_offset_is_for_rows_of_which_one_peer_has_a_part() -> None:
    peers = small_peers()
    trained = train(peers, penalty=0.1)
    parts = {"peer0": peers[0][0], "peer1": peers[1][0]}
    with pytest.raises(ParameterError, match="2 peers' parts"):
        trained.predict(parts, peer="peer0", offset="mean")
