"""The server: what it takes, what it refuses, and what it publishes once and for ever."""

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.rank_servers import Clock, InProcess, description, noise_service, running

from sottovoce.errors import BusyError, InputError, RefusedError
from sottovoce.web.rank.app import Limits
from sottovoce.web.rank.service import GroupWriter
from sottovoce.web.rank.store import HISTOGRAM, ReportOutcome, SqliteStore, StoredReport, open_store

RULES = description()


@pytest.fixture
def server(tmp_path: Path, clock: Clock) -> Iterator[InProcess]:
    with running(noise_service(tmp_path, clock)) as inner:
        yield inner


def body(**change: object) -> dict[str, Any]:
    """A report that is taken, unless changed."""
    good = {
        "topic": "debt",
        "period": 100,
        "id": "0" * 32,
        "description": RULES.version,
        "entries": [0, 1] * 8 + [0] * 4,
    }
    return good | change


def status(server: InProcess, sent: object) -> int:
    return int(server.client.post("/reports", json=sent).status_code)


@pytest.mark.parametrize(
    "change",
    [
        {"entries": [0, 1] * 9},
        {"entries": [2] * 20},
        {"entries": [-1] * 20},
        {"entries": [0.5] * 20},
        {"entries": [True] * 20},
        {"entries": ["1"] * 20},
        {"entries": None},
        {"topic": "love"},
        {"id": "0" * 31},
        {"id": "G" * 32},
        {"id": "0" * 32 + "\n"},
        {"period": "100"},
        {"period": -1},
        {"description": "another"},
        {"user": "me"},
    ],
)
def test_a_report_that_is_not_as_it_must_be_is_refused_without_an_echo(
    server: InProcess, change: dict[str, object]
) -> None:
    answer = server.client.post("/reports", json=body(**change))
    assert answer.status_code == 422
    assert set(answer.json()) == {"detail"}
    assert "love" not in answer.text


def test_the_same_report_again_is_fine_and_another_under_its_id_is_refused(
    server: InProcess, clock: Clock
) -> None:
    assert [status(server, body()) for _ in range(3)] == [200, 200, 200]
    assert status(server, body(entries=[1, 0] * 8 + [0] * 4)) == 409
    for place in (1, 2):
        assert status(server, body(id=f"{place:032x}")) == 200
    clock.day += 1
    assert server.call("GET", "/histograms/debt/100")["reports"] == 3


@pytest.mark.parametrize("period", [99, 101])
def test_only_the_running_period_takes_reports(server: InProcess, period: int) -> None:
    assert status(server, body(period=period)) == 409


def test_a_histogram_is_published_after_its_period_and_never_changes(
    server: InProcess, clock: Clock
) -> None:
    for place in range(4):
        assert status(server, body(id=f"{place:032x}")) == 200
    with pytest.raises(RefusedError, match="404"):
        server.call("GET", "/histograms/debt/100")
    clock.day += 1
    assert server.call("GET", "/histograms/debt") == {"periods": [100]}
    first = server.call("GET", "/histograms/debt/100")
    clock.day -= 1
    # Even a clock that was set back brings no report in.
    assert status(server, body(id="f" * 32)) == 409
    clock.day += 5
    assert server.call("GET", "/histograms/debt/100") == first
    with pytest.raises(RefusedError, match="404"):
        server.call("GET", "/histograms/debt/102")


def test_too_few_reports_publish_nothing_not_even_their_number(
    server: InProcess, clock: Clock
) -> None:
    status(server, body())
    clock.day += 1
    found = server.call("GET", "/histograms/debt/100")
    assert (found["counts"], found["at_least"], found["reports"]) == (None, None, 0)


def test_a_store_serves_one_description(tmp_path: Path, clock: Clock) -> None:
    noise_service(tmp_path, clock).close()
    store = SqliteStore(tmp_path / "rank.sqlite")
    with pytest.raises(InputError, match="another description"):
        store.bind(description(epsilon="2").version)
    store.close()


def test_a_body_over_the_limit_is_refused_by_its_length_and_as_it_arrives(
    server: InProcess,
) -> None:
    too_much = b" " * 20_000
    at_once = server.client.post("/reports", content=too_much)
    assert at_once.status_code == 413
    pieces = (b" " * 1000 for _ in range(20))
    in_pieces = server.client.post("/reports", content=pieces)
    assert in_pieces.status_code == 413
    sentence = {"detail": "a request's body must have at most 16384 bytes."}
    assert at_once.json() == in_pieces.json() == sentence


def test_another_site_s_form_cannot_report(server: InProcess) -> None:
    """What a browser sends without asking first is not JSON, and no answer is shared with it."""
    sent = {"Content-Type": "text/plain", "Origin": "https://elsewhere.example"}
    answer = server.client.post("/reports", content=json.dumps(body()), headers=sent)
    assert answer.status_code == 422
    assert "access-control-allow-origin" not in answer.headers
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    assert server.client.options("/reports", headers=asked).status_code == 405


def test_whoever_asks_too_often_is_told_to_wait(tmp_path: Path, clock: Clock) -> None:
    with running(noise_service(tmp_path, clock), Limits(everybody=0, each=1)) as server:
        answers = [server.client.get("/description") for _ in range(20)]
    assert {answer.status_code for answer in answers} == {200, 429}
    assert answers[-1].headers["retry-after"] == "1"


class Slow:
    """A store whose first commit waits for a signal, and that notes its batches."""

    def __init__(self, error: Exception | None = None) -> None:
        self.go, self.batches, self.error = threading.Event(), [0], error
        self.begin = threading.Event()
        self.batches.clear()

    def add(self, reports: Sequence[StoredReport]) -> list[ReportOutcome]:
        self.begin.set()
        self.go.wait(10)
        self.batches.append(len(reports))
        if self.error:
            raise self.error
        return [ReportOutcome.STORED] * len(reports)

    def close(self) -> None:
        pass


def stored_report(place: int) -> StoredReport:
    return StoredReport("debt", 1, f"{place:032x}", b"")


def test_reports_that_arrive_during_a_commit_share_the_next_one() -> None:
    store = Slow()
    writer = GroupWriter(store)  # type: ignore[arg-type] # what it needs of a store
    first = writer.keep(stored_report(0))
    assert store.begin.wait(10)
    others = [writer.keep(stored_report(place)) for place in range(1, 51)]
    assert not first.done()
    store.go.set()
    assert {each.result(10) for each in (first, *others)} == {ReportOutcome.STORED}
    writer.close()
    assert store.batches == [1, 50]


def test_a_commit_that_fails_acknowledges_nothing() -> None:
    store = Slow(InputError("the disk is full"))
    writer = GroupWriter(store)  # type: ignore[arg-type] # what it needs of a store
    kept = [writer.keep(stored_report(place)) for place in range(3)]
    store.go.set()
    assert all(isinstance(each.exception(10), InputError) for each in kept)
    writer.close()


def test_beyond_what_may_wait_reports_are_turned_away() -> None:
    store = Slow()
    writer = GroupWriter(store, most_waiting=1)  # type: ignore[arg-type] # likewise
    writer.keep(stored_report(0))
    assert store.begin.wait(10)
    writer.keep(stored_report(1))
    with pytest.raises(BusyError):
        writer.keep(stored_report(2))
    store.go.set()
    writer.close()


def test_a_failing_store_is_told_without_details(tmp_path: Path, clock: Clock) -> None:
    service = noise_service(tmp_path, clock)
    with running(service) as server:
        service.use_store(lambda store: store.close())
        answer = server.client.post("/reports", json=body())
        assert answer.status_code == 503
        assert "sqlite" not in answer.text


def test_what_is_no_database_cannot_be_a_store(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to be read as one" * 20)
    with pytest.raises(InputError, match="not a rank server's store"):
        open_store(str(tmp_path / "text"))
    with pytest.raises(InputError, match="cannot open the rank server's store"):
        open_store(str(tmp_path / "nowhere" / "rank.sqlite"))


def test_what_is_deleted_is_in_no_file_any_more(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rank.sqlite")
    payloads = [f"a payload, number {number}".encode() for number in range(40)]
    store.add([StoredReport("debt", 7, f"{n:032x}", each) for n, each in enumerate(payloads)])
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert all(each in held for each in payloads)
    store.keep_first(HISTOGRAM, "debt", 7, "a histogram")
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(each in left for each in payloads)
    store.close()
