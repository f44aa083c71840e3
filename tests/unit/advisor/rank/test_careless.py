"""Rank servers under careless operators and curious strangers."""

import asyncio
import json
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.rank_reports import Servers, bring, keep, report_all, sent, shared, token
from support.rank_servers import (
    KEY,
    Clock,
    InProcess,
    InProcessPeer,
    asked,
    description,
    noise_service,
    pair,
)

from sottovoce.advisor.rank.client import RankClient
from sottovoce.errors import InputError, ProtocolError
from sottovoce.web.rank import app
from sottovoce.web.rank.pair import KEPT_PERIODS, FirstServer, SecondServer
from sottovoce.web.rank.peer import OPEN, VERIFY, PeerKey
from sottovoce.web.rank.service import Telemetry
from sottovoce.web.rank.store import (
    HISTOGRAM,
    OPENING,
    ReportOutcome,
    SqliteStore,
    Store,
    StoredReport,
)

RULES = description("shares", buckets=4)


def test_who_gives_up_waiting_for_a_slow_store_does_not_end_it(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may ask whether a server is ready; one answer too late ended its store for good."""
    monkeypatch.setattr(app, "READY_S", 0.01)
    service, go = noise_service(tmp_path, clock), threading.Event()
    service.writer.run(lambda _store: go.wait(10))
    client = asked(service).client
    assert client.get("/readyz").status_code == 503
    go.set()
    assert service.writer.run(lambda store: store.number("debt", 100)).result(10) == 0
    monkeypatch.undo()
    assert client.get("/readyz").status_code == 200


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


def test_asking_the_second_server_about_old_periods_writes_and_tells_nothing(
    servers: Servers,
) -> None:
    second = servers[1]
    told: list[str] = []
    second.telemetry = Telemetry(told.append)
    client = asked(second).client
    for period in (0, 100 - KEPT_PERIODS - 1):
        assert client.get(f"/histograms/debt/{period}").status_code == 404
        opening = second.writer.run(partial(Store.find, table=OPENING, topic="debt", period=period))
        assert opening.result() is None
    assert told == []


class Hanging:
    """A second server that takes a question and does not answer."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        del path, message
        self.asked.set()
        self.go.wait(10)
        raise ProtocolError("too late.")


def test_a_server_that_is_told_to_stop_does_not_wait_for_the_other(servers: Servers) -> None:
    """Else its process lives on for as long as a request to the other may take: two minutes."""
    first = servers[0]
    report_all(servers, [0, 1, 1])
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
        first._ask(OPEN, {})
    hanging.go.set()


class Repeating(InProcessPeer):
    """A second server that names what it drops several times."""

    def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        told = super().call(path, message)
        return told | {"dropped": told["dropped"] * 5} if path == OPEN else told


def test_a_histogram_is_told_of_once_it_is_kept_and_in_numbers_of_reports(
    servers: Servers, clock: Clock
) -> None:
    first, second = servers
    report_all(servers, [0, 1, 1, 2])
    first._peer = Repeating(second)
    first.verify()
    # The second server changes its mind about one.
    refused = "UPDATE rank_verdict SET output = x'' WHERE token LIKE '%3'"
    second.use_store(lambda store: store._file.connection.execute(refused))  # type: ignore[attr-defined] # SQLite's
    told: list[tuple[dict[str, Any], bool]] = []

    def tell(line: str) -> None:
        kept = first.use_store(lambda store: store.find(HISTOGRAM, "debt", 100))
        told.append((json.loads(line), kept is not None))

    first.telemetry = Telemetry(tell)
    clock.day += 1
    first.publish_due()
    (event, kept), *more = told
    assert kept
    assert more == []
    assert (event["reports"], event["dropped_as_servers_disagree"]) == (3, 1)
    assert first.telemetry.value_of("dropped") == 1


def test_a_report_that_is_refused_for_its_id_spends_no_admission(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rank.sqlite")
    store.bind("a description")
    ours, theirs = (StoredReport("debt", 7, "0" * 32, each, each.hex()) for each in (b"a", b"b"))
    again = StoredReport("debt", 7, "1" * 32, b"b", theirs.member)
    assert store.add([ours, theirs, again, again]) == [
        ReportOutcome.STORED,
        ReportOutcome.OTHER,
        ReportOutcome.STORED,
        ReportOutcome.STORED,
    ]
    store.close()


class OtherPeriods(InProcess):
    """A server that tells of another period every time it is asked."""

    told = 100

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        answer = super().call(method, path, body)
        if path == "/description":
            self.told += 1
            answer["period"] = self.told
        return answer


def test_one_server_alone_does_not_say_which_period_a_person_pays_for(
    servers: Servers, tmp_path: Path
) -> None:
    first, second = servers
    client = RankClient(
        OtherPeriods(asked(first).client), tmp_path / "she", budget=4, second=asked(second)
    )
    for _ in range(2):
        with pytest.raises(InputError, match="do not agree which period"):
            client.report("debt", 0.5)
    assert client.account.rest == client.account.budget.epsilon / 2
    client.close()


class Noting(InProcess):
    """Carries reports to whatever server stands there now, and notes their shares."""

    def __init__(self, service: FirstServer | SecondServer) -> None:
        super().__init__(asked(service).client)
        self.sent: list[str] = []

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        if isinstance(body, dict):
            self.sent.append(body["input_share"])
        return super().call(method, path, body)


def keyed_pair(folder: Path, clock: Clock, key: PeerKey) -> tuple[FirstServer, SecondServer]:
    """Two servers with new stores, under rules that name their key, as the command starts them."""
    folder.mkdir()
    return pair(folder, clock, replace(RULES, key=key.tag), key)


def test_servers_that_change_their_key_and_stores_within_a_period_get_no_share_again(
    tmp_path: Path, clock: Clock
) -> None:
    """Verified under two keys, a report would tell one server its bucket."""
    before = keyed_pair(tmp_path / "before", clock, KEY)
    first, second = (Noting(each) for each in before)
    client = RankClient(first, tmp_path / "she", budget=4, second=second)
    client.report("debt", 0.5)
    after = keyed_pair(tmp_path / "after", clock, PeerKey(bytes(32)))
    first.client, second.client = (asked(each).client for each in after)
    with pytest.raises(InputError, match="not those you agreed to"):
        client.report("debt", 0.5)
    assert [len(each.sent) for each in (first, second)] == [1, 1]
    client.report("debt", 0.5, agreed=client.quote("debt", 0.5).mark)
    assert [len(set(each.sent)) for each in (first, second)] == [2, 2]
    assert client.account.spent == RULES.epsilon
    with pytest.raises(InputError, match="another key"):
        SecondServer(after[1].description, SqliteStore(tmp_path / "new.sqlite"), KEY, clock=clock)
    client.close()


def test_reports_that_one_server_alone_holds_are_not_looked_at_every_second(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sweep read all of them; an hour of one sender's kept the server from its work."""
    first = servers[0]
    for place in range(3):
        keep(first, shared(RULES, place, 1), 0)
    first.verify()
    with monkeypatch.context() as patched:
        patched.delattr(type(first.writer), "run")
        first.verify()
    bring(servers, shared(RULES, 9, 1))
    first.verify()
    assert sent(servers, VERIFY)[-1]["tokens"] == [token(9)]
    assert first.telemetry.value_of("verified") == 1


def test_reports_that_could_not_be_asked_about_are_asked_about_later(servers: Servers) -> None:
    first = servers[0]
    first.verify()
    reached, first._peer = first._peer, Hanging()
    first._peer.go.set()
    for place in range(2):
        bring(servers, shared(RULES, place, 1))
        with pytest.raises(ProtocolError, match="too late"):
            first.verify()
    first._peer = reached
    first.verify()
    assert first.telemetry.value_of("verified") == 2


def test_histograms_that_are_published_are_told_while_the_second_server_hangs(
    servers: Servers, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked first waited with the server for as long as a request may take."""
    monkeypatch.setattr("sottovoce.web.rank.pair._ANSWER_S", 0.05)
    monkeypatch.setattr("sottovoce.web.rank.pair._PATIENCE_S", 0.01)
    first = servers[0]
    first.use_store(lambda store: store.keep_first(HISTOGRAM, "debt", 99, "{}"))
    report_all(servers, [0, 1, 1])
    first._peer = hanging = Hanging()
    clock.day += 1
    assert first.periods("debt") == [99]
    assert hanging.asked.wait(10)
    with pytest.raises(ProtocolError, match="being opened"):
        first.histogram("debt", 100)
    assert not hanging.go.is_set()
    hanging.go.set()
