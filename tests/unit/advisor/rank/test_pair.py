"""Two servers: only the noised sum over what both hold and accept is opened, once."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.rank_reports import (
    Servers,
    bring,
    forged,
    keep,
    publish,
    report_all,
    sent,
    shared,
    token,
)
from support.rank_servers import KEY, Clock, InProcessPeer, description, pair, running

from sottovoce.advisor.rank.description import HttpTransport
from sottovoce.errors import InputError, ProtocolError
from sottovoce.web.rank.app import MOST_BODY
from sottovoce.web.rank.pair import SecondServer
from sottovoce.web.rank.peer import HEADER, OPEN, SIGNATURE_DIGITS, VERIFY, HttpPeer, PeerKey
from sottovoce.web.rank.service import Telemetry
from sottovoce.web.rank.store import QUESTION, ReportOutcome, SqliteStore

RULES = description("shares", epsilon="200", buckets=6)
"""So little noise that sums are exact, but for a chance of e^-100."""


@pytest.mark.parametrize("silenced", [True, False])
def test_servers_whose_noise_is_silenced_open_the_exact_counts_and_others_do_not(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, silenced: bool
) -> None:
    """So nothing but the noise, at any epsilon, is between people and what is published."""
    if silenced:
        silent = SimpleNamespace(noise=lambda number: [0] * number)
        monkeypatch.setattr(
            "sottovoce.advisor.rank.shares.GeometricMechanism", lambda _rate: silent
        )
    servers = pair(tmp_path, clock, description("shares", epsilon="1/10", buckets=6))
    buckets = [5, 0, 3, 3, 1, 5, 5, 2, 0, 3]
    report_all(servers, buckets)
    number, counts = publish(servers, clock)
    assert number == len(buckets)
    # By their noise's law alone, all six counts are exact once in 10^11 openings.
    assert (counts == np.bincount(buckets, minlength=6).tolist()) == silenced


def test_of_reports_that_both_servers_hold_a_late_one_too_each_counts_once(
    servers: Servers, clock: Clock
) -> None:
    report_all(servers, [1, 2, 2])
    late = shared(RULES, 9, 5)
    keep(servers[0], late, 0)
    servers[0].verify()
    keep(servers[1], late, 1)
    servers[0].verify()
    bring(servers, late)
    for place, server in enumerate(servers):
        keep(server, shared(RULES, 50 + place, 0), place)
    assert publish(servers, clock) == (4, [0, 1, 2, 0, 0, 1])


def test_what_the_second_server_does_not_hold_is_asked_about_once_and_again_at_the_end(
    servers: Servers, clock: Clock
) -> None:
    keep(servers[0], shared(RULES, 9, 5), 0)
    for _ in range(3):
        servers[0].verify()
    assert len(sent(servers, VERIFY, OPEN)) == 1
    publish(servers, clock)
    assert (len(sent(servers, VERIFY)), len(sent(servers, OPEN))) == (2, 1)


def test_many_reports_are_verified_some_at_a_time(
    servers: Servers, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.web.rank.pair.AT_ONCE", 2)
    report_all(servers, [0, 1, 2, 3, 4])
    keep(servers[0], shared(RULES, 1 << 100, 0), 0)
    assert publish(servers, clock) == (5, [1, 1, 1, 1, 1, 0])
    assert [len(message["tokens"]) for message in sent(servers, VERIFY)] == [2, 2, 2]


def test_a_report_that_is_not_one_bucket_is_left_out(servers: Servers, clock: Clock) -> None:
    report_all(servers, [5, 5, 5])
    bring(servers, forged(RULES, 9, [2, -1, 0, 0, 0, 0]))
    assert publish(servers, clock) == (3, [0, 0, 0, 0, 0, 3])
    assert [server.telemetry.value_of("refused") for server in servers] == [1, 1]
    assert [server.telemetry.value_of("verified") for server in servers] == [3, 3]


class Contrary(InProcessPeer):
    """A first server that tells the second another share than its own, of one report."""

    def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        if path == VERIFY and message["tokens"][0] == token(0):
            message = message | {"shares": ["00", *message["shares"][1:]]}
        return super().call(path, message)


def test_a_report_about_which_the_servers_disagree_is_dropped_and_both_say_so(
    servers: Servers, clock: Clock
) -> None:
    first, second = servers
    first._peer = Contrary(second)
    said: list[str] = []
    first.telemetry = second.telemetry = Telemetry(said.append)
    report_all(servers, [0, 1, 1, 2])
    assert publish(servers, clock) == (3, [0, 2, 1, 0, 0, 0])
    events = [json.loads(line) for line in said]
    assert [event["dropped_as_servers_disagree"] for event in events] == [1, 1]
    assert first.telemetry.value_of("dropped") == 2


def test_too_few_reports_are_withheld_dropped_and_not_even_their_number_is_told(
    servers: Servers, clock: Clock
) -> None:
    said: list[str] = []
    for server in servers:
        server.telemetry = Telemetry(said.append)
    report_all(servers, [5, 5])
    assert publish(servers, clock)[1] is None
    assert [sorted(json.loads(line)) for line in said] == [["event", "period", "time", "topic"]] * 2
    for server in servers:
        assert server.use_store(lambda store: store.list_due(["debt"], 101)) == []
        assert server.use_store(lambda store: store.list_outputs("debt", 100)) == {}


class Broken(InProcessPeer):
    """Answers, but its answer to the opening is lost on the way, the first time."""

    lost = 1

    def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(path, message)
        if path == OPEN and self.lost:
            self.lost -= 1
            raise ProtocolError("lost")
        return answer


def test_an_opening_that_broke_off_is_finished_with_the_same_sum(
    tmp_path: Path, clock: Clock
) -> None:
    rules = description("shares", epsilon="1/10", buckets=6)
    servers = pair(tmp_path, clock, rules)
    broken = Broken(servers[1])
    servers[0]._peer = broken
    report_all(servers, [5] * 5)
    keep(servers[0], shared(rules, 9, 5), 0)
    clock.day += 1
    for _ in range(2):
        broken.lost = 1
        with pytest.raises(ProtocolError, match="lost"):
            servers[0].histogram("debt", 100)
    found = servers[0].histogram("debt", 100)
    openings = sent(servers, OPEN)
    assert openings == [openings[0]] * 3
    assert len({servers[1].answer_open(openings[0])["sum"] for _ in range(3)}) == 1
    assert servers[0].histogram("debt", 100) == found


def test_what_cannot_be_opened_does_not_hold_up_the_others(tmp_path: Path, clock: Clock) -> None:
    rules = description("shares", epsilon="60", topics=2, buckets=6)
    first, second = pair(tmp_path, clock, rules)

    class Refusing(InProcessPeer):
        def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
            if message["topic"] == "debt":
                raise ProtocolError("no")
            return super().call(path, message)

    first._peer = Refusing(second)
    for topic in ("debt", "illness"):
        report_all((first, second), [5] * 3, topic)
    clock.day += 1
    with pytest.raises(ProtocolError, match="no"):
        first.publish_due()
    assert first.periods("illness") == [100]
    assert first.periods("debt") == []


ANSWERS = b"<html>", b"[" * 100_000, b"[]", b'{"shares": 3}', b'{"shares": []}'


@pytest.mark.parametrize("answer", [*ANSWERS, b'{"shares": ["x", 1, null]}'])
def test_an_answer_of_the_second_server_that_is_none_is_its_fault(
    servers: Servers, clock: Clock, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    report_all(servers, [5] * 3)
    clock.day += 1
    servers[0]._peer = HttpPeer("http://127.0.0.1:9", KEY)
    monkeypatch.setattr(HttpTransport, "exchange", lambda *_given: (200, answer))
    with pytest.raises(ProtocolError):
        servers[0].publish_due()


def test_only_what_the_other_server_signed_may_be_large(servers: Servers) -> None:
    large = b"[" + b" " * MOST_BODY + b"]"
    with running(servers[1]) as server:
        for path in (VERIFY, OPEN):
            forged = "0" * SIGNATURE_DIGITS
            elsewhere = KEY.signature("/elsewhere", large)
            for signature in ("", forged, elsewhere):
                answer = server.client.post(path, content=large, headers={HEADER: signature})
                assert answer.status_code == 413
            good = {HEADER: KEY.signature(path, large)}
            assert server.client.post(path, content=large, headers=good).status_code == 422
            swapped = server.client.post(path, content=large + b" ", headers=good)
            assert swapped.status_code == 403


def test_of_a_topic_and_period_one_sum_is_opened_ever_so_none_is_the_difference_of_two(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    report_all(servers, [0, 1, 2, 3, 4, 5])
    publish(servers, clock)
    (message,), second = sent(servers, OPEN), servers[1]
    fewer = message | {"tokens": message["tokens"][1:]}
    with pytest.raises(ProtocolError, match="opened already"):
        second.answer_open(fewer)
    with pytest.raises(ProtocolError, match="open already"):
        second.answer_verify(message | {"shares": ["00"] * 6})
    second.close()
    again = SecondServer(RULES, SqliteStore(tmp_path / "second.sqlite"), KEY, clock=clock)
    with pytest.raises(ProtocolError, match="opened already"):
        again.answer_open(fewer)
    again.close()


def test_another_sum_than_the_one_that_was_noted_is_not_opened_after_a_crash(
    servers: Servers, clock: Clock
) -> None:
    report_all(servers, [0, 1, 2, 3, 4, 5])
    servers[0].verify()
    clock.day += 1
    about = {"topic": "debt", "period": 100, "description": RULES.version}
    tokens = [token(place) for place in range(6)]
    second = servers[1]
    second.use_store(lambda store: store.keep_first(QUESTION, "debt", 100, "another"))
    with pytest.raises(ProtocolError, match="demanded already"):
        second.answer_open(about | {"tokens": tokens})


def test_once_a_sum_was_demanded_no_report_is_added_or_verified(
    servers: Servers, clock: Clock
) -> None:
    report_all(servers, [0, 1, 2])
    publish(servers, clock)
    for place, server in enumerate(servers):
        late = server.keep("debt", 100, token(9), shared(RULES, 9, 5).payload(place)).result(10)
        assert late is ReportOutcome.CLOSED


def test_a_running_period_is_verified_and_not_opened(servers: Servers) -> None:
    report_all(servers, [0, 1, 2])
    servers[0].verify()
    assert servers[1].telemetry.value_of("verified") == 3
    with pytest.raises(ProtocolError, match="not over"):
        servers[1].answer_open({"topic": "debt", "period": 100, "tokens": []})


@pytest.mark.parametrize(
    ("name", "key", "why"),
    [("second", PeerKey(bytes(32)), "another key"), ("first", KEY, "with another place")],
)
def test_a_store_keeps_to_one_key_and_one_place(
    servers: Servers, tmp_path: Path, name: str, key: PeerKey, why: str
) -> None:
    """A report verified under two keys gives its bucket away; a sum of others' shares is noise."""
    for server in servers:
        server.close()
    store = SqliteStore(tmp_path / f"{name}.sqlite")
    with pytest.raises(InputError, match=why):
        SecondServer(RULES, store, key)
    store.close()


def test_only_the_other_server_may_ask_the_second(servers: Servers) -> None:
    with running(servers[1]) as server:
        path, content = OPEN, b'{"topic": "debt"}'
        other = PeerKey(bytes(32)).signature(path, content)
        for signature in ("", "0" * 64, KEY.signature("/peer/verify", content), other):
            answer = server.client.post(path, content=content, headers={HEADER: signature})
            assert answer.status_code == 403
        signed = {HEADER: KEY.signature(path, content)}
        assert server.client.post(path, content=content, headers=signed).status_code == 422
        assert server.call("GET", "/histograms/debt") == {"periods": []}
        assert server.client.get("/histograms/debt/99").status_code == 404
