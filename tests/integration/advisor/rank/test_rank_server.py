"""The rank server as a process: crashes, stores, and what is in its files and output."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)
from support.rank_servers import KEY, Clock, InProcessPeer, description
from support.warm_python import WarmPopen, run_warm

from sottovoce.advisor.rank._client import RankClient
from sottovoce.advisor.rank._opening import ask, demand
from sottovoce.advisor.rank._shares import split
from sottovoce.errors import ProtocolError
from sottovoce.federation._certificates import Authority, read_key
from sottovoce.lab.bench.rank_server import ServerProcess, survive_kill
from sottovoce.web.rank._pair import FirstServer, SecondServer

TOPICS = """
[[topic]]
name = "debt"
domain = "money"
words = ["debt", "loan"]
sensitive = true

[[topic]]
name = "sport"
domain = "leisure"
words = ["ball"]
"""
Command = Callable[..., tuple[int, str, str]]
BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class Running:
    """A rank server in a process of its own, its output in a file."""

    def __init__(self, folder: Path, *options: object) -> None:
        self.output = folder / f"output {len(list(folder.glob('output *')))}"
        (folder / "topics.toml").write_text(TOPICS)
        words = ["--topics", "topics.toml", "--measure", "lda", "--port", 0, "--json", *options]
        command = [sys.executable, "-m", "sottovoce.cli", "rank-server", *map(str, words)]
        with self.output.open("w") as errors:
            self.process = WarmPopen(
                command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        self.announced: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.url = str(self.announced["url"])

    def stop(self) -> str:
        """Everything it printed."""
        self.process.terminate()
        rest, _ = self.process.communicate(timeout=30)
        return f"{json.dumps(self.announced)}{rest}{self.output.read_text()}"


@pytest.fixture
def warm_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a bench starts has its imports already."""
    warm = SimpleNamespace(Popen=WarmPopen, PIPE=subprocess.PIPE)
    monkeypatch.setattr("sottovoce.lab.bench._rows.subprocess", warm)


@pytest.mark.usefixtures("warm_bench")
@pytest.mark.parametrize("reports", [120, pytest.param(300, marks=pytest.mark.long)])
def test_a_kill_in_the_middle_loses_no_acknowledged_report(tmp_path: Path, reports: int) -> None:
    survival = survive_kill(tmp_path, reports, pace=150)
    assert survival.lost == 0
    assert survival.acknowledged == survival.stored == reports
    assert survival.retried > 0


@pytest.mark.usefixtures("warm_bench")
def test_a_server_that_acknowledged_before_the_commit_would_be_caught(tmp_path: Path) -> None:
    """The same reckoning on a store that lost what it had acknowledged."""
    survival = survive_kill(tmp_path, 60, pace=100, lose=5)
    assert survival.lost == 5


def test_a_server_that_a_bench_ends_says_nothing_in_the_name_of_the_bench(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ServerProcess(tmp_path).stop()
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
    for half in shares:
        # 42 residues of 61 bits; a share with small numbers in it would be no share.
        numbers = np.frombuffer(b"".join(half.values()), dtype="<u8")
        assert numbers.size == 3 * 42
        assert min(numbers) > 1 << 30
        assert max(numbers) < (1 << 61) - 1


NOBODY = 65534
"""PostgreSQL refuses to run as root."""


def quietly(command: list[str], folder: Path) -> None:
    """Run a command; a server that it leaves running must not hold our pipes."""
    with (folder / "commands").open("a") as shown:
        subprocess.run(command, check=True, timeout=60, cwd=folder, stdout=shown, stderr=shown)


@pytest.fixture
def postgres() -> Iterator[str]:
    """A throw-away PostgreSQL on a socket in a folder of its own, or a skip that says why."""
    if not BIN:
        pytest.skip("PostgreSQL is not installed: no /usr/lib/postgresql/*/bin")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    # Not pytest's own folder, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory(prefix="rank-postgres-") as name:
        folder, as_user = Path(name), []
        if os.geteuid() == 0:
            as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            shutil.chown(folder, NOBODY, NOBODY)
            if not shutil.which("setpriv"):
                pytest.skip("PostgreSQL does not run as root, and there is no setpriv")
        data, tools = str(folder / "data"), BIN[-1]
        accounts = ["-A", "trust", "-U", "rank", "-N"]
        quietly([*as_user, str(tools / "initdb"), "-D", data, *accounts], folder)
        options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
        control = [*as_user, str(tools / "pg_ctl"), "-D", data, "-w"]
        quietly([*control, "-l", str(folder / "log"), "-o", options, "start"], folder)
        try:
            yield f"postgresql://rank@/postgres?host={folder}"
        finally:
            quietly([*control, "-m", "immediate", "stop"], folder)


def test_postgresql_keeps_the_same_as_sqlite(postgres: str, tmp_path: Path) -> None:
    from sottovoce.web.rank._serve import open_store  # noqa: PLC0415 - psycopg may be absent
    from sottovoce.web.rank._store import ReportOutcome, StoredReport  # noqa: PLC0415 - likewise

    reports = [StoredReport("debt", 7, f"{place:032x}", bytes([place])) for place in range(5)]
    told = []
    for where in (postgres, str(tmp_path / "rank.sqlite")):
        store = open_store(where)
        store.bind("a description")
        changed = StoredReport("debt", 7, reports[0].token, b"other")
        steps: list[object] = [
            store.add(reports),
            store.add([*reports[:2], changed]),
            store.payloads("debt", 7),
            store.due(["debt", "illness"], 7),
            store.due(["debt", "illness"], 8),
            store.note_question("debt", 5, "a question"),
            store.note_question("debt", 5, "another"),
            store.noted_question("debt", 5),
            store.noted_question("debt", 6),
            store.add([StoredReport("debt", 5, "0" * 32, b"late")]),
            store.note("debt", 6, "an opening", forget=False),
            store.note("debt", 6, "another", forget=False),
            store.noted("debt", 6),
            store.noted("debt", 5),
            store.publish("debt", 7, "a histogram"),
            store.publish("debt", 7, "another"),
            store.published("debt", 7),
            store.published_periods("debt", 10),
            store.payloads("debt", 7),
            store.add(reports[:1]),
        ]
        store.close()
        told.append(steps)
    assert told[0] == told[1]
    assert told[0][0] == [ReportOutcome.STORED] * 5
    assert told[0][1] == [ReportOutcome.STORED, ReportOutcome.STORED, ReportOutcome.OTHER]
    assert told[0][-1] == [ReportOutcome.CLOSED]
    assert told[0][5:10] == [*["a question"] * 3, None, [ReportOutcome.CLOSED]]


def test_two_servers_on_postgresql_open_one_sum_and_answer_one_question(
    postgres: str, tmp_path: Path
) -> None:
    from sottovoce.web.rank._serve import open_store  # noqa: PLC0415 - psycopg may be absent

    rules, clock = description("shares", epsilon="100", buckets=4), Clock()

    def servers() -> tuple[FirstServer, SecondServer]:
        second = SecondServer(rules, open_store(postgres), KEY, clock=clock)
        store = open_store(str(tmp_path / "first.sqlite"))
        return FirstServer(rules, store, KEY, InProcessPeer(second), clock=clock), second

    first, second = servers()
    for server, shares in zip((first, second), split([0, 2, 2], 4), strict=True):
        for place, share in enumerate(shares):
            server.keep("debt", 100, f"{place:032x}", share.astype("<u8").tobytes())
    clock.day += 1
    pool = first.writer.run(lambda store: first._committed(store, "debt", 100)[0]).result()
    first.close()
    nonce = "0" * 64
    told = second.checked(ask(pool, KEY.checks, nonce))
    second.close()
    first, second = servers()
    assert second.checked(ask(pool, KEY.checks, nonce)) == told
    with pytest.raises(ProtocolError, match="asked about already"):
        first.histogram("debt", 100)
    demanded, _ = demand(pool, KEY.checks, nonce, told)
    once = second.opened(demanded)
    first.close()
    second.close()
    first, second = servers()
    assert second.opened(demanded) == once
    with pytest.raises(ProtocolError, match="opened already"):
        second.checked(ask(pool, KEY.checks, nonce))
    first.close()
    second.close()


def test_a_server_on_postgresql_takes_reports(postgres: str, tmp_path: Path) -> None:
    server = Running(tmp_path, "--period", "52w", "--store", postgres)
    try:
        client = RankClient(server.url, tmp_path / "she", budget=1)
        assert client.report("debt", 0.4) == client.report("debt", 0.4)
        client.close()
    finally:
        printed = server.stop()
    assert "rank@" not in printed


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
    server_side = authority.issued("server", ["127.0.0.1"])
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
            "import sys; from pathlib import Path; from sottovoce.advisor.rank import RankClient; "
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
    one, other = (authority.issued("server", ["127.0.0.1"]) for _ in range(2))
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
