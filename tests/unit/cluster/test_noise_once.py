"""A block of documents has one noise, however many attempts are made at it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from sottovoce.cluster._blocks import BlockName, Counting, count_blocks, matrix_of
from sottovoce.cluster._noise import (
    Block,
    NoiseTask,
    claim,
    collected,
    noise_blocks,
    noise_once,
    part_file,
)
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.corpus.words._rules import TokenRules
from sottovoce.errors import InputError, LedgerError
from sottovoce.release.compression._word_map import WordMap

WORDS = ("debt", "loan", "bank", "sad")
COUNTS = sparse.csr_array(np.arange(40).reshape(10, 4))


def drawing(folder: Path, *, maps: int = 1, columns: int = 4) -> NoiseTask:
    generator = np.random.default_rng(1)
    chosen = (
        [np.arange(4, dtype=np.int32)]
        if maps == 1
        else [generator.integers(0, columns, 4).astype(np.int32) for _ in range(maps)]
    )
    return NoiseTask(
        folder=str(folder),
        blocks={},
        maps=tuple(each.tobytes() for each in chosen),
        columns=columns,
        rate="1/10",
        threshold=None,
        constant_work=False,
    )


def test_a_second_attempt_reports_the_first_one_s_noise(tmp_path: Path) -> None:
    made, block = drawing(tmp_path), Block(0, 0, "")
    first = noise_once(made, block, COUNTS)
    content = part_file(tmp_path, 0).read_bytes()
    assert noise_once(made, block, COUNTS) == first
    assert part_file(tmp_path, 0).read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["0.npz"]


def test_of_attempts_at_once_one_is_kept_and_all_report_it(tmp_path: Path) -> None:
    made, block = drawing(tmp_path), Block(0, 0, "")
    with ThreadPoolExecutor(8) as pool:
        reports = set(pool.map(lambda _: noise_once(made, block, COUNTS), range(32)))
    assert len(reports) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["0.npz"]


def test_only_one_claim_of_a_name_succeeds(tmp_path: Path) -> None:
    contents = [str(number).encode() for number in range(32)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda content: claim(tmp_path / "0.npz", content), contents))
    assert won.count(True) == 1
    assert (tmp_path / "0.npz").read_bytes() == contents[won.index(True)]


def test_an_attempt_of_a_dead_run_finds_its_folder_gone(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="share"):
        noise_once(drawing(tmp_path / "gone"), Block(0, 0, ""), COUNTS)
    assert list(tmp_path.iterdir()) == []


def test_a_part_is_private(tmp_path: Path) -> None:
    noise_once(drawing(tmp_path), Block(0, 0, ""), COUNTS)
    assert part_file(tmp_path, 0).stat().st_mode & 0o777 == 0o600


def test_a_part_that_nobody_reported_is_not_taken(tmp_path: Path) -> None:
    reported = noise_once(drawing(tmp_path), Block(0, 0, ""), COUNTS)
    assert collected(tmp_path, {0: reported}).shape == (10, 4)
    part_file(tmp_path, 0).unlink()
    noise_once(drawing(tmp_path), Block(0, 0, ""), COUNTS)
    with pytest.raises(LedgerError, match="reported"):
        collected(tmp_path, {0: reported})


@pytest.mark.parametrize("first", [0, 1, 5])
def test_documents_keep_the_map_of_their_place_wherever_a_block_begins(first: int) -> None:
    made = drawing(Path(), maps=3, columns=2)
    maps = [WordMap(np.frombuffer(each, np.int32), 2) for each in made.maps]
    found = made.compressed(COUNTS, first).toarray()
    for row in range(10):
        expected = maps[(first + row) % 3].compress(COUNTS[[row]]).toarray()[0]
        assert found[row].tolist() == expected.tolist()


def raw(texts: list[str | None], *, file: str = "file:///a.parquet") -> pa.RecordBatch:
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


def test_documents_that_changed_since_they_were_hashed_are_not_released(tmp_path: Path) -> None:
    (block, _) = count_blocks(COUNTING, iter([raw(["debt"])]))
    name = BlockName.of("file:/a.parquet", 4, 0)
    from dataclasses import replace  # noqa: PLC0415 - beside its use

    good = replace(drawing(tmp_path), blocks={name: Block(0, 0, block["digest"][0].as_py())})
    (reported,) = noise_blocks(good, [block])
    assert reported["place"].to_pylist() == [0]
    bad = replace(good, blocks={name: Block(1, 0, "another")})
    with pytest.raises(InputError, match="changed"):
        list(noise_blocks(bad, [block]))


def test_files_are_ordered_by_name_however_their_addresses_are_written() -> None:
    names = [
        BlockName.of("file:///x/a%20b.parquet", 4, 0),
        BlockName.of("file:/x/a b.parquet", 4, 0),
    ]
    assert names[0] == names[1]
