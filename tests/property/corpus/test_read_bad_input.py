"""Whatever the bytes, a reader gives valid rows or one of our errors, and the tally adds up."""

import gzip
import io
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from sottovoce.corpus.read.corpus import Corpus, open_documents, open_posts, read_truth
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import SottovoceError

CSV = b'user,time,text\nann,2024-05-01 12:00:00,"a, ""b""\nc"\nbob,1714564800,\n,x,y\n1,2\n'
TSV = CSV.replace(b",", b"\t")
JSONL = b'{"user":"ann","time":"2024-05-01T12:00Z","text":"\\ud83d\\ude00"}\n{"user":1,"time":2}\n'
AOL = (
    b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    b"1\tcats\t2006-03-01 07:17:12\t1\thttp://a\n1\tcats\t2006-03-01 07:17:12\t2\thttp://b\n"
)
TRUTH = b"user,topic,persona,sensitive,grade\nann,debt,x,true,0.5\nbob,debt,y,false,1\n"


def parquet_bytes(**options: object) -> bytes:
    texts = [f"text {row % 7} " * 5 for row in range(200)]
    table = pa.table({"user": ["ann", "bob"] * 100, "time": [0, 1] * 100, "text": texts})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, row_group_size=100, **options)
    return buffer.getvalue()


SEEDS: dict[str, list[bytes]] = {
    "a.csv": [CSV],
    "a.tsv": [TSV, AOL],
    "a.jsonl": [JSONL],
    "a.txt": [TSV, AOL],
    "a.csv.gz": [gzip.compress(CSV)],
    "a.parquet": [parquet_bytes(), parquet_bytes(use_dictionary=False, data_page_version="2.0")],
    "truth.csv": [TRUTH],
}
TELLING = [
    b'"',
    b"\n",
    b"\r",
    b"\t",
    b",",
    b"\x00",
    b"\xff",
    b"{",
    b"}",
    b"\\u",
    b"\xef\xbb\xbf",
    b"",
]


@st.composite
def damaged(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A good file with pieces cut out, repeated or overwritten; or bytes that never were one."""
    content = draw(st.sampled_from(seeds) | st.binary(max_size=200))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 40)))
        piece = draw(
            st.sampled_from(TELLING) | st.binary(max_size=8) | st.just(content[start:end] * 2)
        )
        content = content[:start] + piece + content[end:]
    return content


def survives(name: str, content: bytes, options: ReadOptions) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        if name.startswith("truth"):
            _attempt(lambda: read_truth(path, options=options).validate(full=True))
            return
        for opener in (open_posts, open_documents):
            _attempt(partial(_read_to_the_end, opener, path, options))


def _attempt(action: Callable[[], None]) -> None:
    caught: SottovoceError | None = None
    try:
        action()
    except SottovoceError as error:
        caught = error
    if caught is not None:
        assert caught.__cause__ is None
        assert caught.__suppress_context__ or caught.__context__ is None


def _read_to_the_end(opener: Callable[..., Corpus], path: Path, options: ReadOptions) -> None:
    corpus = opener(path, options=options)
    table = corpus.read_all()
    table.validate(full=True)
    table.to_pylist()
    assert table.num_rows == corpus.tally.rows_kept > 0


OPTIONS = st.builds(
    ReadOptions,
    header=st.sampled_from([True, True, False, ("user", "time", "text")]),
    timezone=st.sampled_from(["UTC", "Europe/Rome"]),
    encoding=st.sampled_from(["utf-8", "utf-8", "latin-1", "utf-16", "shift-jis"]),
    max_line_bytes=st.sampled_from([16 * 1024 * 1024, 20]),
)


def check(name: str, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), deadline=None)
    @given(damaged(SEEDS[name]), OPTIONS)
    def run(content: bytes, options: ReadOptions) -> None:
        survives(name, content, options)

    run()


@pytest.mark.parametrize("name", SEEDS)
def test_bad_input_ends_in_rows_or_in_our_errors(name: str) -> None:
    check(name, 50)


@pytest.mark.long
@pytest.mark.parametrize("name", SEEDS)
def test_ten_thousand_bad_inputs_end_in_rows_or_in_our_errors(name: str) -> None:
    check(name, 10_000)
