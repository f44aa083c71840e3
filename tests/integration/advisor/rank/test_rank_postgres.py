"""The rank server's store in PostgreSQL does what the one in SQLite does."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.rank_processes import Running
from support.rank_reports import report_all, shared
from support.rank_servers import KEY, Clock, InProcessPeer, description

from sottovoce.advisor.rank.client import RankClient
from sottovoce.errors import InputError, ProtocolError
from sottovoce.web.rank.pair import FirstServer, SecondServer
from sottovoce.web.rank.store import (
    HISTOGRAM,
    OPENING,
    QUESTION,
    ReportOutcome,
    StoredReport,
    open_store,
)

BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
NOBODY = 65534
"""PostgreSQL refuses to run as root."""


def quietly(command: list[str], folder: Path) -> None:
    """Run a command; a server that it leaves running must not hold our pipes."""
    with (folder / "commands").open("a") as shown:
        subprocess.run(command, check=True, timeout=60, cwd=folder, stdout=shown, stderr=shown)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
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
            yield folder
        finally:
            quietly([*control, "-m", "immediate", "stop"], folder)


@pytest.fixture
def postgres(cluster: Path, request: pytest.FixtureRequest) -> str:
    """The URL of a database of this test's own."""
    import psycopg  # noqa: PLC0415 - it may be absent

    name = f"rank_{abs(hash(request.node.name)):x}"
    url = f"postgresql://rank@/postgres?host={cluster}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return url.replace("/postgres?", f"/{name}?")


def test_postgresql_keeps_the_same_as_sqlite(postgres: str, tmp_path: Path) -> None:
    reports = [StoredReport("debt", 7, f"{place:032x}", bytes([place])) for place in range(5)]
    few = list(enumerate(reports[:3]))
    told = []
    for where in (postgres, str(tmp_path / "rank.sqlite")):
        store = open_store(where)
        store.bind("a description")
        changed = StoredReport("debt", 7, reports[0].token, b"other")
        steps: list[object] = [
            store.add(reports),
            store.add([*reports[:2], changed]),
            store.list_payloads("debt", 7),
            store.list_due(["debt", "illness"], 7),
            store.list_due(["debt", "illness"], 8),
            store.number("debt", 7),
            store.keep_first(QUESTION, "debt", 5, "a question"),
            store.keep_first(QUESTION, "debt", 5, "another"),
            store.find(QUESTION, "debt", 5),
            store.find(QUESTION, "debt", 6),
            store.add([StoredReport("debt", 5, "0" * 32, b"late")]),
            store.keep_first(OPENING, "debt", 6, "an opening"),
            store.keep_first(OPENING, "debt", 6, "another"),
            store.find(OPENING, "debt", 6),
            store.find(OPENING, "debt", 5),
            store.keep_first(HISTOGRAM, "debt", 7, "a histogram"),
            store.keep_first(HISTOGRAM, "debt", 7, "another"),
            store.find(HISTOGRAM, "debt", 7),
            store.list_periods("debt", 10),
            store.list_payloads("debt", 7),
            store.add(reports[:1]),
            store.add([replace(each, period=8, member=f"m{at % 2}") for at, each in few]),
            store.counts_from(),
            store.put_back(9),
            store.counts_from(),
            store.number("debt", 8),
            store.find(HISTOGRAM, "debt", 7),
            store.put_back(12),
            store.counts_from(),
        ]
        store.close()
        told.append(steps)
    assert told[0] == told[1]
    assert told[0][0] == [ReportOutcome.STORED] * 5
    assert told[0][1] == [ReportOutcome.STORED, ReportOutcome.STORED, ReportOutcome.OTHER]
    assert told[0][-9] == [ReportOutcome.CLOSED]
    one_each = [ReportOutcome.STORED, ReportOutcome.STORED, ReportOutcome.SPENT]
    assert told[0][-8:] == [one_each, 0, 9, 9, 0, "a histogram", 12, 12]
    assert told[0][6:11] == [*["a question"] * 3, None, [ReportOutcome.CLOSED]]


def test_postgresql_keeps_the_same_of_verified_reports_as_sqlite(
    postgres: str, tmp_path: Path
) -> None:
    reports = [StoredReport("debt", 7, f"{place:032x}", bytes([place])) for place in range(5)]
    tokens = [report.token for report in reports]
    told = []
    for where in (postgres, str(tmp_path / "rank.sqlite")):
        store = open_store(where)
        store.bind("a description", "a key")
        steps: list[object] = [
            store.add(reports),
            store.list_waiting("debt", 7, "", 3),
            store.list_waiting("debt", 7, tokens[2], 3),
            store.find_reports("debt", 7, [tokens[4], "f" * 32]),
            store.decide("debt", 7, {tokens[0]: b"output", tokens[1]: b""}),
            store.decide("debt", 7, {tokens[0]: b"", tokens[1]: b"another"}),
            store.list_outputs("debt", 7),
            store.list_waiting("debt", 7, "", 10),
            store.add(reports[:1]),
            store.list_waiting("debt", 7, "", 10),
            store.keep_first(QUESTION, "debt", 7, "a question"),
            store.decide("debt", 7, {tokens[2]: b"late"}),
            store.list_outputs("debt", 7),
            store.keep_first(OPENING, "debt", 7, "an opening"),
            store.list_waiting("debt", 7, "", 10),
            store.list_outputs("debt", 7),
            store.number("debt", 7),
        ]
        store.close()
        told.append(steps)
    assert told[0] == told[1]
    kept = {tokens[0]: b"output", tokens[1]: b""}
    waits = {token: bytes([place]) for place, token in enumerate(tokens) if place > 1}
    assert told[0][6:10] == [kept, waits, [ReportOutcome.STORED], waits]
    assert told[0][12:] == [kept, "an opening", {}, {}, 0]


def test_two_servers_on_postgresql_verify_and_open_one_sum(postgres: str, tmp_path: Path) -> None:
    rules, clock = description("shares", epsilon="200", buckets=4), Clock()

    def servers() -> tuple[FirstServer, SecondServer]:
        second = SecondServer(rules, open_store(postgres), KEY, clock=clock)
        store = open_store(str(tmp_path / "first.sqlite"))
        return FirstServer(rules, store, KEY, InProcessPeer(second), clock=clock), second

    first, second = servers()
    report_all((first, second), [0, 2, 2])
    first.verify()
    first.close()
    second.close()
    clock.day += 1
    first, second = servers()
    tokens = [f"{place:032x}" for place in range(3)]
    demanded = {"topic": "debt", "period": 100, "description": rules.version, "tokens": tokens}
    once = second.answer_open(demanded)
    second.close()
    first.close()
    first, second = servers()
    assert second.answer_open(demanded) == once
    found = first.histogram("debt", 100)
    assert found is not None
    assert (found["reports"], found["counts"]) == (3, [1, 0, 2, 0])
    with pytest.raises(ProtocolError, match="opened already"):
        second.answer_open(demanded | {"tokens": tokens[1:]})
    first.close()
    second.close()


def test_a_connection_that_postgresql_ended_is_made_again(postgres: str) -> None:
    import psycopg  # noqa: PLC0415 - it may be absent

    store = open_store(postgres)
    store.bind("a description")
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    here = " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(postgres) as connection:
        connection.execute((others + here).encode())
    with pytest.raises(InputError, match="refuses"):
        store.number("debt", 7)
    assert store.number("debt", 7) == 0
    store.close()


def test_a_copy_by_pg_dump_is_put_back_with_its_histograms_and_without_its_reports(
    postgres: str, cluster: Path, tmp_path: Path
) -> None:
    """What was opened after the copy was made is not opened again, as in SQLite."""
    rules, clock = description("shares", epsilon="200", buckets=4), Clock()

    def servers() -> tuple[FirstServer, SecondServer]:
        second = SecondServer(rules, open_store(str(tmp_path / "second.sqlite")), KEY, clock=clock)
        peer = InProcessPeer(second)
        return FirstServer(rules, open_store(postgres), KEY, peer, clock=clock), second

    first, second = servers()
    report_all((first, second), [0, 2, 2])
    clock.day += 1
    earlier = first.histogram("debt", 100)
    for report in [shared(rules, place, 1, period=101) for place in range(3)]:
        for server in (first, second):
            server.keep("debt", 101, report.token, report.payload(server.place)).result(10)
    copy, tools = str(cluster / "first.copy"), BIN[-1]
    quietly([str(tools / "pg_dump"), "--format=custom", f"--file={copy}", postgres], cluster)
    clock.day += 1
    later = first.histogram("debt", 101)
    assert later is not None
    assert later["counts"] == [0, 3, 0, 0]
    first.close()
    second.close()
    restore = [str(tools / "pg_restore"), "--clean", "--if-exists", f"--dbname={postgres}", copy]
    quietly(restore, cluster)
    store = open_store(postgres)
    with pytest.raises(InputError, match="another key"):
        store.bind(rules.version, "another")
    assert store.number("debt", 101) == 3
    store.close()
    first, second = servers()
    first.put_back()
    assert first.counts_from == 103
    assert first.histogram("debt", 100) == earlier
    assert first.histogram("debt", 101) is None
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
