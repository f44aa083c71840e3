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
from support.rank_processes import TOPICS, Running, new_key
from support.rank_servers import report_once
from support.warm_python import run_warm

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import HttpTransport
from sottovoce.errors import ProtocolError
from sottovoce.federation.certificates import Authority, read_key

Command = Callable[..., tuple[int, str, str]]
SERVER = ("rank-server", "--topics", "topics.toml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where one stands, with topics."""
    monkeypatch.chdir(tmp_path)
    Path("topics.toml").write_text(TOPICS)
    return tmp_path


def stored(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every table of a store that has any."""
    with closing(sqlite3.connect(path)) as base:
        names = [row[0] for row in base.execute("SELECT name FROM sqlite_schema")]
        tables = [name for name in names if not name.startswith("sqlite_")]
        rows = {name: base.execute(f"SELECT * FROM {name}").fetchall() for name in tables}  # noqa: S608 - its own names
    return {name: each for name, each in rows.items() if each}


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
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ("rank-server", "--topics", "topics.toml", "--measure", "lda", "--port", "0")
    command = OwnCommand(*words, folder=folder)
    command.read_announcement()
    command.stop()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])  # noqa: S104 - what is tested
def test_a_server_that_others_can_reach_says_what_is_sent_in_the_clear(
    tmp_path: Path, host: str, warned: bool
) -> None:
    said = Running(tmp_path, "--host", host).stop()
    assert (f"At {host} others can read what is sent" in said) == warned


def test_neither_store_nor_output_holds_who_whence_when_or_a_true_bucket(tmp_path: Path) -> None:
    """Reports are all the store has: a topic, a period, a random token, and noised entries."""
    with Running(tmp_path, "--epsilon", "1/10", "--period", "52w") as server:
        for person in range(12):
            report_once(server.url, tmp_path / f"alice-{person}", 0.01)
    tables = stored(tmp_path / "rank.sqlite")
    assert set(tables) == {"rank_setting", "rank_report"}
    reports = tables["rank_report"]
    assert len(reports) == 12
    assert all(row[0] == "debt" and len(row) == 4 for row in reports)
    assert {len(row[3]) for row in reports} == {20}
    # At epsilon 1/10 half of all entries are noise: no report is the one-hot vector of its bucket.
    assert not any(row[3] == bytes([1, *[0] * 19]) for row in reports)
    everything = (server.printed + str(tables)).encode() + b"".join(
        path.read_bytes() for path in tmp_path.glob("rank.sqlite*")
    )
    for secret in (b"127.0.0.1", b"alice", b"User-Agent", b"Python-urllib", b"0.01"):
        assert secret not in everything.replace(server.url.encode(), b"")


def test_two_servers_hold_shares_of_which_neither_tells(tmp_path: Path) -> None:
    key = new_key(tmp_path / "peer.key")
    common = ("--mode", "shares", "--period", "52w", "--peer-key", key)
    with (
        Running(tmp_path, *common, "--store", "second.sqlite") as second,
        Running(tmp_path, *common, "--store", "first.sqlite", "--peer", second.url) as first,
    ):
        for person in range(3):
            report_once(first.url, tmp_path / f"she-{person}", 0.3, second=second.url)
    shares = [
        {row[2]: row[3] for row in stored(tmp_path / name)["rank_report"]}
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


def test_a_server_that_is_told_to_stop_ends_in_good_order_and_its_events_name_nobody(
    tmp_path: Path,
) -> None:
    key = new_key(tmp_path / "metrics.key")
    options = ("--period", "52w", "--log", "events.jsonl", "--metrics-key", key)
    with Running(tmp_path, *options) as server:
        report_once(server.url, tmp_path / "she")
        told = HttpTransport(server.url).exchange(
            "GET", "/metrics", None, {"Authorization": f"Bearer {key.read_text()}"}
        )
    assert b"sottovoce_rank_reports_stored_total 1\n" in told[1]
    assert server.process.returncode == 0
    Running(tmp_path, *options, "--restored").stop()
    written = (tmp_path / "events.jsonl").read_text()
    events = [json.loads(line)["event"] for line in written.splitlines()]
    assert events == ["started", "stopped", "store put back", "started", "stopped"]
    assert "127.0.0.1" not in written
    assert key.read_text() not in written + server.printed


def test_a_postgresql_that_is_not_there_is_refused_without_its_url(
    run: Command, folder: Path
) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    code, _, err = run(*SERVER, "--store", f"postgresql://she:secret@/none?host={folder}")
    assert code == 2
    assert "check its URL" in err
    assert "secret" not in err


@pytest.fixture
def certificates(folder: Path) -> None:
    """A server's certificate and key, and keys that do not go with it."""
    authority, ours = Authority.new("ranks")
    one, other = (authority.issue("server", ["127.0.0.1"]) for _ in range(2))
    sealed = read_key(one.key).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"a passphrase")
    )
    files = {"ca.pem": ours.certificate, "a.pem": one.certificate, "a.key": one.key}
    for name, content in {**files, "other.key": other.key, "sealed.key": sealed}.items():
        (folder / name).write_bytes(content)


CERTIFICATES = [
    ("--key a.key", "belongs to a --certificate"),
    ("--certificate none.pem --key a.key", "cannot read the certificate none.pem"),
    ("--certificate a.pem --key other.key", "belong together"),
    ("--certificate topics.toml", "must be PEM files"),
    ("--certificate a.pem --key sealed.key", "without a passphrase"),
]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--mode trust", "--mode must be one of"),
        ("--period soon", "--period must be"),
        ("--measure diff-priv", "give a range"),
        ("--epsilon 0", "epsilon must be > 0"),
        ("--mode shares", "needs --peer-key"),
        ("--peer http://localhost:1", "belong to --mode shares"),
        ("--buckets 1", "2 to 200 buckets"),
        ("--port 99999", "--port"),
        *CERTIFICATES,
    ],
)
@pytest.mark.usefixtures("certificates")
def test_what_cannot_serve_is_refused_in_a_sentence_before_anything_is_announced(
    run: Command, options: str, why: str
) -> None:
    code, out, err = run(*SERVER, "--port", 0, *options.split())
    assert (code, out) == (2, "")
    assert why in err
    assert "Traceback" not in err
    if (options, why) in CERTIFICATES:
        assert not Path("rank.sqlite").exists()


def test_servers_of_another_key_have_other_rules(run: Command, folder: Path) -> None:
    versions = []
    for place in (1, 1, 2):
        key = new_key(folder / f"peer {place}.key", f"{place:064x}")
        code, out, _ = run(*SERVER, "--mode", "shares", "--peer-key", key, "--dry-run", "--json")
        assert code == 0
        assert key.read_text() not in out
        versions.append(json.loads(out)["version"])
    assert versions[0] == versions[1] != versions[2]


def test_a_dry_run_shows_the_rules_and_opens_nothing(run: Command, folder: Path) -> None:
    words = (*SERVER, "--store", "s", "--dry-run")
    code, out, _ = run(*words, "--json")
    assert code == 0
    assert [topic["name"] for topic in json.loads(out)["topics"]] == ["debt"]
    code, out, _ = run(*words, "--lowest", "0", "--highest", "5", "--measure", "ent")
    assert code == 0
    assert "Topics: debt" in out
    assert not (folder / "s").exists()


@pytest.mark.usefixtures("certificates")
def test_a_server_with_a_certificate_speaks_tls_and_whoever_distrusts_it_sends_nothing(
    folder: Path,
) -> None:
    options = ("--period", "52w", "--certificate", "a.pem", "--key", "a.key")
    with Running(folder, *options) as server:
        assert server.url.startswith("https://")
        with closing(RankClient(server.url, folder / "he", budget=1)) as distrustful:
            with pytest.raises(ProtocolError, match="not one that this machine trusts"):
                distrustful.report("debt", 0.4)
            assert distrustful.account.spent == 0
        asking = (
            "import sys; from pathlib import Path; "
            "from sottovoce.advisor.rank.client import RankClient; "
            "print(RankClient(sys.argv[1], Path(sys.argv[2]), budget=1).report('debt', 0.4))"
        )
        trusting = run_warm(
            [sys.executable, "-c", asking, server.url, folder / "she"],
            env=os.environ | {"SSL_CERT_FILE": str(folder / "ca.pem")},
            check=True,
        )
        assert int(trusting.stdout) > 0
    assert len(stored(folder / "rank.sqlite")["rank_report"]) == 1
