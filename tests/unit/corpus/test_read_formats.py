"""Posts and documents from each format."""

import bz2
import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.corpus.read._parquet import compile_longest_value, longest_value
from sottovoce.corpus.read.corpus import FORMATS, Corpus, Source, open_documents, open_posts
from sottovoce.corpus.read.tally import Format, ReadOptions, Skip
from sottovoce.corpus.schema import DOCUMENTS, POSTS
from sottovoce.errors import CorpusError, ParameterError

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ANN = {"user": "ann", "time": NOON, "text": "hello, you"}
BOB = {"user": "bob", "time": NOON, "text": ""}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows(corpus: Corpus) -> list[dict[str, object]]:
    table = corpus.read_all()
    table.validate(full=True)
    assert table.schema == corpus.schema
    assert corpus.tally.rows_kept == table.num_rows
    found: list[dict[str, object]] = table.to_pylist()
    return found


CSV = 'user,time,text\nann,2024-05-01 12:00:00,"hello, you"\nbob,2024-05-01T12:00Z,\n'
TSV = "user\ttime\ttext\nann\t2024-05-01 12:00:00\thello, you\nbob\t2024-05-01T12:00Z\t\n"
JSONL = (
    '{"user": "ann", "time": "2024-05-01 12:00:00", "text": "hello, you", "more": [1]}\n'
    '{"text": "", "user": "bob", "time": "2024-05-01T12:00Z"}'
)


def test_every_format_has_a_reader_and_a_row_of_the_reference() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/corpus.md").read_text(encoding="utf-8")
    assert set(FORMATS) == set(Format)
    assert [str(kind) for kind in Format if f"\n| `{kind}` |" not in page] == []


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstd)]
)
@pytest.mark.parametrize(("name", "content"), [("a.csv", CSV), ("a.tsv", TSV), ("a.jsonl", JSONL)])
def test_compressed_files_are_read_by_their_suffix(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes], name: str, content: str
) -> None:
    path = written(tmp_path, name + suffix, compress(content.encode()))
    assert rows(open_posts(path)) == [ANN, BOB]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", CSV), ("a.tsv", TSV), ("a.jsonl", JSONL), ("A.NDJSON", JSONL)]
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_endings_and_byte_order_mark_change_nothing(
    tmp_path: Path, ending: str, name: str, content: str, mark: str
) -> None:
    path = written(tmp_path, name, mark + content.replace("\n", ending))
    assert rows(open_posts(path)) == [ANN, BOB]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252", "utf-8-sig"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_other_encodings_are_read_when_named(tmp_path: Path, encoding: str, name: str) -> None:
    content = (CSV if name == "a.csv" else TSV).replace("hello", "héllo")
    path = written(tmp_path, name, content.encode(encoding))
    first = rows(open_posts(path, options=ReadOptions(encoding=encoding)))[0]
    assert first["text"] == "héllo, you"


def test_bytes_outside_the_named_encoding_are_repaired_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", b"fine\nb\x81d\n")
    corpus = open_documents(path, options=ReadOptions(encoding="cp1252"))
    assert [row["text"] for row in rows(corpus)] == ["fine", "b\ufffdd"]
    assert corpus.tally.repaired == 1


FRAMES: list[Source] = [
    pa.Table.from_pylist([ANN, BOB]),
    pl.DataFrame([ANN, BOB]),
    pl.DataFrame([ANN, BOB]).with_columns(pl.col("user").cast(pl.Categorical)),
]


@pytest.mark.parametrize("frame", FRAMES)
def test_data_frames_are_read_like_files_and_more_than_once(frame: Source) -> None:
    corpus = open_posts(frame)
    assert rows(corpus) == [ANN, BOB]
    assert rows(corpus) == [ANN, BOB]


def test_each_pass_opens_the_file_anew_and_counts_afresh(tmp_path: Path) -> None:
    corpus = open_posts(written(tmp_path, "a.csv", CSV + "x,never,y\n"))
    for _ in range(2):
        assert rows(corpus) == [ANN, BOB]
        assert corpus.tally.skipped == {Skip.TIME: 1}
        assert corpus.tally.rows_read == 3


def test_a_one_way_reader_is_refused() -> None:
    with pytest.raises(CorpusError, match="only once"):
        open_posts(pa.Table.from_pylist([ANN]).to_reader())


def test_something_that_is_no_source_is_refused() -> None:
    with pytest.raises(CorpusError, match="got int"):
        open_posts(3)  # type: ignore[arg-type] # the point of the test


def test_lines_are_documents_and_blank_ones_are_counted(tmp_path: Path) -> None:
    corpus = open_documents(written(tmp_path, "a.txt", "one\n\n two\r\n \t\nthree"))
    assert [row["text"] for row in rows(corpus)] == ["one", " two", "three"]
    assert corpus.tally.skipped == {Skip.BLANK: 2}


def test_lines_cannot_be_posts(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="without users and times"):
        open_posts(written(tmp_path, "a.txt", "one\n"))


def test_documents_may_or_may_not_have_labels(tmp_path: Path) -> None:
    labelled = open_documents(written(tmp_path, "a.csv", "label,text\nham,hi\n"))
    assert rows(labelled) == [{"text": "hi", "label": "ham"}]
    bare = open_documents(written(tmp_path, "b.csv", "text\nhi\n"))
    assert rows(bare) == [{"text": "hi", "label": None}]
    assert (labelled.schema, open_posts(FRAMES[0]).schema) == (DOCUMENTS, POSTS)


def test_a_file_without_header_is_read_by_given_names_or_positions(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", 'ham\tsay "hi\nspam\tbuy\n')
    expected = [{"text": 'say "hi', "label": "ham"}, {"text": "buy", "label": "spam"}]
    named = ReadOptions(header=("label", "text"))
    placed = ReadOptions(header=False, columns={"text": 1, "label": 0})
    assert rows(open_documents(path, options=named)) == expected
    assert rows(open_documents(path, options=placed)) == expected


def test_a_position_picks_one_of_two_columns_of_one_name(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "text,text\none,two\n")
    with pytest.raises(CorpusError, match="2 columns named 'text'"):
        open_documents(path)
    corpus = open_documents(path, options=ReadOptions(columns={"text": 1}))
    assert rows(corpus) == [{"text": "two", "label": None}]


def test_blank_lines_before_a_header_are_passed_over(tmp_path: Path) -> None:
    assert rows(open_posts(written(tmp_path, "a.csv", "\n\n" + CSV))) == [ANN, BOB]
    assert rows(open_posts(written(tmp_path, "a.tsv", "\n\n" + TSV))) == [ANN, BOB]


def test_csv_values_hold_quotes_commas_and_newlines(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'text\n"a ""b"",\nc"\n=CMD()\n5" disk\n')
    texts = [row["text"] for row in rows(open_documents(path))]
    assert texts == ['a "b",\nc', "=CMD()", '5" disk']


def test_ten_thousand_columns_are_no_trouble(tmp_path: Path) -> None:
    names = ",".join(["id", *(f"c{place}" for place in range(1, 10_000))])
    path = written(tmp_path, "a.csv", f"{names}\n{names}\n")
    corpus = open_documents(path, options=ReadOptions(columns={"text": "c9999"}))
    assert rows(corpus)[0]["text"] == "c9999"
    with pytest.raises(CorpusError, match="and 9980 more"):
        open_documents(path)


def test_integers_are_users_and_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"user": 7, "time": 1714564800, "text": "x", "label": 3}')
    assert rows(open_posts(path)) == [{"user": "7", "time": NOON, "text": "x"}]
    assert rows(open_documents(path)) == [{"text": "x", "label": "3"}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xls"}, "format must be one of csv, tsv"),
        ({"encoding": "no-such"}, "encoding must be"),
        ({"encoding": "rot13"}, "encoding must be"),
        ({"timezone": "Nowhere/At_All"}, "timezone must be an IANA name"),
        ({"timezone": "../etc"}, "timezone must be an IANA name"),
        ({"max_line_bytes": 0}, "max_line_bytes must be from 1 to"),
    ],
)
def test_options_are_checked_up_front(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ReadOptions(**options)  # type: ignore[arg-type] # wrong values are the point


def test_a_mapping_for_what_is_not_read_is_refused(tmp_path: Path) -> None:
    options = ReadOptions(columns={"txet": "text"})
    with pytest.raises(ParameterError, match="may map user, time, text; got txet"):
        open_posts(written(tmp_path, "a.csv", CSV), options=options)


def both(plain: bytes, values: int) -> set[int]:
    compiled = compile_longest_value()(np.frombuffer(plain, np.uint8), values)
    return {int(compiled), int(longest_value(plain, values))}


@given(st.lists(st.binary(max_size=300), max_size=30), st.binary(max_size=3))
def test_both_ways_find_the_longest_value(values: list[bytes], rest: bytes) -> None:
    plain = b"".join(len(value).to_bytes(4, "little") + value for value in values) + rest
    assert both(plain, len(values)) == {max(map(len, values), default=0)}


def test_no_more_values_are_looked_at_than_are_announced() -> None:
    plain, cut = b"\1\0\0\0a" + b"\3\0\0\0abc", b"\xff\xff\xff\xff"
    assert (both(plain, 1), both(plain, 2), both(cut, 9)) == ({1}, {3}, {2**32 - 1})
