"""What cannot be read of a release is said in clear words, from Python and from the command."""

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.cli._app import app
from sottovoce.errors import CorpusError, InputError, ParameterError
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import SignalMeter, released_moments
from sottovoce.release.analysis.summary import NO_PAIRS, PairTotals, pair_totals
from sottovoce.release.analysis.totals import column_names, telling_words
from sottovoce.release.counts import Counts
from sottovoce.release.release import Release
from sottovoce.release.topics.estimator import PrivateTopics
from sottovoce.report.analysis import analysis_report

WORDS = ["bank", "boat", "debt", "loan", "sea"]
NOTES = [("debt and a loan at the bank", "money"), ("a boat on the sea", "trip")] * 20


def _made(folder: Path, **more: Any) -> Release:  # noqa: ANN401 - options of a release
    # Each release has documents of its own: ledgers of one machine know one another.
    notes = [(f"{text} {folder.name}", label) for text, label in NOTES]
    sv.release_counts(
        notes, words=WORDS, labels="label", epsilon=6, precision=2, ledger=folder / "ledger",
        out=folder / "released", **more,
    )  # fmt: skip
    return sv.load_release(folder / "released")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return _made(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def compressed(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return _made(tmp_path_factory.mktemp("compressed"), compress="random", columns=3)


PROMISE = {"epsilon": "2", "epsilon_rounded_up": 2.0, "nats_per_word": "1"}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({"noise_law": "laplace"}, "does not know, so that the law of its noise is not known"),
        ({"version": 2}, "must be of format sottovoce-release, version 1"),
        ({"noise_rate": "1", **dict.fromkeys(("guarantee", "stated"), PROMISE)}, "contradicts"),
    ],
)
def test_a_card_of_an_unknown_law_or_edited_is_refused(
    edit: dict[str, Any], told: str, plain: Release, tmp_path: Path
) -> None:
    assert plain.folder is not None
    folder = tmp_path / "edited"
    shutil.copytree(plain.folder, folder)
    card = json.loads((folder / "card.json").read_text())
    for name, value in edit.items():
        card[name] = {**card[name], **value} if isinstance(value, dict) else value
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(InputError, match=told):
        sv.load_release(folder)
    done = CliRunner().invoke(app, ["analyse", str(folder)])
    assert done.exit_code != 0
    assert told in str(done.exception)


def test_labels_of_another_length_are_refused_wherever_they_are_given(plain: Release) -> None:
    for ask in (
        lambda: plain.classifier(["a", "b"]),
        lambda: plain.words(by_label=["a", "b"]),
        lambda: plain.telling_words(["a", "b"]),
        lambda: plain.summary(labels=["a", "b"]),
    ):
        with pytest.raises(ParameterError, match="one for each of the 40 documents, got 2"):
            ask()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_labels_are_no_class_of_their_own(missing: object, plain: Release) -> None:
    values = ["a", "b"] * 19 + ["a", missing]
    labels = pd.array(values, dtype="string") if missing is pd.NA else np.array(values, object)
    with pytest.raises(ParameterError, match="got 1 that are missing"):
        plain.classifier(labels)


def test_labels_that_are_numbers_stay_numbers(plain: Release) -> None:
    classifier = plain.classifier([0, 1] * 20)
    assert classifier.predict(plain.count_texts(["a debt and a loan"])).tolist() == [0]


def test_a_compressed_release_says_that_it_has_no_words(compressed: Release) -> None:
    for ask in (compressed.words, lambda: compressed.topics(2)):
        with warnings.catch_warnings(), pytest.raises(ParameterError, match="cannot be told apart"):
            warnings.simplefilter("error")  # that topics are too many is not the point
            ask()
    done = CliRunner().invoke(app, ["analyse", str(compressed.folder), "--topics", "3"])
    assert "topics need words" in str(done.exception)
    assert "warning" not in done.stderr


def test_more_topics_than_the_meter_supports_are_warned_of_with_the_number(plain: Release) -> None:
    seen = plain.meter().dimensions
    with pytest.warns(
        UserWarning, match=f"5 topics were asked for, but the noise of this release leaves {seen}:"
    ):
        plain.topics(5)


@pytest.mark.parametrize("dimensions", [0, 1])
def test_no_topics_are_shown_where_nothing_stands_above_the_noise(
    dimensions: int, plain: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SignalMeter, "dimensions", dimensions)
    done = CliRunner().invoke(app, ["analyse", str(plain.folder), "--topics", "2"])
    assert done.exit_code == 0, done.output
    assert "No topics are shown" in done.stdout
    assert "held-out documents chose" not in done.stdout
    assert "That shows no topics" in done.stdout


def test_texts_are_no_counts_and_are_not_repeated_in_the_error(plain: Release) -> None:
    classifier = plain.classifier()
    for texts in (["a secret debt"], np.array(["a secret debt"], object)):
        with pytest.raises(CorpusError, match="released.count_texts") as refused:
            classifier.predict(texts)
        assert "secret" not in str(refused.value)


def test_texts_are_counted_by_the_words_of_the_release(plain: Release, compressed: Release) -> None:
    texts = ["a debt, and a debt of a loan", "the sea and the boat"]
    counts = plain.count_texts(texts)
    assert counts.toarray().tolist() == [[0, 0, 2, 1, 0], [0, 1, 0, 0, 1]]
    assert plain.classifier().predict(counts).tolist() == ["money", "trip"]
    columns = compressed.count_texts(texts)
    assert np.array_equal(columns.toarray(), compressed.map.compress(counts).toarray())
    with pytest.raises(ParameterError, match="put it into a list"):
        plain.count_texts("a debt")


def test_topics_are_named_by_the_words_of_the_release(plain: Release) -> None:
    topics = PrivateTopics(2)
    topics.components_ = np.array([[0.1, 0.4, 0.2, 0.3, 0.0], [0.5, 0.0, 0.3, 0.0, 0.2]])
    assert plain.topic_words(topics, 3) == [["boat", "loan", "debt"], ["bank", "debt", "sea"]]


def test_a_release_may_be_read_by_its_classifier_whole(plain: Release) -> None:
    classifier = plain.classifier()
    told = classifier.predict_released(plain)
    assert np.array_equal(told, classifier.predict_released(plain.counts))
    assert np.mean(told == plain.labels) > 0.8


def _noise(documents: int, words: int) -> Counts:
    drawn = np.random.default_rng(0).geometric(1 - np.exp(-1), (2, documents, words))
    return sparse.csr_array(drawn[0] - drawn[1])


def _pairs_of(cells: Counts) -> PairTotals:
    names = [f"w{place}" for place in range(80)]
    moments = released_moments(cells, NoiseLaw(1.0))
    return pair_totals(moments, names, level=0.95, most=50, order="surprise")


def test_noise_alone_has_no_words_that_tell_labels_apart_and_no_pairs() -> None:
    cells, law = _noise(300, 80), NoiseLaw(1.0)
    names = [f"w{place}" for place in range(80)]
    labels = np.array(["a", "b", "c"])[np.arange(300) % 3]
    told = telling_words(cells, labels, law, column_names(names, None), 0.95)
    assert not any(row["low"] > 0 for row in told.rows())
    alone = [row["per_document"] - row["overall"] > 1.96 * row["error"] for row in told.rows()]
    assert sum(alone) > 2  # one by one, some seem to
    assert told.beyond_chance(80) == {"a": [], "b": [], "c": []}
    pairs = _pairs_of(cells)
    assert not any(row["low"] > row["expected"] for row in pairs.rows())
    alone = [row["together"] - 1.96 * row["error"] > row["expected"] for row in pairs.rows()]
    assert sum(alone) > 20
    assert pairs.beyond_chance() == 0


def test_the_page_names_pairs_by_all_that_were_looked_at(plain: Release, tmp_path: Path) -> None:
    seen = plain.summary()
    nothing = replace(seen, pairs=_pairs_of(_noise(300, 80)), columns=80, words=80)
    for summary, told in (
        (seen, "of all 10 pairs certainly occur more often than by chance"),
        (nothing, NO_PAIRS),
    ):
        page = analysis_report(plain, summary, command="again").html()
        assert told in page
    assert "w1" not in page
