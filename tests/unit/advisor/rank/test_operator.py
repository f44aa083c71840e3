"""What a rank server tells whoever runs it, and what it tells nobody."""

import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.rank_reports import Servers, publish, report_all, shared
from support.rank_servers import UNLIMITED, Clock, asked, description, noise_service, pair, running
from support.serving import served_at

from sottovoce.advisor.rank.client import RankClient
from sottovoce.errors import InputError
from sottovoce.web.rank import serve
from sottovoce.web.rank.app import create_app
from sottovoce.web.rank.pair import KEPT_PERIODS
from sottovoce.web.rank.peer import PeerKey, key_digits
from sottovoce.web.rank.serve import HeaderLimitProtocol, event_writer
from sottovoce.web.rank.service import RankService, Telemetry
from sottovoce.web.rank.store import SqliteStore

METRICS_KEY = "ab" * 32
RULES = description("shares", epsilon="200", buckets=4)


@pytest.fixture
def service(tmp_path: Path, clock: Clock) -> Iterator[RankService]:
    made = noise_service(tmp_path, clock, description(buckets=4))
    yield made
    made.close()


def test_a_server_lives_and_is_ready_until_its_store_does_not_answer(service: RankService) -> None:
    client = asked(service).client
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}
    service.close()
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "the store does not answer"})


def test_numbers_are_told_under_the_key_alone(service: RankService) -> None:
    assert asked(service).client.get("/metrics").status_code == 404
    client = asked(service, METRICS_KEY).client
    for given in ({}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {'0' * 64}"}):
        assert client.get("/metrics", headers=given).status_code == 401
    assert client.get("/metrics", headers={"Authorization": f"Bearer {METRICS_KEY}"}).is_success


LINE = re.compile(r'[a-z_]+(\{(?:[a-z]+="[^"]*",?)*\})? \d+(\.\d+)?')


def test_metrics_are_prometheus_text_of_counts_and_latencies_by_route(
    service: RankService, tmp_path: Path
) -> None:
    served = asked(service, METRICS_KEY)
    client = RankClient(served, tmp_path / "she", budget=1)
    client.report("debt", 0.4)
    client.close()
    served.client.get("/alice/bob")
    served.client.post("/reports", json={})
    key = {"Authorization": f"Bearer {METRICS_KEY}"}
    answer = served.client.get("/metrics", headers=key)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert all(line.startswith("# ") or LINE.fullmatch(line) for line in lines)
    assert "sottovoce_rank_reports_stored_total 1" in lines
    assert 'sottovoce_rank_requests_total{route="/reports",status="200"} 1' in lines
    assert 'sottovoce_rank_requests_total{route="/reports",status="422"} 1' in lines
    assert 'sottovoce_rank_requests_total{route="other",status="404"} 1' in lines
    assert 'sottovoce_rank_request_seconds_bucket{route="/reports",le="+Inf"} 2' in lines
    assert "alice" not in answer.text
    assert "testclient" not in answer.text


def test_events_are_lines_of_json_about_periods_and_never_about_a_report(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    log = tmp_path / "events"
    with event_writer(str(log)) as write:
        for server in servers:
            server.telemetry = Telemetry(write, clock=clock)
        report_all(servers, [0, 1, 1, 2])
        servers[0].verify()
        assert log.read_text() == ""
        publish(servers, clock)
        report_all(servers, [3])
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event["event"] for event in events] == ["sum opened", "histogram published"]
    assert events[1] == {
        "time": "1970-04-12T00:00:01Z",
        "event": "histogram published",
        "topic": "debt",
        "period": 100,
        "reports": 4,
        "refused": 0,
        "not_at_both_servers": 0,
        "dropped_as_servers_disagree": 0,
    }


def test_a_failure_to_reach_the_other_server_is_told_once_until_it_changes(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.web.rank.app._VERIFY_S", 0.01)
    first, second = servers
    said: list[str] = []
    first.telemetry = Telemetry(said.append)
    report_all(servers, [0])
    second.close()
    with running(first):
        time.sleep(0.2)
    events = [json.loads(line) for line in said]
    assert [event["event"] for event in events] == ["cannot publish or verify, will try again"]


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow:"])
def test_whoever_is_slow_to_send_headers_loses_the_connection(
    service: RankService, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(serve, "HEADERS_S", 0.2)
    app = create_app(service, UNLIMITED)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        served_at(listener, app, lifespan="off", http=HeaderLimitProtocol),
    ):
        whole = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
        with socket.create_connection(listener.getsockname(), timeout=10) as connection:
            assert _answered(connection, whole)
            # A connection that was used and is idle is not hung up on so soon.
            time.sleep(0.4)
            assert _answered(connection, whole)
            if sent:
                connection.sendall(sent)
                assert _hung_up(connection)
        if not sent:
            with socket.create_connection(listener.getsockname(), timeout=10) as connection:
                assert _hung_up(connection)


def _answered(connection: socket.socket, sent: bytes) -> bool:
    connection.sendall(sent)
    got = b""
    while not got.endswith(b'"alive"}') and (part := connection.recv(1 << 16)):
        got += part
    return got.startswith(b"HTTP/1.1 200")


def _hung_up(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_store_that_was_put_back_counts_nothing_of_a_period_that_had_begun(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    """Else a sum that was opened after the copy was made would be opened under new noise."""
    report_all(servers, [0, 1, 1])
    servers[0].verify()
    for name in ("first", "second"):
        SqliteStore(tmp_path / f"{name}.sqlite")._file.connection.execute(
            f"VACUUM INTO '{tmp_path / name}.copy'"
        )
    publish(servers, clock)
    for server in servers:
        server.close()
    for name in ("first", "second"):
        for path in tmp_path.glob(f"{name}.sqlite*"):
            path.unlink()
        (tmp_path / f"{name}.copy").rename(tmp_path / f"{name}.sqlite")
    again = pair(tmp_path, clock, RULES)
    for server in again:
        server.put_back()
    assert again[0].histogram("debt", 100) is None
    about = {"topic": "debt", "period": 100, "description": RULES.version}
    told = again[1].answer_open(about | {"tokens": [f"{place:032x}" for place in range(3)]})
    assert told["sum"] == ""
    late = shared(RULES, 9, 2, period=101)
    head = {"topic": "debt", "period": 101, "description": RULES.version}
    answer = asked(again[0]).client.post("/reports", json=head | late.request_fields(0))
    assert answer.status_code == 409
    assert "restored from a copy" in answer.json()["detail"]
    clock.day += 1
    body = head | {"period": 102} | shared(RULES, 9, 2, period=102).request_fields(0)
    assert asked(again[0]).client.post("/reports", json=body).status_code == 200


def test_shares_that_the_first_server_never_asks_for_are_deleted(
    servers: Servers, clock: Clock
) -> None:
    second = servers[1]
    report_all(servers, [0, 1, 1])
    clock.day += KEPT_PERIODS
    second.publish_due()
    assert second.use_store(lambda store: store.number("debt", 100)) == 3
    clock.day += 1
    second.publish_due()
    assert second.use_store(lambda store: store.number("debt", 100)) == 0


def test_a_metrics_key_must_be_private_and_long_enough(tmp_path: Path) -> None:
    path = tmp_path / "metrics.key"
    path.write_text(METRICS_KEY)
    path.chmod(0o644)
    with pytest.raises(InputError, match="open to others"):
        key_digits(path)
    path.chmod(0o600)
    assert key_digits(path) == METRICS_KEY
    assert repr(PeerKey.read(path)) == "PeerKey()"
    path.write_text("short")
    with pytest.raises(InputError, match="64 hexadecimal"):
        key_digits(path)
    with pytest.raises(InputError, match="cannot read"):
        key_digits(tmp_path / "none")


def test_events_that_cannot_be_written_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write events"), event_writer(str(tmp_path)):
        pass
