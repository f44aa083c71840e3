"""Rows that cannot be used are skipped, each counted under one reason."""

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sottovoce.corpus.read.corpus import open_documents, open_posts
from sottovoce.corpus.read.tally import ReadOptions, Skip
from sottovoce.corpus.schema import BATCH_BYTES, BATCH_ROWS

GOOD = ("ann", "2024-05-01 12:00:00", "hello")


def skipped(path: Path, options: ReadOptions | None = None, kept: int = 1) -> Counter[Skip]:
    corpus = open_posts(path, options=options or ReadOptions())
    assert corpus.read_all().num_rows == kept
    assert corpus.tally.rows_read == kept + corpus.tally.skipped.total()
    return corpus.tally.skipped


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_delimited_rows_are_skipped_by_reason(tmp_path: Path, suffix: str, separator: str) -> None:
    rows = [
        ("user", "time", "text"),
        GOOD,
        ("", GOOD[1], "x"),
        ("ann", "", "x"),
        ("ann", "soon", "x"),
        ("ann", GOOD[1]),
        ("ann", GOOD[1], "x", "y"),
    ]
    path = tmp_path / f"a.{suffix}"
    path.write_text("\n".join(separator.join(row) for row in rows))
    assert skipped(path) == {Skip.USER: 1, Skip.TIME: 2, Skip.FIELDS: 2}


def test_json_lines_are_skipped_by_reason(tmp_path: Path) -> None:
    good = json.dumps(dict(zip(("user", "time", "text"), GOOD, strict=True)))
    lines = [
        good,
        good.replace('"ann"', "null"),
        good.replace('"ann"', '""'),
        good.replace('"ann"', "1.5"),
        good.replace('"ann"', "true"),
        good.replace('"hello"', "null"),
        good.replace('"hello"', "7"),
        good.replace('"hello"', '{"a": 1}'),
        good.replace(json.dumps(GOOD[1]), "NaN"),
        good.replace(json.dumps(GOOD[1]), "1e400"),
        good + good,
        good[:-1],
        "[1, 2]",
        "\x00",
        "[" * 100_000,
        '{"user": ' + "9" * 5000 + "}",
        "",
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    assert skipped(path) == {Skip.USER: 2, Skip.TYPE: 4, Skip.TEXT: 1, Skip.TIME: 1, Skip.JSON: 7}


@pytest.mark.parametrize("bad", ['{"text": "b"}{"text": "c"}', '{"text":\n"b"}'])
def test_a_json_line_is_one_object_and_an_object_one_line(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n' + bad)
    corpus = open_documents(path)
    assert corpus.read_all()["text"].to_pylist() == ["a"]
    assert corpus.tally.skipped == {Skip.JSON: len(bad.split("\n"))}


def test_one_bad_json_line_costs_only_itself(tmp_path: Path) -> None:
    good = json.dumps(dict(zip(("user", "time", "text"), GOOD, strict=True)))
    lines = [good] * 20_000
    lines[12_345] = "{"
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    assert skipped(path, kept=19_999) == {Skip.JSON: 1}


def test_json_users_and_times_of_mixed_types_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    users: list[object] = [7, "7b", 10**30, "d"]
    times: list[object] = [1714564800, "2024-05-01T12:00Z", 1714564800.0, 1714564800000]
    rows = [{"user": u, "time": t, "text": "x"} for u, t in zip(users, times, strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    posts = open_posts(path).read_all()
    assert posts["user"].to_pylist() == ["7", "7b", str(10**30), "d"]
    assert len(set(posts["time"].to_pylist())) == 1


def test_a_repeated_json_key_counts_as_its_last(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "first", "text": "last"}')
    assert open_documents(path).read_all()["text"].to_pylist() == ["last"]


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl"])
def test_a_line_over_the_limit_is_skipped_and_the_next_is_read(tmp_path: Path, name: str) -> None:
    def line(text: str) -> str:
        row = (*GOOD[:2], text)
        if name == "a.tsv":
            return "\t".join(row)
        return json.dumps(dict(zip(("user", "time", "text"), row, strict=True)))

    head = "user\ttime\ttext\n" if name == "a.tsv" else ""
    path = tmp_path / name
    long = "x" * 3_000_000
    path.write_text(
        head + "\n".join([line("a"), line(long), line("b"), line("c" * 400), line(long)])
    )
    assert skipped(path, ReadOptions(max_line_bytes=300), kept=2) == {Skip.LONG: 3}


def test_null_text_is_missing_and_empty_text_is_a_post() -> None:
    frame = pa.table({"user": ["a", "b"], "time": [0, 0], "text": ["", None]})
    corpus = open_posts(frame)
    assert corpus.read_all()["text"].to_pylist() == [""]
    assert corpus.tally.skipped == {Skip.TEXT: 1}


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_invalid_bytes_in_a_text_are_repaired_and_in_a_user_skipped(
    tmp_path: Path, name: str
) -> None:
    separator = b"," if name == "a.csv" else b"\t"
    rows = [(b"ann", b"0x\xffy"), (b"\xff", b"x"), (b"\xfe", b"x"), (b"bob", "é".encode())]
    lines = [separator.join([b"user", b"time", b"text"])]
    lines += [separator.join([user, b"2024-05-01", text]) for user, text in rows]
    if name == "a.jsonl":
        lines = [b'{"user":"%b","time":"2024-05-01","text":"%b"}' % row for row in rows]
    path = tmp_path / name
    path.write_bytes(b"\n".join(lines))
    corpus = open_posts(path)
    assert corpus.read_all()["text"].to_pylist() == ["0x\ufffdy", "é"]
    assert corpus.tally.skipped == {Skip.USER_BYTES: 2}
    assert corpus.tally.repaired == 1


def test_invalid_bytes_in_a_parquet_string_are_repaired(tmp_path: Path) -> None:
    array = pa.array([b"a\xc3", b"b"]).view(pa.string())
    parquet.write_table(pa.table({"text": array}), tmp_path / "a.parquet")
    corpus = open_documents(tmp_path / "a.parquet")
    assert corpus.read_all()["text"].to_pylist() == ["a\ufffd", "b"]
    assert corpus.tally.repaired == 1


def test_a_lone_surrogate_in_json_is_repaired(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a\\ud800b"}\n{"text": "\\ud83d\\ude00"}')
    corpus = open_documents(path)
    assert corpus.read_all()["text"].to_pylist() == ["a\ufffd\ufffd\ufffdb", "😀"]
    assert corpus.tally.repaired == 1


def test_batches_are_bounded_in_rows_and_bytes() -> None:
    many = open_documents(pa.table({"text": ["x"] * (2 * BATCH_ROWS + 1)}))
    assert [batch.num_rows for batch in many] == [BATCH_ROWS, BATCH_ROWS, 1]
    size = BATCH_BYTES // 3
    long = open_documents(pa.table({"text": ["x" * size] * 7}))
    assert [batch.num_rows for batch in long] == [3, 3, 1]


def test_small_batches_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["x"] * 1000}), path, row_group_size=10)
    assert [batch.num_rows for batch in open_documents(path)] == [1000]


def test_a_bad_csv_row_of_invalid_bytes_is_skipped_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,x\n\xff,\xfe,\xfd\n\xef\xb7\x90\xff,1\n")
    corpus = open_documents(path)
    assert corpus.read_all()["text"].to_pylist() == ["\ufdd0\ufffd"]
    assert corpus.tally.skipped == {Skip.FIELDS: 1}
    assert corpus.tally.repaired == 1


def test_a_row_of_a_frame_over_the_limit_is_skipped() -> None:
    frame = pa.table({"text": ["a", "x" * 101, "b"]})
    corpus = open_documents(frame, options=ReadOptions(max_line_bytes=100))
    assert corpus.read_all()["text"].to_pylist() == ["a", "b"]
    assert corpus.tally.skipped == {Skip.LONG: 1}
