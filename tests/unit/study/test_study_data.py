"""Data files, labelled documents and length caps."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sottovoce.data import DataAbsentError, data_file, data_folder
from sottovoce.errors import ParameterError
from sottovoce.study.corpora import count_labelled, read_complaints, read_news
from sottovoce.study.release_parts.lengths import cut_to_length


def test_data_come_from_the_named_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    (tmp_path / "here.txt").touch()
    assert data_file("here.txt") == tmp_path / "here.txt"
    with pytest.raises(DataAbsentError, match=r"absent\.txt is not in .* Set SOTTOVOCE_DATA"):
        data_file("absent.txt")


def test_data_lie_beside_the_checkout_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    assert data_folder() == Path(__file__).resolve().parents[4] / "shared" / "data"


def test_complaints_are_those_that_nobody_preprocessed(tmp_path: Path) -> None:
    rows = [{"text": "a", "product": "x", "raw": True}, {"text": "b", "product": "y", "raw": False}]
    path = tmp_path / "complaints.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_complaints(path) == [("a", "x")]


def test_news_have_a_text_and_a_class(tmp_path: Path) -> None:
    path = tmp_path / "news.tsv"
    path.write_text("some text\ttrain\tsport\n")
    assert read_news(path) == [("some text", "sport")]


def test_labelled_documents_are_counted_by_the_counter_given() -> None:
    corpus = count_labelled(
        [("a a", "x"), ("a", "y")],
        lambda texts: (sparse.csr_array([[len(text.split())] for text in texts]), ["a"]),
    )
    assert corpus.counts.toarray().tolist() == [[2], [1]]
    assert corpus.labels == ("x", "y")
    assert corpus.first(1).labels == ("x",)
    assert corpus.first(None).labels == ("x", "y")


def test_long_documents_are_cut_and_short_ones_kept() -> None:
    counts = sparse.csr_array(np.array([[5, 0, 7], [0, 0, 0], [1, 2, 0]]))
    cut = cut_to_length(counts, 4, np.random.default_rng(0))
    assert cut.sum(axis=1).tolist() == [4, 0, 3]
    assert (cut.toarray() <= counts.toarray()).all()
    assert cut_to_length(counts, 12, np.random.default_rng(0)).toarray().tolist() == (
        counts.toarray().tolist()
    )
    with pytest.raises(ParameterError, match="length cap must be >= 1, got 0"):
        cut_to_length(counts, 0, np.random.default_rng(0))


def test_a_cut_takes_every_token_with_equal_chance() -> None:
    counts = sparse.csr_array(np.tile([[30, 10]], (2000, 1)))
    shares = cut_to_length(counts, 8, np.random.default_rng(1)).sum(axis=0) / (2000 * 8)
    assert shares[0] == pytest.approx(0.75, abs=0.02)
