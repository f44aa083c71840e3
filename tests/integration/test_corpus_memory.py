"""Peak memory does not grow with the file, nor with what a hostile file claims to hold."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.warm_python import run_warm

MIB = 1024 * 1024
ROWS = 4096
TEXT = "words that a person might write, none of them real, " * 5
TIME = "2024-05-01 13:45:00"
SCRIPT = Path(__file__).with_name("peak_memory.py")
# What imports, allocator slack and the buffers of fixed size may add between two runs.
SLACK_MIB = 60


class Outcome(NamedTuple):
    word: str
    kept: int
    peak_mib: int
    grown_mib: int
    """What reading added to the peak of the process that imports left."""


def reading(path: Path, kind: str = "posts") -> Outcome:
    command = [sys.executable, str(SCRIPT), kind, str(path)]
    done = run_warm(command, check=True)
    word, kept, peak, before = done.stdout.split()
    return Outcome(word, int(kept), int(peak), int(peak) - int(before))


def fill(file: BinaryIO, block: bytes, size: int) -> None:
    file.writelines(block for _ in range(size // len(block) + 1))


def write_csv(path: Path, size: int) -> None:
    rows = "".join(f'user{row},{TIME},"{TEXT}, ""{row}""\nand more"\n' for row in range(ROWS))
    with path.open("wb") as file:
        file.write(b"user,time,text\n")
        fill(file, rows.encode(), size)


def write_tsv(path: Path, size: int) -> None:
    rows = "".join(f"user{row}\t{TIME}\t{TEXT}{row}\n" for row in range(ROWS))
    with path.open("wb") as file:
        file.write(b"user\ttime\ttext\n")
        fill(file, rows.encode(), size)


def write_jsonl(path: Path, size: int) -> None:
    line = '{"user": "u%d", "time": "' + TIME + '", "text": "' + TEXT + '%d"}\n'
    rows = "".join(line % (row, row) for row in range(ROWS))
    with path.open("wb") as file:
        fill(file, rows.encode(), size)


def write_words(path: Path, size: int) -> None:
    words = [f"word{number}" for number in range(5000)]
    texts = [" ".join(words[first::step]) for first, step in ((0, 10), (5, 7))]
    rows = "".join(f'{{"text": "{text}"}}\n' for text in texts)
    with path.open("wb") as file:
        fill(file, rows.encode() * 100, size)


def write_lines(path: Path, size: int) -> None:
    with path.open("wb") as file:
        fill(file, "".join(f"{TEXT}{row}\n" for row in range(ROWS)).encode(), size)


def write_parquet(path: Path, size: int) -> None:
    """A single row group, however large."""
    texts = [f"{TEXT}{row}" for row in range(ROWS)]
    users = [f"user{row}" for row in range(ROWS)]
    table = pa.table({"user": users, "time": [TIME] * ROWS, "text": texts})
    copies = size // table.nbytes + 1
    whole = pa.concat_tables([table] * copies)
    parquet.write_table(
        whole, path, row_group_size=whole.num_rows, use_dictionary=False, compression="none"
    )


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "posts.csv": write_csv,
    "posts.tsv": write_tsv,
    "posts.jsonl": write_jsonl,
    "posts.parquet": write_parquet,
    "documents.txt": write_lines,
}


def growth(folder: Path, name: str, small: int, large: int) -> int:
    """MiB that the larger file needs beyond the smaller."""
    path = folder / name
    peaks = []
    for size in (small, large):
        WRITERS[name](path, size)
        outcome = reading(path, name.split(".", maxsplit=1)[0])
        assert outcome.word == "read"
        assert outcome.kept >= size // 1000
        peaks.append(outcome.peak_mib)
        path.unlink()
    return peaks[1] - peaks[0]


@pytest.mark.parametrize("name", WRITERS)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str) -> None:
    assert growth(tmp_path, name, 16 * MIB, 96 * MIB) < SLACK_MIB


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_memory_does_not_grow_up_to_a_gigabyte(tmp_path: Path, name: str) -> None:
    assert growth(tmp_path, name, 100 * MIB, 1024 * MIB) < SLACK_MIB


def write_long_line(path: Path, start: str, size: int, end: str) -> None:
    """A line of ``size`` bytes between two others; the file is sparse, so this is quick."""
    with path.open("wb") as file:
        file.write(start.encode())
        file.seek(size, 1)
        file.write(end.encode())


JSON_LINE = f'{{"user": "a", "time": "{TIME}", "text": "x"}}\n'
TSV_LINE = f"a\t{TIME}\tx\n"
LONG_LINES = {
    "posts.tsv": ("user\ttime\ttext\n", TSV_LINE),
    "posts.jsonl": ("", JSON_LINE),
    "documents.txt": ("", "a line\n"),
}
GROWN_MIB = 70


LINE_MIB = [300, pytest.param(1024, marks=pytest.mark.long)]


@pytest.mark.parametrize("size_mib", LINE_MIB)
@pytest.mark.parametrize("name", LONG_LINES)
def test_a_line_longer_than_memory_may_be_is_passed_over(
    tmp_path: Path, name: str, size_mib: int
) -> None:
    header, line = LONG_LINES[name]
    # Enough ordinary lines that the sparse part is not taken for UTF-16.
    write_long_line(tmp_path / name, header + 999 * line, size_mib * MIB, "\n" + line)
    outcome = reading(tmp_path / name, name.split(".", maxsplit=1)[0])
    assert outcome == Outcome("read", 1000, *outcome[2:])
    assert outcome.grown_mib < GROWN_MIB


def test_a_csv_row_of_a_gigabyte_is_refused(tmp_path: Path) -> None:
    rows = "user,time,text\n" + f"a,{TIME},x\n" * 400
    write_long_line(tmp_path / "posts.csv", rows + f'a,{TIME},"', 1024 * MIB, '"\n')
    outcome = reading(tmp_path / "posts.csv")
    assert outcome.word == "refused"
    assert outcome.grown_mib < GROWN_MIB


def write_bomb(path: Path, texts: pa.Array, **options: object) -> None:
    table = pa.table({"text": texts})
    parquet.write_table(table, path, compression="zstd", **options)


def test_a_parquet_page_of_hundreds_of_megabytes_is_refused_before_it_is_unpacked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "documents.parquet"
    write_bomb(path, pa.array(["x" * (136 * MIB), "y"]), use_dictionary=False)
    assert path.stat().st_size < MIB
    outcome = reading(path, "documents")
    assert outcome.word == "refused"
    assert outcome.grown_mib < GROWN_MIB


def test_a_parquet_dictionary_that_stands_for_many_megabytes_is_read_in_bounded_memory(
    tmp_path: Path,
) -> None:
    path = tmp_path / "documents.parquet"
    dictionary = pa.DictionaryArray.from_arrays(
        pa.array([0] * 60, pa.int32()), pa.array(["x" * MIB])
    )
    # Without Arrow's own schema in the file, the values come back one by one, not as a dictionary.
    write_bomb(path, dictionary, store_schema=False)
    outcome = reading(path, "documents")
    assert outcome == Outcome("read", 60, *outcome[2:])
    assert outcome.grown_mib < GROWN_MIB


def test_a_compressed_bomb_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "documents.txt.zst"
    rows = MIB // 20
    lines = (b"same " * 200 + b"\n") * rows
    path.write_bytes(pa.Codec("zstd").compress(lines, asbytes=True))
    outcome = reading(path, "documents")
    assert outcome == Outcome("read", rows, *outcome[2:])
    assert outcome.grown_mib < GROWN_MIB


def test_parquet_values_that_repeat_the_one_before_are_read_in_bounded_memory(
    tmp_path: Path,
) -> None:
    path = tmp_path / "documents.parquet"
    # One value stored once: each further row costs a byte and stands for another MiB.
    texts = pa.array(["x" * MIB] * 55)
    encoding = {"text": "DELTA_BYTE_ARRAY"}
    write_bomb(path, texts, use_dictionary=False, column_encoding=encoding, store_schema=False)
    assert path.stat().st_size < MIB
    outcome = reading(path, "documents")
    assert outcome == Outcome("read", 55, *outcome[2:])
    assert outcome.grown_mib < GROWN_MIB


@pytest.mark.parametrize(
    ("small_mib", "large_mib"), [(10, 80), pytest.param(100, 1024, marks=pytest.mark.long)]
)
def test_counting_ten_times_the_file_needs_the_same_memory(
    tmp_path: Path, small_mib: int, large_mib: int
) -> None:
    peaks = []
    for size in (small_mib, large_mib):
        write_words(tmp_path / "texts.jsonl", size * MIB)
        counted = reading(tmp_path / "texts.jsonl", "counts")
        assert counted.word == "read"
        peaks.append(counted.peak_mib)
    assert peaks[1] <= 1.1 * peaks[0], peaks
