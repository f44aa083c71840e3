"""The AOL log: one row per click, one post per query."""

import gzip
from pathlib import Path

import pytest

from sottovoce.corpus.read import bytes as opening
from sottovoce.corpus.read.corpus import open_documents, open_posts
from sottovoce.corpus.read.tally import Format, ReadOptions, Skip
from sottovoce.errors import CorpusError

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
LOG = HEADER + (
    "1\tcats\t2006-03-01 07:17:12\t1\thttp://a.example\n"
    "1\tcats\t2006-03-01 07:17:12\t3\thttp://b.example\n"
    "1\tcats\t2006-03-01 07:20:00\t\t\n"
    '1\tdogs "big\t2006-03-01 07:20:00\t\t\n'
    "1\tcats\t2006-03-01 07:20:00\t\t\n"
    "2\tcats\t2006-03-01 07:20:00\t\t\n"
)


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    data = content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["log.txt", "log.tsv", "log.txt.gz", "log.aol", "log.aol.gz"])
def test_clicks_on_one_query_are_one_post(tmp_path: Path, name: str) -> None:
    corpus = open_posts(written(tmp_path, name, LOG))
    table = corpus.read_all()
    assert table["user"].to_pylist() == ["1", "1", "1", "1", "2"]
    assert table["text"].to_pylist() == ["cats", "cats", 'dogs "big', "cats", "cats"]
    assert corpus.tally.skipped == {Skip.REPEAT: 1}


def test_clicks_are_one_post_across_batches_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clicks = "".join(
        f"{row // 7}\tq\t2006-03-01 07:17:12\t{row}\thttp://a.example\n" for row in range(140)
    )
    path = written(tmp_path, "log.txt", HEADER + clicks)
    for chunk_bytes in (1, 7, 64, 1000):
        monkeypatch.setattr(opening, "CHUNK_BYTES", chunk_bytes)
        corpus = open_posts(path)
        assert corpus.read_all().num_rows == 20
        assert corpus.tally.skipped == {Skip.REPEAT: 120}


def test_queries_can_be_documents(tmp_path: Path) -> None:
    assert open_documents(written(tmp_path, "log.txt", LOG)).read_all().num_rows == 5


def test_a_file_said_to_be_the_log_must_have_its_header(tmp_path: Path) -> None:
    path = written(tmp_path, "log.txt", LOG.removeprefix(HEADER))
    with pytest.raises(CorpusError, match="does not start with the AOL log's header"):
        open_posts(path, options=ReadOptions(format=Format.AOL))
