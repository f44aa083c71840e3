"""Files that cannot be used end in a CorpusError that tells what to do and quotes nothing."""

import gzip
import os
import traceback
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from sottovoce.assess.ranks_file import read_ranks_as_text
from sottovoce.corpus.read.corpus import Corpus, open_documents, open_posts, sample_columns
from sottovoce.corpus.read.guessed import guessed_reading
from sottovoce.corpus.read.tally import Format, ReadOptions
from sottovoce.corpus.schema import POSTS as POSTS_SCHEMA
from sottovoce.errors import CorpusError, InputError, ParameterError

SECRET = "mysecretillness"  # noqa: S105 - a word to look for, not a password
POSTS = f"user,time,text\nann,2024-05-01,I told nobody of {SECRET}\n"


def refusal(path: Path, opener: Callable[..., Corpus] = open_posts, **options: object) -> str:
    """The message of the CorpusError that reading to the end must raise; never a chained cause."""
    with pytest.raises(CorpusError) as caught:
        opener(path, options=ReadOptions(**options)).read_all()  # type: ignore[arg-type] # varies
    shown = "".join(traceback.format_exception_only(caught.value))
    assert SECRET not in shown
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_what_is_no_file_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "a.csv")
    assert "not a file" in refusal(tmp_path)
    assert "NUL" in refusal(Path("a\0.csv"))
    os.mkfifo(tmp_path / "a.csv")
    assert "not a file" in refusal(tmp_path / "a.csv")


ENDLESS = '"' + "x" * 200_000
UNCLOSED = POSTS + 'ann,2024-05-01,"' + "x\n" * 1_500_000
KEYS = f'{{"who": 1, "text": "{SECRET}"}}'
OTHERS = f'{{"user": "{SECRET}", "text": "{SECRET}"}}\n'
NO_USE = f"user,time,text\n,2024-05-01,{SECRET}\nann,{SECRET},x\n"
NAMES = f"who,time,Post Text\nann,2024-05-01,{SECRET}\n"
LIMIT = "longer than 1000 bytes, or a quote that is not closed"
# A file's name and content, how it is read, and what the refusal says.
REFUSED: dict[str, tuple[str, str | bytes, dict[str, Any], tuple[str, ...]]] = {
    "empty": ("a.csv", "", {}, ("is empty",)),
    "blank lines": ("a.csv", "\n\n", {}, ("is empty",)),
    "empty within gzip": ("a.csv.gz", gzip.compress(b""), {}, ("is empty",)),
    "a name that tells no format": ("a.dat", POSTS, {}, (".csv, .tsv", "add --format")),
    "other columns": ("a.csv", NAMES, {}, ("'user'", "who, time, Post Text", "--fields user=")),
    "other keys": ("a.jsonl", KEYS, {}, ("it has: who, text.",)),
    "a short header": ("a.csv", POSTS, {"header": ("user", "text")}, ("3 columns", "names 2")),
    "a position outside": ("a.csv", POSTS, {"columns": {"user": 9}}, ("mapped to column 9",)),
    "no usable row": ("a.csv", NO_USE, {}, ("2 rows read, 0 kept", "1 unreadable time")),
    "a header alone": ("a.csv", "user,time,text\n", {}, ("no usable row", "only a header")),
    "one column": ("a.csv", "3 and more\n4\n", {}, ("it has 1 column and its first row does",)),
    "an array of JSON": ("a.json", "[]", {}, ("--format jsonl", "jq -c")),
    "called Parquet": ("a.parquet", POSTS, {}, ("damaged",)),
    "CSV as JSON": ("a.csv", POSTS, {"format": Format.JSONL}, ("no line of",)),
    "JSON as CSV": ("a.jsonl", OTHERS, {"format": Format.CSV}, ("not shown",)),
    "a first row without end": ("a.csv", ENDLESS, {}, ("quotes closed",)),
    "an unclosed quote over the limit": ("a.csv", UNCLOSED, {"max_line_bytes": 1000}, (LIMIT,)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_cannot_be_used_is_refused_with_what_to_do(tmp_path: Path, case: str) -> None:
    name, content, options, words = REFUSED[case]
    message = refusal(written(tmp_path, name, content), **options)
    assert [each for each in words if each not in message] == []


def test_keys_of_json_are_mapped_by_name_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", OTHERS)
    with pytest.raises(ParameterError, match="by name"):
        open_posts(path, options=ReadOptions(columns={"user": 0}))


def test_permission_denied_is_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: str) -> None:
        raise PermissionError(13, SECRET)

    path = written(tmp_path, "a.csv", POSTS)
    monkeypatch.setattr(pa, "OSFile", refuse)
    assert "Permission denied" in refusal(path)


def test_a_first_row_that_is_somebodys_text_is_not_quoted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", f"ham\tI told nobody of {SECRET}\n")
    message = refusal(path, open_documents)
    assert "header=" in message
    assert "2 columns" in message


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_utf16_is_refused_until_named(tmp_path: Path, name: str, encoding: str) -> None:
    path = written(tmp_path, name, POSTS.encode(encoding))
    assert "pass its encoding" in refusal(path, open_documents)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv.gz", "a.jsonl.gz", "a.txt.gz"])
def test_a_cut_or_false_gzip(tmp_path: Path, name: str) -> None:
    whole = gzip.compress(os.urandom(100_000).hex().encode() + b"\n")
    assert "damaged, cut short" in refusal(written(tmp_path, name, whole[:50_000]), open_documents)
    assert "damaged, cut short" in refusal(written(tmp_path, name, POSTS), open_documents)


def _table() -> pa.Table:
    texts = [f"{SECRET} {os.urandom(20).hex()}" for _ in range(5000)]
    return pa.table({"user": ["ann"] * 5000, "time": [0] * 5000, "text": texts})


@pytest.mark.parametrize("cut", [0.0001, 0.3, 0.7, 0.9999])
def test_a_cut_parquet_file(tmp_path: Path, cut: float) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(_table(), path)
    whole = path.read_bytes()
    assert "damaged, cut short" in refusal(
        written(tmp_path, "a.parquet", whole[: int(len(whole) * cut) + 1])
    )


@pytest.mark.parametrize("place", [4, 40, 0.1, 0.5, 0.8])
def test_a_parquet_file_whose_pages_fail_their_checksums(tmp_path: Path, place: float) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(_table(), path, compression="zstd", write_page_checksum=True)
    whole = bytearray(path.read_bytes())
    start = int(place * len(whole)) if place < 1 else int(place)
    whole[start : start + 200] = os.urandom(200)
    assert refusal(written(tmp_path, "a.parquet", bytes(whole)))


@pytest.mark.parametrize(
    ("column", "values", "wanted"),
    [
        ("user", [1.5], "a string or an integer"),
        ("user", [True], "a string or an integer"),
        ("text", [1], "a string"),
        ("text", [["a"]], "a string"),
        ("text", [{"a": 1}], "a string"),
        ("time", [True], "a timestamp"),
        ("time", [["a"]], "a timestamp"),
    ],
)
def test_columns_of_an_impossible_type(
    tmp_path: Path, column: str, values: list[object], wanted: str
) -> None:
    table = pa.table({"user": ["a"], "time": [0], "text": ["x"]} | {column: values})
    parquet.write_table(table, tmp_path / "a.parquet")
    message = refusal(tmp_path / "a.parquet")
    assert f"mapped to {column} has type" in message
    assert wanted in message
    with pytest.raises(CorpusError, match=wanted):
        open_posts(table)


def test_same_named_columns_in_parquet(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    parquet.write_table(table, tmp_path / "a.parquet")
    assert "2 columns named 'text'" in refusal(tmp_path / "a.parquet", open_documents)
    message = refusal(tmp_path / "a.parquet", open_documents, columns={"text": 0})
    assert "rename them first" in message


def test_half_a_character_in_json_does_not_keep_columns_from_being_guessed(tmp_path: Path) -> None:
    rows = '{"when": "2024-05-01", "author": "ann", "body": "a loan \\ud83d"}\n' * 3
    found = guessed_reading(written(tmp_path, "p.jsonl", rows), POSTS_SCHEMA, ReadOptions())
    assert open_posts(tmp_path / "p.jsonl", options=found.options).read_all().num_rows == 3


def test_names_of_columns_that_are_no_text_are_refused(tmp_path: Path) -> None:
    table = pa.table({"user": ["ann"], "time": ["2024-05-01"], "text": ["x"], "note": ["y"]})
    path = tmp_path / "p.parquet"
    parquet.write_table(table, path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"note", b"n\xcete"))
    assert "cannot read" in refusal(path)
    assert sample_columns(path) == ()
    ranks = written(tmp_path, "r.csv", b"measure,user,topic,sc\x9are\nm,ann,debt,1\n")
    with pytest.raises(InputError, match="not a file of ranks"):
        read_ranks_as_text(ranks)


OLD_EXCEL = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)
OFFICE = "application/vnd.oasis.opendocument.spreadsheet"


def zipped(path: Path, member: str, text: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, text)


@pytest.mark.parametrize(
    ("name", "member", "text", "told"),
    [
        ("export.xlsx", "[Content_Types].xml", "<Types/>", "is an Excel file: open it, choose"),
        ("export.csv", "[Content_Types].xml", "<Types/>", "Save As, CSV"),
        ("export", "[Content_Types].xml", "<Types/>", "Save As, CSV"),
        ("old.xls", None, "", "is an Excel file"),
        ("table.ods", "mimetype", OFFICE, "is a spreadsheet of LibreOffice"),
        ("export.zip", "export.csv", "user,time,text\n", "is a zip archive: unpack it"),
    ],
)
def test_spreadsheets_and_archives_are_told_apart_whatever_their_names(
    tmp_path: Path, name: str, member: str | None, text: str, told: str
) -> None:
    path = written(tmp_path, name, OLD_EXCEL)
    if member is not None:
        zipped(path, member, text)
    with pytest.raises(CorpusError, match=told):
        open_posts(path)
