"""Data files, and documents counted for studies."""

import json
from pathlib import Path

import pytest
from sottovoce_lab._data import (
    DataAbsentError,
    count_documents,
    load_corpus,
    open_complaints,
    open_news,
)

from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import CorpusError


def write_complaints(folder: Path, rows: list[tuple[str, str, bool]]) -> Path:
    path = folder / "cfpb.jsonl"
    keys = ("text", "product", "raw")
    lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_complaints_are_those_that_nobody_preprocessed(tmp_path: Path) -> None:
    path = write_complaints(tmp_path, [("a", "x", True), ("b", "y", False), ("c", "z", True)])
    table = open_complaints(path).read_all()
    assert table["text"].to_pylist() == ["a", "c"]
    assert table["label"].to_pylist() == ["x", "z"]


@pytest.mark.parametrize(
    ("content", "message"),
    [('{"text": "secret"}\n', "no column 'raw'"), ("secret\n", "damaged"), ("", "empty")],
)
def test_unusable_complaints_are_refused_without_a_word_of_them(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "cfpb.jsonl"
    path.write_text(content)
    with pytest.raises(CorpusError, match=message) as refused:
        open_complaints(path)
    assert "secret" not in str(refused.value)


def test_words_of_two_texts_that_are_no_function_words_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "news.tsv"
    path.write_text("the loan the loan bank\ttrain\tx\nthe loan house\ttest\ty\nbank\ttest\tx\n")
    corpus = count_documents(open_news(path), "news")
    assert corpus.vocabulary == ("bank", "loan")
    assert corpus.counts.toarray().tolist() == [[1, 2], [0, 1], [1, 0]]
    assert corpus.labels == ("x", "y", "x")
    assert "the data chose them" in corpus.note
    assert "3 rows read, 3 kept" in corpus.note


def test_a_shuffled_corpus_keeps_each_document_with_its_class(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    numbers = range(1, 31)
    path.write_text("body,kind\n" + "".join(f"{'word ' * i},k{i}\n" for i in numbers))
    read = ReadOptions(columns={"text": "body", "label": "kind"})
    corpus = load_corpus(str(path), documents=20, read=read)
    lengths: list[int] = corpus.counts.sum(axis=1).tolist()
    assert corpus.labels == tuple(f"k{length}" for length in lengths)
    assert len(set(lengths)) == 20
    assert lengths != sorted(lengths)
    again = load_corpus(str(path), documents=20, read=read)
    assert again.labels == corpus.labels


def test_a_simulated_corpus_has_classes_and_says_what_it_is() -> None:
    corpus = load_corpus("simulated", documents=50, most_words=80)
    assert corpus.counts.shape == (50, 80)
    assert 2 <= len(set(corpus.labels)) <= 5
    assert "simulated" in corpus.note


def test_absent_data_offer_the_simulated_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    with pytest.raises(DataAbsentError, match=r"cfpb\.jsonl is not in .*--data simulated"):
        load_corpus("complaints", documents=10)
