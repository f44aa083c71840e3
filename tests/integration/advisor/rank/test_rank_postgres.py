"""The rank server's store in PostgreSQL does what the one in SQLite does."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.rank_processes import Running
from support.rank_reports import Servers, report_all, shared, token
from support.rank_servers import KEY, Clock, InProcessPeer, description, report_once

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
REPORTS = [StoredReport("debt", 7, token(place), bytes([place])) for place in range(5)]


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
    few = list(enumerate(REPORTS[:3]))
    told = []
    for where in (postgres, str(tmp_path / "rank.sqlite")):
        store = open_store(where)
        store.bind("a description")
        changed = StoredReport("debt", 7, REPORTS[0].token, b"other")
        steps: list[object] = [
            store.add(REPORTS),
            store.add([*REPORTS[:2], changed]),
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
            store.add(REPORTS[:1]),
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
    tokens = [report.token for report in REPORTS]
    told = []
    for where in (postgres, str(tmp_path / "rank.sqlite")):
        store = open_store(where)
        store.bind("a description", "a key")
        steps: list[object] = [
            store.add(REPORTS),
            store.list_waiting("debt", 7, "", 3),
            store.list_waiting("debt", 7, tokens[2], 3),
            store.find_reports("debt", 7, [tokens[4], "f" * 32]),
            store.decide("debt", 7, {tokens[0]: b"output", tokens[1]: b""}),
            store.decide("debt", 7, {tokens[0]: b"", tokens[1]: b"another"}),
            store.list_outputs("debt", 7),
            store.list_waiting("debt", 7, "", 10),
            store.add(REPORTS[:1]),
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


RULES = description("shares", epsilon="200", buckets=4)


@contextmanager
def servers(first: str | Path, second: str | Path, clock: Clock) -> Iterator[Servers]:
    """Two servers on these stores, closed at the end."""
    other = SecondServer(RULES, open_store(str(second)), KEY, clock=clock)
    one = FirstServer(RULES, open_store(str(first)), KEY, InProcessPeer(other), clock=clock)
    with closing(other), closing(one):
        yield one, other


def test_two_servers_on_postgresql_verify_and_open_one_sum(postgres: str, tmp_path: Path) -> None:
    clock, place = Clock(), tmp_path / "first.sqlite"
    with servers(place, postgres, clock) as both:
        report_all(both, [0, 2, 2])
        both[0].verify()
    clock.day += 1
    tokens = [token(person) for person in range(3)]
    demanded = {"topic": "debt", "period": 100, "description": RULES.version, "tokens": tokens}
    with servers(place, postgres, clock) as (_, second):
        once = second.answer_open(demanded)
    with servers(place, postgres, clock) as (first, second):
        assert second.answer_open(demanded) == once
        found = first.histogram("debt", 100)
        assert found is not None
        assert (found["reports"], found["counts"]) == (3, [1, 0, 2, 0])
        with pytest.raises(ProtocolError, match="opened already"):
            second.answer_open(demanded | {"tokens": tokens[1:]})


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
    clock, place = Clock(), tmp_path / "second.sqlite"
    copy, tools = str(cluster / "first.copy"), BIN[-1]
    with servers(postgres, place, clock) as both:
        report_all(both, [0, 2, 2])
        clock.day += 1
        earlier = both[0].histogram("debt", 100)
        for report in [shared(RULES, person, 1, period=101) for person in range(3)]:
            for server in both:
                server.keep("debt", 101, report.token, report.payload(server.place)).result(10)
        quietly([str(tools / "pg_dump"), "--format=custom", f"--file={copy}", postgres], cluster)
        clock.day += 1
        later = both[0].histogram("debt", 101)
        assert later is not None
        assert later["counts"] == [0, 3, 0, 0]
    restore = [str(tools / "pg_restore"), "--clean", "--if-exists", f"--dbname={postgres}", copy]
    quietly(restore, cluster)
    store = open_store(postgres)
    with pytest.raises(InputError, match="another key"):
        store.bind(RULES.version, "another")
    assert store.number("debt", 101) == 3
    store.close()
    with servers(postgres, place, clock) as (first, _):
        first.put_back()
        assert first.counts_from == 103
        assert first.histogram("debt", 100) == earlier
        assert first.histogram("debt", 101) is None


def test_a_server_on_postgresql_takes_reports(postgres: str, tmp_path: Path) -> None:
    with Running(tmp_path, "--period", "52w", "--store", postgres) as server:
        periods = {report_once(server.url, tmp_path / "she") for _ in range(2)}
    assert len(periods) == 1
    assert "rank@" not in server.printed
