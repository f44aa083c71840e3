"""Simulated query logs: what they are made of, and that they do not depend on how they are read."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sottovoce_lab.query_log import QueryLog

from sottovoce.corpus.schema import POSTS

LOG = QueryLog(queries=70_000, users=2_000, topics=20)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.Table.from_batches(LOG.batches())


def test_the_same_numbers_give_the_same_log(table: pa.Table, tmp_path: Path) -> None:
    size = LOG.write(tmp_path / "log.parquet")
    assert size == (tmp_path / "log.parquet").stat().st_size
    assert pq.read_table(tmp_path / "log.parquet").equals(table)
    assert next(QueryLog(70_000, 2_000, 20, seed=1).batches()) != next(LOG.batches())


def test_queries_are_short_and_in_the_order_of_time(table: pa.Table) -> None:
    assert table.schema == POSTS
    assert table.num_rows == 70_000
    words = pc.list_value_length(pc.split_pattern(table["text"], " "))
    assert 2.2 < pc.mean(words).as_py() < 2.6
    times = table["time"].cast(pa.int64()).to_numpy()
    assert (np.diff(times) >= 0).all()
    assert (times[-1] - times[0]) / 86_400e6 == pytest.approx(92, abs=0.1)


def test_words_have_the_likelihoods_of_the_model() -> None:
    """Over all queries a word is as frequent as its mean likelihood over topics, nearly."""
    log = QueryLog(queries=60_000, users=5_000, topics=5)
    phi = log.phi()
    assert phi.shape == (len(log.words), 5)
    assert np.allclose(phi.sum(axis=0), 1, atol=1e-4)
    text = " ".join(pa.Table.from_batches(log.batches())["text"].to_pylist()).split()
    place = {word: number for number, word in enumerate(log.words)}
    found = np.bincount([place[word] for word in text], minlength=len(log.words)) / len(text)
    assert np.abs(found - phi.mean(axis=1)).sum() < 0.2
