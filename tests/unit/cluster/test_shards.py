"""Shards are read as one matrix, some rows at a time, and audited as one; nothing else is read."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sottovoce_spark.analyse import Adding, sum_rows
from sottovoce_spark.repeatable import RepeatableMechanism
from sottovoce_spark.shards import (
    ROWS,
    Shard,
    ShardedCounts,
    ShardList,
    describe_shard,
    list_in,
    list_shards,
    shard_rows,
)

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import released_moments
from sottovoce.release.card import ReleaseCard, make_card
from sottovoce.release.counts import Counts
from sottovoce.release.plan import ReleasePlan, ReleaseSettings

COUNTS: Counts = sparse.csr_array(np.random.default_rng(2).integers(-2, 3, (23, 5)))
FOLDER = "counts-0123456789abcdef"


def written(folder: Path, counts: Counts, cuts: tuple[int, ...]) -> ShardedCounts:
    """Shards that begin at ``cuts``, in files whose names do not tell their order."""
    (folder / FOLDER).mkdir()
    shards = []
    for turn, first in enumerate(cuts):
        part = counts[first : (*cuts, counts.shape[0])[turn + 1]]
        table = pa.Table.from_batches(list(shard_rows(first, part)), ROWS)
        path = folder / FOLDER / f"part-{9 - turn}.parquet"
        pq.write_table(table, path, row_group_size=4)
        shards.append(describe_shard(f"{FOLDER}/{path.name}", path.read_bytes()))
    return ShardedCounts(folder, list_shards(*counts.shape, "1/2", shards))


@pytest.mark.parametrize("rows", [1, 4, 7, 23, 100])
def test_blocks_are_the_rows_in_order_however_shards_are_cut(rows: int, tmp_path: Path) -> None:
    found = written(tmp_path, COUNTS, (0, 5, 6, 17))
    blocks = list(found.blocks(rows))
    assert [block.shape[0] for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
    assert np.vstack([block.toarray() for block in blocks]).tolist() == COUNTS.toarray().tolist()
    assert found.whole().dtype == np.int64
    assert found.nnz == COUNTS.count_nonzero()


def test_a_release_s_moments_are_the_sums_of_its_shards(tmp_path: Path) -> None:
    law, found = NoiseLaw(0.5), written(tmp_path, COUNTS, (0, 9))
    expected = released_moments(COUNTS, law)
    assert released_moments(found, law).pairs.tobytes() == expected.pairs.tobytes()
    adding = partial(sum_rows, Adding(5, None, pairs=True))
    totals, products = np.zeros(5), np.zeros((5, 5))
    for path in (tmp_path / FOLDER).iterdir():
        (row,) = next(iter(adding(pq.read_table(path).to_batches(3)))).to_pylist()
        totals += np.frombuffer(row["totals"])
        products += np.frombuffer(row["products"]).reshape(5, 5)
    assert totals.tobytes() == expected.totals.tobytes()
    np.fill_diagonal(products, np.diagonal(expected.pairs))
    assert products.tobytes() == expected.pairs.tobytes()


def test_a_list_of_shards_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = written(tmp_path, COUNTS, (0, 5)).listed
    assert list_in(found.as_json(), "there") == found


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "counts-0123456789abcdef/../../other.parquet"},
        {"first": 1},
        {"documents": 22},
        {"cells": 23 * 5 + 1},
        {"sha256": "no hash"},
        {"bytes": True},
    ],
)
def test_a_list_that_cannot_be_true_is_refused(changed: dict[str, object], tmp_path: Path) -> None:
    found = written(tmp_path, COUNTS, (0,)).listed
    wrong = replace(found, shards=(replace(found.shards[0], **changed),))  # type: ignore[arg-type]  # by name
    with pytest.raises(InputError):
        list_in(wrong.as_json(), "there")
    with pytest.raises(InputError, match="not a list"):
        list_in(found.as_json().replace("{", "{ ", 1), "there")


def test_a_document_in_two_shards_or_in_none_is_no_release(tmp_path: Path) -> None:
    shards = written(tmp_path, COUNTS, (0, 5, 9)).listed.shards
    for wrong in (shards[:2], shards[1:], (*shards, shards[1]), ()):
        with pytest.raises(InputError, match="each of the 23 documents once"):
            list_shards(23, 5, "1/2", wrong)


def _file(folder: Path, table: pa.Table, cells: int) -> ShardedCounts:
    (folder / FOLDER).mkdir()
    pq.write_table(table, folder / FOLDER / "a.parquet")
    shard = Shard(f"{FOLDER}/a.parquet", 0, 2, cells, 1, "")
    return ShardedCounts(folder, ShardList(2, 5, "1/2", (shard,)))


@pytest.mark.parametrize(
    ("documents", "columns", "counts"),
    [
        ([0, 2], [[1], [2]], [[1], [1]]),
        ([0, 1], [[1], [5]], [[1], [1]]),
        ([0, 1], [[1], [-1]], [[1], [1]]),
        ([0, 1], [[1], [2]], [[1, 1], []]),
        ([0, 1], [[1], None], [[1], None]),
        ([0, 1, 2], [[1], [2], []], [[1], [1], []]),
        ([0, 1], [[0, 1, 2, 3], [4]], [[1, 1, 1, 1], [1]]),
    ],
)
def test_a_shard_of_other_documents_columns_or_cells_is_refused(
    documents: list[int], columns: list[object], counts: list[object], tmp_path: Path
) -> None:
    """And nothing is made of more cells than the list speaks of."""
    table = pa.table([documents, columns, counts], schema=ROWS)
    with pytest.raises(InputError):
        _file(tmp_path, table, cells=2).whole()


def test_what_is_no_shard_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    found = _file(tmp_path, pa.table({"text": ["my secret", "another"]}), cells=2)
    with pytest.raises(InputError, match="not a shard"):
        found.whole()
    (tmp_path / FOLDER / "a.parquet").write_bytes(b"PAR1 my secret PAR1")
    with pytest.raises(InputError, match="not a shard") as raised:
        found.whole()
    assert "secret" not in str(raised.value)


def _card(documents: int, columns: int) -> ReleaseCard:
    words = Vocabulary.public([f"w{number}" for number in range(columns)])
    plan = ReleasePlan(ReleaseSettings(LimitedPrecision(1, Fraction(1, 2))), words.terms)
    return make_card(plan, words, documents=documents)


def _noised(purposes: list[bytes]) -> Counts:
    empty: Counts = sparse.csr_array((100, 200), dtype=np.int64)
    parts = [RepeatableMechanism("1/2", bytes(32), each * 32).sparse(empty) for each in purposes]
    return sparse.csr_array(sparse.vstack(parts))


def test_an_audit_in_parts_passes_sound_shards_and_finds_noise_that_two_of_them_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A part for each shard: what two share is seen in their first rows alone.
    monkeypatch.setattr("sottovoce_spark.shards._PART_CELLS", 100 * 200)
    card = _card(300, 200)
    for name, purposes, holds in (
        ("sound", [b"a", b"b", b"c"], True),
        ("shared", [b"a", b"b", b"a"], False),
    ):
        (tmp_path / name).mkdir()
        shards = written(tmp_path / name, _noised(purposes), (0, 100, 200))
        report = shards.audit(card)
        assert report.holds is holds
        failed = [finding.name for finding in report.findings if not finding.holds]
        assert failed == ([] if holds else ["rows with noise of their own"])
    exact = _noised([b"a", b"b", b"c"]).tolil()
    exact[150] = 0
    (tmp_path / "exact").mkdir()
    shards = written(tmp_path / "exact", sparse.csr_array(exact), (0, 100, 200))
    assert not shards.audit(card).holds


def test_a_count_beyond_32_bits_is_refused() -> None:
    with pytest.raises(InputError, match="32 bits"):
        list(shard_rows(0, sparse.csr_array(np.array([[1 << 31]]))))
