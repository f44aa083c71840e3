"""The study of readers: pinned counts, honest baselines, and rows that compare like with like."""

from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release import analyse
from sottovoce_lab.release._classified import (
    BASELINES,
    ClassifiedCorpus,
    accuracy,
    classified_rows,
    fit_baseline,
    tune_strength,
)
from sottovoce_lab.release.analyse_rows import NAMES
from sottovoce_lab.release.parts import PartStore
from sottovoce_lab.release.pinned import PINNED, PinnedCorpus, count_corpus, count_pinned

from sottovoce.errors import ParameterError
from sottovoce.release.classify.inputs import Labelled
from sottovoce.report.result import number


def made_corpus(documents: int = 90, words: int = 12) -> PinnedCorpus:
    codes = np.arange(documents) % 3
    means = np.full((3, words), 0.3)
    means[np.arange(3), np.arange(3)] = 4.0
    counts = np.random.default_rng(0).poisson(means[codes])
    names = tuple(f"w{place}" for place in range(words))
    labels = np.array(["debt", "health", "sport"])[codes]
    return PinnedCorpus("made", sparse.csr_array(counts), names, labels)


def test_words_are_counted_in_the_pinned_way() -> None:
    texts = ["The Bank's loan, loan; loan loan bank ab"] * 4 + ["loan bank BANK loan loan rare"]
    corpus = count_pinned("texts", texts, ["a", "a", "a", "b", "b"])
    assert corpus.words == ("loan", "bank")
    assert corpus.counts.toarray().tolist() == [[4, 2]] * 4 + [[3, 2]]
    assert corpus.labels is not None
    assert corpus.labels.tolist() == ["a", "a", "a", "b", "b"]
    short = count_pinned("texts", [*texts, "loan bank"], None)
    assert short.counts.shape[0] == 5


def test_classes_too_small_to_be_in_every_fold_are_left_out() -> None:
    corpus = made_corpus()
    assert corpus.labels is not None
    labels = corpus.labels.astype("<U9")
    labels[:2] = "rare"
    known = ClassifiedCorpus.from_corpus(PinnedCorpus("made", corpus.counts, corpus.words, labels))
    assert known.classes == 3
    assert known.codes.size == 88


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_tells_classes_apart_where_there_is_little_noise(name: str) -> None:
    corpus = made_corpus()
    data = Labelled(corpus.counts, np.arange(90) % 3, 3)
    scores = fit_baseline(name, data, tune_strength(name, data, 0))
    assert accuracy(scores(corpus.counts), data.codes) > 0.9


def test_rows_compare_the_chosen_reader_with_every_baseline_on_the_same_release() -> None:
    rows = classified_rows(made_corpus(), (Fraction(2),), 2, PartStore())
    assert all(tuple(row) == NAMES for row in rows)
    readers = [*BASELINES, "largest class", "chosen", "difference"]
    assert [row["reader"] for row in rows] == ["true text", *readers, *readers]
    true, released = (
        {row["reader"]: row for row in rows if row["data"] == name}
        for name in ("made", "made, released")
    )
    best = max(number(true[name], "mean") for name in BASELINES)
    chosen = number(true["chosen"], "mean")
    assert number(true["difference"], "mean") == pytest.approx(chosen - best)
    assert chosen > 0.8
    assert number(released["chosen"], "mean") <= chosen
    assert true["largest class"]["mean"] == pytest.approx(1 / 3)


def test_a_part_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PINNED, "news", partial(made_corpus, words=30))
    options = StudyOptions(quick=True, seeds=1, data="news", rates=(Fraction(1),), documents=60)
    result = analyse.run_release_analyse(options)
    assert {row["rate"] for row in result.rows} == {None, 1.0}
    assert {row["documents"] for row in result.rows} == {60}
    assert "is better than the best baseline in" in result.plots[0].finding


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (StudyOptions(quick=True, readers="people"), "readers must be one of"),
        (StudyOptions(quick=True, data="blog", readers="classifiers"), "data must be one of"),
    ],
)
def test_what_the_study_does_not_know_is_refused(options: StudyOptions, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        analyse.run_release_analyse(options)


def test_a_single_source_is_counted_from_its_own_texts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, others = "harbour vessel captain sailor anchor", "doctor nurse patient clinic ward"
    rows = {"src": ["dbpedia", "medquad"] * 6, "text": [own, others] * 6}
    parquet.write_table(pa.table(rows), tmp_path / "background.parquet")
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    corpus = count_corpus("dbpedia")
    assert set(corpus.words) == set(own.split())
    assert corpus.counts.shape == (6, 5)
    assert corpus.labels is None
