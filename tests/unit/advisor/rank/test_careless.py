"""Rank servers under careless operators and curious strangers."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from support.rank_reports import report_all
from support.rank_servers import Clock, InProcessPeer, asked, description, noise_service, pair

from sottovoce.errors import ProtocolError
from sottovoce.web.rank import _operator_routes
from sottovoce.web.rank._pair import KEPT_PERIODS
from sottovoce.web.rank._peer import OPEN
from sottovoce.web.rank._telemetry import Telemetry

RULES = description("shares", buckets=4)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_who_gives_up_waiting_for_a_slow_store_does_not_end_it(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may ask whether a server is ready; one answer too late ended its store for good."""
    monkeypatch.setattr(_operator_routes, "READY_S", 0.01)
    service, go = noise_service(tmp_path, clock), threading.Event()
    service.writer.run(lambda _store: go.wait(10))
    client = asked(service).client
    assert client.get("/readyz").status_code == 503
    go.set()
    assert service.writer.run(lambda store: store.number("debt", 100)).result(10) == 0
    monkeypatch.undo()
    assert client.get("/readyz").status_code == 200
    service.close()


def test_a_report_whose_sender_went_away_leaves_the_others_acknowledged(
    tmp_path: Path, clock: Clock
) -> None:
    service, go = noise_service(tmp_path, clock), threading.Event()
    service.writer.run(lambda _store: go.wait(10))
    gone, stays = (service.keep("debt", 100, f"{place:032x}", b"report") for place in range(2))

    async def give_up() -> None:
        waits = asyncio.wrap_future(gone)
        waits.cancel()
        await asyncio.sleep(0)

    asyncio.run(give_up())
    go.set()
    assert stays.result(10).value == "stored"
    assert service.writer.run(lambda store: store.number("debt", 100)).result(10) == 1
    service.close()


def test_asking_the_second_server_about_old_periods_writes_and_tells_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    first, second = pair(tmp_path, clock, RULES)
    told: list[str] = []
    second.telemetry = Telemetry(told.append)
    client = asked(second).client
    for period in (0, 100 - KEPT_PERIODS - 1):
        assert client.get(f"/histograms/debt/{period}").status_code == 404
        assert second.writer.run(lambda store, at=period: store.noted("debt", at)).result() is None  # type: ignore[misc] # its own period
    assert told == []
    first.close()
    second.close()


class Hanging:
    """A second server that takes a question and does not answer."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        del path, message
        self.asked.set()
        self.go.wait(10)
        raise ProtocolError("too late.")


def test_a_server_that_is_told_to_stop_does_not_wait_for_the_other(
    tmp_path: Path, clock: Clock
) -> None:
    """Else its process lives on for as long as a request to the other may take: two minutes."""
    first, second = pair(tmp_path, clock, RULES)
    report_all((first, second), [0, 1, 1])
    first._peer = hanging = Hanging()
    why: list[str] = []

    def verify() -> None:
        try:
            first.verify()
        except ProtocolError as error:
            why.append(str(error))

    sweep = threading.Thread(target=verify)
    sweep.start()
    assert hanging.asked.wait(10)
    first.close()
    sweep.join(5)
    assert not sweep.is_alive()
    assert why == ["the server is stopping; ask again later."]
    with pytest.raises(ProtocolError, match="stopping"):
        first._asked(OPEN, {})
    hanging.go.set()
    second.close()


class Repeating(InProcessPeer):
    """A second server that names what it drops several times."""

    def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        told = super().call(path, message)
        return told | {"dropped": told["dropped"] * 5} if path == OPEN else told


def test_a_histogram_is_told_of_once_it_is_kept_and_in_numbers_of_reports(
    tmp_path: Path, clock: Clock
) -> None:
    first, second = pair(tmp_path, clock, RULES)
    report_all((first, second), [0, 1, 1, 2])
    first._peer = Repeating(second)
    first.verify()
    # The second server changes its mind about one.
    refused = "UPDATE rank_verdict SET output = x'' WHERE token LIKE '%3'"
    second.writer.run(lambda store: store._connection.execute(refused)).result()  # type: ignore[attr-defined] # SQLite's
    told: list[tuple[dict[str, Any], bool]] = []

    def tell(line: str) -> None:
        kept = first.writer.run(lambda store: store.published("debt", 100)).result()
        told.append((json.loads(line), kept is not None))

    first.telemetry = Telemetry(tell)
    clock.day += 1
    first.publish_due()
    (event, kept), *more = told
    assert kept
    assert more == []
    assert (event["reports"], event["dropped_as_servers_disagree"]) == (3, 1)
    assert first.telemetry.counted("dropped") == 1
    first.close()
    second.close()
