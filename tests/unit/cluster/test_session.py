"""What is refused before Spark is started, and how its failures are told."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from sottovoce_spark._output import translate_message
from sottovoce_spark.session import check_java, check_master

from sottovoce.cli._engines import Address, address_of, ledger_beside
from sottovoce.errors import CorpusError, InputError, ParameterError

Run = Callable[..., tuple[int, str, str]]


def test_without_java_nothing_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="Spark needs Java 17 or newer, got none on the PATH"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="in JAVA_HOME"):
        check_java()


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_master_that_does_not_answer_is_named(closed_port: int) -> None:
    url = f"spark://127.0.0.1:{closed_port}"
    with pytest.raises(InputError, match=f"no Spark master answers at {url} within 5 s"):
        check_master(url)


@pytest.mark.parametrize("url", ["spark://host", "spark://:7077", "spark://host:0", "spark://h:x"])
def test_a_master_s_address_must_be_one(url: str) -> None:
    with pytest.raises(ParameterError, match="spark://HOST:PORT"):
        check_master(url)


def test_the_command_says_so_in_one_sentence_and_writes_nothing(
    run: Run, tmp_path: Path, closed_port: int
) -> None:
    topics = tmp_path / "topics.toml"
    entry = ('name = "debts"', 'words = ["debt"]', 'domain = "money"', "sensitive = true")
    topics.write_text("\n".join(("[[topic]]", *entry)))
    url = f"spark://127.0.0.1:{closed_port}"
    out = tmp_path / "ranks.parquet"
    options = ("--topics", topics, "--measure", "bow", "--out", out, "--engine", "spark")
    code, _, err = run("assess", tmp_path / "posts.parquet", *options, "--master", url)
    assert code == 2
    assert url in err
    assert err.count("\n") == 1
    assert not out.exists()


def test_what_only_one_machine_offers_is_refused(run: Run, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "r.parquet")
    code, _, err = run("assess", "p.parquet", "--state", "s", *out, "--engine", "spark")
    assert (code, err) == (2, "--state does not work on Spark; use --engine embedded.\n")
    code, _, err = run("assess", "p.parquet", *out, "--ranks", "sketch")
    assert (code, "needs --engine spark" in err) == (2, True)
    code, _, err = run("assess", "p.parquet", *out, "--master", "local")
    assert (code, err) == (2, "--master needs --engine spark.\n")


def test_a_worker_s_own_sentence_is_passed_on() -> None:
    message = (
        "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        '  File "x.py", line 1, in f\nsottovoce.errors.CorpusError: no usable row: none.\n\tat o'
    )
    error = translate_message(message, "score posts")
    assert isinstance(error, CorpusError)
    assert str(error) == "no usable row: none."


def test_spark_s_sentences_are_not_passed_on() -> None:
    error = translate_message(
        "[CAST_INVALID_INPUT] The value 'my secret' cannot be cast", "score posts"
    )
    assert "secret" not in str(error)
    assert "Spark could not score posts" in str(error)
    missing = translate_message("[PATH_NOT_FOUND] Path does not exist: x", "assess x")
    assert str(missing) == "Spark could not assess x: there is no such path."


def test_addresses_are_kept_as_written_and_paths_spelt_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/tmp")  # noqa: S108 - any folder
    assert address_of(Address("hdfs:///data/posts")) == "hdfs:///data/posts"
    assert address_of(Address("s3a://bucket/posts.parquet")) == "s3a://bucket/posts.parquet"
    assert address_of(Address("posts.parquet")) == "/tmp/posts.parquet"  # noqa: S108 - the same


def test_a_corpus_at_an_address_needs_its_ledger_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="--ledger"):
        ledger_beside(Address("hdfs://host/corpus"))
    assert ledger_beside(Address(tmp_path / "c.csv")) == (tmp_path / "c.csv.ledger").resolve()
