"""The study of topics: its corpora, its baselines and its rows, on a small scale."""

from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from scipy import sparse
from sottovoce_lab.bench import analyse
from sottovoce_lab.bench.analyse import bench_analyse, planted_topics
from sottovoce_lab.release import analyse_topics
from sottovoce_lab.release.analyse_topics import (
    add_noise,
    lda_of_cells,
    reference_topics,
    simulated_corpus_of,
    topic_corpus,
    topic_rows,
)
from sottovoce_lab.release.parts import PartStore

from sottovoce.errors import ParameterError
from sottovoce.release.topics.estimator import PrivateTopics


def test_references_that_were_being_made_when_a_study_stopped_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = sparse.csr_array(np.ones((4, 25), np.int64))

    def stopped(stream: IO[bytes], _topics: object) -> None:
        stream.write(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(np, "save", stopped)
        reference_topics(counts, 2, 2, tmp_path, references=1)
    assert not list(tmp_path.glob("*.npy"))
    (again,) = reference_topics(counts, 2, 2, tmp_path, references=1)
    assert again.shape == (2, 25)
    (kept,) = tmp_path.glob("*.npy")
    assert kept.stat().st_mode & 0o077 == 0


def test_a_baseline_sees_cells_from_its_threshold_on_alone() -> None:
    matrix = np.tile(np.array([[3, 3, 1, -2]]), (20, 1))
    found = lda_of_cells(sparse.csr_array(matrix), 2, 0, topics=1)
    assert found[0] == pytest.approx([0.5, 0.5, 0, 0], abs=0.01)


def test_rows_hold_every_reader_and_the_difference_to_the_best_baseline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analyse_topics, "THRESHOLDS", (2,))
    corpus = simulated_corpus_of(planted_topics(60, 3), 400, seed=0)
    rows = topic_rows(corpus, 1.0, 2, PartStore())
    rows = [row for row in rows if row["score"] == "jaccard"]
    assert [row["reader"] for row in rows] == [
        "lda >= 2",
        "frequent",
        "chance",
        "chosen",
        "difference",
    ]
    chosen, best = rows[-2]["values"], rows[0]["values"]
    assert isinstance(chosen, list)
    assert isinstance(best, list)
    assert all(row["documents"] == 400 and row["topics"] == 3 for row in rows)
    assert min(map(float, chosen)) > 0.3


def test_an_unknown_corpus_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="one of complaints, news, blogs"):
        topic_corpus("novels", 25)


def test_the_bench_compares_speed_and_topics_at_both_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "ITERATIONS", 2)
    monkeypatch.setattr(analyse, "WORDS", 200)
    monkeypatch.setattr(analyse, "TOPICS", 5)
    monkeypatch.setattr(analyse, "planted_topics", partial(planted_topics, 200, 5))
    monkeypatch.setattr(analyse, "PrivateTopics", partial(PrivateTopics, max_iter=1))
    rows = bench_analyse(100)
    assert [row["unit"] for row in rows] == ["documents/s", "topic Jaccard"] * 2
    assert all(row["ours"] > 0 for row in rows)


def test_released_counts_of_a_seed_are_the_same_and_have_the_noise_of_their_rate() -> None:
    counts = sparse.csr_array(np.zeros((400, 50), np.int64) + np.eye(400, 50, dtype=np.int64))
    one, again = add_noise(counts, 1.0, 3), add_noise(counts, 1.0, 3)
    assert np.array_equal(one.toarray(), again.toarray())
    noise = (one - counts).toarray()
    assert noise.var() == pytest.approx(1.841, rel=0.05)
