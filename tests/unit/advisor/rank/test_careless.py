"""Rank servers under careless operators and curious strangers."""

import asyncio
import threading
from pathlib import Path

import pytest
from support.rank_servers import Clock, asked, description, noise_service, pair

from sottovoce.web.rank import _operator_routes
from sottovoce.web.rank._pair import KEPT_PERIODS
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
