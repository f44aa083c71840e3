"""A block of documents has one noise, however many attempts are made at it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sottovoce_spark._noise import (
    Block,
    BlockName,
    Counting,
    NoiseTask,
    count_blocks,
    file_order,
    matrix_of,
    noise_blocks,
    write_shards,
)

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import InputError
from sottovoce.release.compression.word_map import WordMap

WORDS = ("debt", "loan", "bank", "sad")
COUNTS = sparse.csr_array(np.arange(40).reshape(10, 4))


def drawing(*, maps: int = 1, columns: int = 4) -> NoiseTask:
    generator = np.random.default_rng(1)
    chosen = (
        [np.arange(4, dtype=np.int32)]
        if maps == 1
        else [generator.integers(0, columns, 4).astype(np.int32) for _ in range(maps)]
    )
    return NoiseTask(
        secret=bytes(32),
        blocks={},
        maps=tuple(each.tobytes() for each in chosen),
        columns=columns,
        rate="1/10",
        threshold=None,
        constant_work=False,
    )


BLOCK = Block(0, 0, "a digest")


def test_every_attempt_at_a_block_draws_the_same_noise() -> None:
    first, second = (drawing().add_noise(BLOCK, COUNTS) for _ in range(2))
    assert not (first - second).nnz
    assert (first - COUNTS).nnz
    with_work = replace(drawing(), constant_work=True)
    first, second = (with_work.add_noise(BLOCK, COUNTS) for _ in range(2))
    assert not (first - second).nnz


@pytest.mark.parametrize(
    "changed",
    [
        {"secret": b"\1" * 32},
        {"rate": "1/11"},
        {"threshold": 1},
        {"constant_work": True},
        {"maps": (np.array([1, 0, 2, 3], np.int32).tobytes(),)},
    ],
)
def test_noise_is_never_that_of_other_data_or_another_way(changed: dict[str, Any]) -> None:
    """Neither of another block, nor of the same by another map or rate."""
    made = drawing()
    other = replace(made, **changed)
    assert (other.secret, other.purpose(BLOCK)) != (made.secret, made.purpose(BLOCK))
    blocks = (BLOCK, Block(1, 0, "a digest"), Block(0, 1, "a digest"), Block(0, 0, "another"))
    assert len({made.purpose(block) for block in blocks}) == 4
    noise = [(made.add_noise(block, COUNTS) - COUNTS).toarray().tobytes() for block in blocks]
    assert len(set(noise)) == 4


@pytest.mark.parametrize("first", [0, 1, 5])
def test_documents_keep_the_map_of_their_place_wherever_a_block_begins(first: int) -> None:
    made = drawing(maps=3, columns=2)
    maps = [WordMap(np.frombuffer(each, np.int32), 2) for each in made.maps]
    found = made.compress_counts(COUNTS, first).toarray()
    for row in range(10):
        expected = maps[(first + row) % 3].compress(COUNTS[[row]]).toarray()[0]
        assert found[row].tolist() == expected.tolist()


def raw(texts: Sequence[str | None], *, file: str = "file:///a.parquet") -> pa.RecordBatch:
    return pa.record_batch(
        {
            "text": pa.array(texts, pa.string()),
            "file": pa.array([file] * len(texts)),
            "start": pa.array([4] * len(texts), pa.int64()),
        }
    )


COUNTING = Counting(Vocabulary.public(WORDS), TokenRules(), 1 << 20)


def test_blocks_hold_the_counts_of_their_documents_in_order() -> None:
    batches = [raw(["debt debt sad", ""]), raw([None, "bank"])]
    rows = [row for b in count_blocks(COUNTING, iter(batches)) for row in b.to_pylist()]
    assert [row["number"] for row in rows] == [0, 1, -1]
    assert matrix_of(rows[0], 4).toarray().tolist() == [[2, 0, 0, 1], [0, 0, 0, 0]]
    assert matrix_of(rows[1], 4).toarray().tolist() == [[0, 0, 1, 0]]
    assert rows[2]["tally"][0] == 3


def test_rows_of_two_files_in_one_part_are_refused() -> None:
    both = pa.Table.from_batches([raw(["a"]), raw(["b"], file="file:///b.parquet")])
    with pytest.raises(InputError, match="order"):
        list(count_blocks(COUNTING, iter(both.combine_chunks().to_batches())))


def test_documents_that_changed_since_they_were_hashed_are_not_released() -> None:
    (block, _) = count_blocks(COUNTING, iter([raw(["debt"])]))
    name = BlockName("/a.parquet", 4, 0)
    good = replace(drawing(), blocks={name: Block(0, 7, block["digest"][0].as_py())})
    (rows,) = noise_blocks(good, [block])
    assert rows["document"].to_pylist() == [7]
    bad = replace(good, blocks={name: Block(1, 0, "another")})
    with pytest.raises(InputError, match="changed"):
        list(noise_blocks(bad, [block]))


def test_files_are_ordered_by_name_however_their_addresses_are_written() -> None:
    assert file_order("file:///x/a%20b.parquet") == file_order("file:/x/a b.parquet")


def blocks_of(*texts: list[str]) -> tuple[list[pa.RecordBatch], NoiseTask]:
    *blocks, _ = count_blocks(COUNTING, iter([raw(each) for each in texts]))
    known, first = {}, 0
    for place, (block, each) in enumerate(zip(blocks, texts, strict=True)):
        known[BlockName("/a.parquet", 4, place)] = Block(place, first, block["digest"][0].as_py())
        first += len(each)
    return blocks, replace(drawing(), blocks=known)


def test_a_task_that_runs_again_writes_the_same_bytes_and_reports_the_same(tmp_path: Path) -> None:
    blocks, work = blocks_of(["debt", "loan"], ["bank"], ["sad", "debt sad"])
    reports = []
    for name in ("counts-0123456789abcdef", "counts-fedcba9876543210"):
        (tmp_path / name).mkdir()
        for _ in range(2):
            rows = [b.to_pylist()[0] for b in write_shards(work, str(tmp_path / name), 3, blocks)]
        reports.append([{**row, "name": row["name"].partition("/")[2]} for row in rows])
    assert reports[0] == reports[1]
    assert [(row["first"], row["documents"]) for row in reports[0]] == [(0, 3), (3, 2)]
    first, second = (
        {p.name: p.read_bytes() for p in each.iterdir()} for each in tmp_path.iterdir()
    )
    assert first == second
    assert set(first) == {row["name"] for row in reports[0]}
    rows = pa.Table.from_batches(noise_blocks(work, blocks))
    assert pq.read_table(tmp_path / "counts-0123456789abcdef").equals(rows)


def test_a_shard_is_private_and_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    blocks, work = blocks_of(["debt"])
    list(write_shards(work, str(tmp_path), 3, blocks))
    (shard,) = tmp_path.iterdir()
    assert shard.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="share"):
        list(write_shards(work, str(tmp_path / "gone"), 3, blocks))
