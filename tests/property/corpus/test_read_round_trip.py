"""What was written is what is read, whatever the format."""

import csv
import io
import json
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from sottovoce.corpus.read import bytes as opening
from sottovoce.corpus.read.corpus import open_documents, open_posts
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.schema import POSTS

Row = dict[str, object]
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
# What an unquoted line cannot hold is no part of the promise for TSV and plain lines.
ONE_LINE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), max_size=30
)
TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis wants bounds without a zone
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def posts(strings: st.SearchStrategy[str]) -> st.SearchStrategy[list[Row]]:
    row = st.fixed_dictionaries({"user": strings.filter(bool), "time": TIMES, "text": strings})
    return st.lists(row, min_size=1, max_size=8)


def read_back(name: str, content: bytes) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        corpus = open_posts(path)
        rows: list[Row] = corpus.read_all().to_pylist()
        assert corpus.tally.rows_read == corpus.tally.rows_kept == len(rows)
        return rows


def as_csv(rows: list[Row]) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, POSTS.names, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


@settings(max_examples=50)
@given(posts(ANY))
def test_rows_come_back_from_csv(rows: list[Row]) -> None:
    assert read_back("a.csv", as_csv(rows)) == rows


@settings(max_examples=50)
@given(posts(ONE_LINE))
def test_rows_come_back_from_tsv(rows: list[Row]) -> None:
    cells = [POSTS.names, *[[str(row[name]) for name in POSTS.names] for row in rows]]
    lines = ["\t".join(row) for row in cells]
    assert read_back("a.tsv", "\n".join(lines).encode()) == rows


@settings(max_examples=50)
@given(posts(ANY), OFFSETS, st.booleans())
def test_rows_come_back_from_jsonl(rows: list[Row], offset: timezone, ascii_only: bool) -> None:
    def shown(time: object) -> str:
        assert isinstance(time, datetime)
        return time.astimezone(offset).isoformat()

    lines = [json.dumps(row, default=shown, ensure_ascii=ascii_only) for row in rows]
    assert read_back("a.jsonl", "\n".join(lines).encode()) == rows


@settings(max_examples=50)
@given(posts(ANY), st.booleans(), st.sampled_from(["1.0", "2.0"]), st.integers(1, 5))
def test_rows_come_back_from_parquet(
    rows: list[Row], dictionary: bool, pages: str, group: int
) -> None:
    buffer = io.BytesIO()
    table = pa.Table.from_pylist(rows, POSTS)
    parquet.write_table(
        table, buffer, use_dictionary=dictionary, data_page_version=pages, row_group_size=group
    )
    assert read_back("a.parquet", buffer.getvalue()) == rows


@settings(max_examples=50)
@given(posts(ANY))
def test_rows_come_back_from_a_data_frame(rows: list[Row]) -> None:
    assert open_posts(pa.Table.from_pylist(rows, POSTS)).read_all().to_pylist() == rows


@given(st.lists(ONE_LINE, min_size=1), st.sampled_from(["\n", "\r\n"]))
def test_rows_come_back_from_plain_lines(lines: list[str], ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        path.write_bytes(ending.join(["first", *lines]).encode())
        texts = open_documents(path).read_all()["text"].to_pylist()
    blank = set(" \t\v\f")
    assert texts == ["first", *[line for line in lines if set(line) - blank]]


def _with_chunks_of(size: int, read: Callable[[], list[Row]]) -> list[Row]:
    usual = opening.CHUNK_BYTES
    opening.CHUNK_BYTES = size
    try:
        return read()
    finally:
        opening.CHUNK_BYTES = usual


@settings(max_examples=50)
@given(posts(ONE_LINE), st.integers(1, 40))
def test_where_chunks_end_changes_nothing(rows: list[Row], size: int) -> None:
    lines = "\n".join(json.dumps(row, default=str, ensure_ascii=False) for row in rows).encode()
    assert _with_chunks_of(size, lambda: read_back("a.jsonl", lines)) == rows
    assert _with_chunks_of(size, lambda: read_back("a.csv", as_csv(rows))) == rows


@settings(max_examples=100)
@given(st.text('",\n\rab', max_size=40), st.integers(1, 12))
def test_csv_rows_are_cut_where_arrow_would_cut_them(content: str, size: int) -> None:
    options = ReadOptions(header=("text", "more"))

    def read() -> list[Row]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.csv")
            path.write_text("x,y\n" + content, newline="")
            corpus = open_documents(path, options=options)
            rows: list[Row] = corpus.read_all().to_pylist()
            return [*rows, {str(reason): count for reason, count in corpus.tally.skipped.items()}]

    assert _with_chunks_of(size, read) == read()
