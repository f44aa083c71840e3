"""The rank server as a process: crashes, stores, and what is in its files and output."""

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)
from sottovoce_lab.bench.rows import OwnCommand
from support.killed_rank_server import survive_kill
from support.rank_processes import TOPICS, Running
from support.warm_python import run_warm

from sottovoce.advisor.rank.client import RankClient
from sottovoce.errors import ProtocolError
from sottovoce.federation.certificates import Authority, read_key

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("reports", [120, pytest.param(300, marks=pytest.mark.long)])
def test_a_kill_in_the_middle_loses_no_acknowledged_report(tmp_path: Path, reports: int) -> None:
    survival = survive_kill(tmp_path, reports, pace=150)
    assert survival.lost == 0
    assert survival.acknowledged == survival.stored == reports
    assert survival.retried > 0


def test_a_server_that_acknowledged_before_the_commit_would_be_caught(tmp_path: Path) -> None:
    """The same reckoning on a store that lost what it had acknowledged."""
    survival = survive_kill(tmp_path, 60, pace=100, lose=5)
    assert survival.lost == 5


def test_a_server_that_a_bench_ends_says_nothing_in_the_name_of_the_bench(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.toml").write_text(TOPICS)
    words = ("rank-server", "--topics", "topics.toml", "--measure", "lda", "--port", "0")
    command = OwnCommand(*words, folder=tmp_path)
    command.read_announcement()
    command.stop()
    assert capfd.readouterr() == ("", "")


def dump(path: Path) -> list[tuple[str, tuple[Any, ...]]]:
    """Every row of every table of a database."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema")]
        return [
            (table, row)
            for table in tables
            if not table.startswith("sqlite_")
            for row in connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - its own names
        ]


def test_neither_store_nor_output_holds_who_whence_when_or_a_true_bucket(tmp_path: Path) -> None:
    """Reports are all the store has: a topic, a period, a random token, and noised entries."""
    server = Running(tmp_path, "--epsilon", "1/10", "--period", "52w")
    try:
        for person in range(12):
            client = RankClient(server.url, tmp_path / f"alice-{person}", budget=1)
            client.report("debt", 0.01)
            client.close()
    finally:
        printed = server.stop()
    rows = dump(tmp_path / "rank.sqlite")
    reports = [row for table, row in rows if table == "rank_report"]
    assert {table for table, _ in rows} == {"rank_setting", "rank_report"}
    assert len(reports) == 12
    assert all(row[0] == "debt" and len(row) == 4 for row in reports)
    assert {len(row[3]) for row in reports if isinstance(row[3], bytes)} == {20}
    # At epsilon 1/10 half of all entries are noise: no report is the one-hot vector of its bucket.
    assert not any(row[3] == bytes([1, *[0] * 19]) for row in reports)
    everything = (printed + str(rows)).encode() + b"".join(
        path.read_bytes() for path in tmp_path.glob("rank.sqlite*")
    )
    for secret in (b"127.0.0.1", b"alice", b"User-Agent", b"Python-urllib", b"0.01"):
        assert secret not in everything.replace(server.url.encode(), b"")


def test_two_servers_hold_shares_of_which_neither_tells(tmp_path: Path) -> None:
    key = tmp_path / "peer.key"
    key.write_text(os.urandom(32).hex())
    key.chmod(0o600)
    common = ("--mode", "shares", "--period", "52w", "--peer-key", key)
    second = Running(tmp_path, *common, "--store", "second.sqlite")
    first = Running(tmp_path, *common, "--store", "first.sqlite", "--peer", second.url)
    try:
        for person in range(3):
            client = RankClient(first.url, tmp_path / f"she-{person}", budget=1, second=second.url)
            client.report("debt", 0.3)
            client.close()
    finally:
        first.stop()
        second.stop()
    shares = [
        {str(row[2]): row[3] for table, row in dump(tmp_path / name) if table == "rank_report"}
        for name in ("first.sqlite", "second.sqlite")
    ]
    assert shares[0].keys() == shares[1].keys()
    assert len(shares[0]) == 3
    # A public share of 64 bytes, then 720 of the first server's own and 64 of the second's.
    for half, length in zip(shares, (784, 128), strict=True):
        assert {len(payload) for payload in half.values()} == {length}
        # A share with small numbers in it would be no share; nor are two of one bucket alike.
        entries = [payload[at : at + 16] for payload in half.values() for at in range(64, 128, 16)]
        assert all(any(entry[8:]) for entry in entries)
        assert len(set(entries)) == len(entries)


def test_a_postgresql_that_is_not_there_is_refused_without_its_url(
    run: Command,
    tmp_path: Path,
) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    (tmp_path / "topics.toml").write_text(TOPICS)
    url = f"postgresql://she:secret@/none?host={tmp_path}"
    code, _, err = run("rank-server", "--topics", tmp_path / "topics.toml", "--store", url)
    assert code == 2
    assert "check its URL" in err
    assert "secret" not in err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--mode", "trust"), "--mode must be one of"),
        (("--period", "soon"), "--period must be"),
        (("--measure", "diff-priv"), "give a range"),
        (("--epsilon", "0"), "epsilon must be > 0"),
        (("--mode", "shares"), "needs --peer-key"),
        (("--peer", "http://localhost:1"), "belong to --mode shares"),
        (("--buckets", "1"), "2 to 200 buckets"),
        (("--port", "99999"), "--port"),
    ],
)
def test_options_that_make_no_server_are_refused_in_a_sentence(
    run: Command,
    tmp_path: Path,
    options: tuple[str, ...],
    why: str,
) -> None:
    (tmp_path / "topics.toml").write_text(TOPICS)
    store = ("--store", tmp_path / "rank.sqlite")
    code, out, err = run("rank-server", "--topics", tmp_path / "topics.toml", *store, *options)
    assert (code, out) == (2, "")
    assert why in err
    assert "Traceback" not in err


def test_servers_of_another_key_have_other_rules(run: Command, tmp_path: Path) -> None:
    (tmp_path / "topics.toml").write_text(TOPICS)
    versions = []
    for place in (1, 1, 2):
        key = tmp_path / f"peer {place}.key"
        key.write_text(f"{place:064x}")
        key.chmod(0o600)
        words = ("--topics", tmp_path / "topics.toml", "--mode", "shares", "--peer-key", key)
        code, out, _ = run("rank-server", *words, "--dry-run", "--json")
        assert code == 0
        assert key.read_text() not in out
        versions.append(json.loads(out)["version"])
    assert versions[0] == versions[1] != versions[2]


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])  # noqa: S104 - what is tested
def test_a_server_that_others_can_reach_says_what_is_sent_in_the_clear(
    tmp_path: Path, host: str, warned: bool
) -> None:
    said = Running(tmp_path, "--host", host).stop()
    assert (f"At {host} others can read what is sent" in said) == warned


def test_a_dry_run_shows_the_rules_and_opens_nothing(run: Command, tmp_path: Path) -> None:
    (tmp_path / "topics.toml").write_text(TOPICS)
    words = ("rank-server", "--topics", tmp_path / "topics.toml", "--store", tmp_path / "s")
    code, out, _ = run(*words, "--dry-run", "--json")
    assert code == 0
    assert [topic["name"] for topic in json.loads(out)["topics"]] == ["debt"]
    code, out, _ = run(*words, "--dry-run", "--lowest", "0", "--highest", "5", "--measure", "ent")
    assert code == 0
    assert "Topics: debt" in out
    assert not (tmp_path / "s").exists()


def test_a_server_with_a_certificate_speaks_tls_and_whoever_distrusts_it_sends_nothing(
    tmp_path: Path,
) -> None:
    authority, ours = Authority.new("ranks")
    server_side = authority.issue("server", ["127.0.0.1"])
    files = {"ca.pem": ours.certificate, "a.pem": server_side.certificate, "a.key": server_side.key}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    server = Running(tmp_path, "--period", "52w", "--certificate", "a.pem", "--key", "a.key")
    try:
        assert server.url.startswith("https://")
        distrustful = RankClient(server.url, tmp_path / "he", budget=1)
        with pytest.raises(ProtocolError, match="not one that this machine trusts"):
            distrustful.report("debt", 0.4)
        assert distrustful.account.spent == 0
        distrustful.close()
        asking = (
            "import sys; from pathlib import Path; "
            "from sottovoce.advisor.rank.client import RankClient; "
            "print(RankClient(sys.argv[1], Path(sys.argv[2]), budget=1).report('debt', 0.4))"
        )
        trusting = run_warm(
            [sys.executable, "-c", asking, server.url, tmp_path / "she"],
            env=os.environ | {"SSL_CERT_FILE": str(tmp_path / "ca.pem")},
            check=True,
        )
        assert int(trusting.stdout) > 0
    finally:
        server.stop()
    assert (
        len([row for table, row in dump(tmp_path / "rank.sqlite") if table == "rank_report"]) == 1
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--key", "a.key"), "belongs to a --certificate"),
        (("--certificate", "none.pem", "--key", "a.key"), "cannot read the certificate none.pem"),
        (("--certificate", "a.pem", "--key", "other.key"), "belong together"),
        (("--certificate", "topics.toml"), "must be PEM files"),
        (("--certificate", "a.pem", "--key", "sealed.key"), "without a passphrase"),
    ],
)
def test_a_certificate_that_cannot_serve_is_refused_before_anything_is_announced(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    authority, _ = Authority.new("ranks")
    one, other = (authority.issue("server", ["127.0.0.1"]) for _ in range(2))
    sealed = read_key(one.key).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"a passphrase")
    )
    for name, content in {
        "topics.toml": TOPICS.encode(),
        "a.pem": one.certificate,
        "a.key": one.key,
        "other.key": other.key,
        "sealed.key": sealed,
    }.items():
        Path(name).write_bytes(content)
    code, out, err = run("rank-server", "--topics", "topics.toml", "--port", 0, *options)
    assert (code, out) == (2, "")
    assert why in err
    assert not Path("rank.sqlite").exists()
