"""Two servers: only the noised sum over what both hold is opened, once."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rank_servers import KEY, Clock, InProcess, InProcessPeer, description, pair, running

from sottovoce.advisor.rank._opening import PARTS, joined
from sottovoce.advisor.rank._shares import drawn, minus, residues, split
from sottovoce.advisor.rank._transport import HttpTransport
from sottovoce.errors import InputError, ProtocolError
from sottovoce.web.rank._app import MOST_BODY
from sottovoce.web.rank._pair import (
    CHECK,
    HEADER,
    OPEN,
    SIGNATURE_DIGITS,
    FirstServer,
    HttpPeer,
    PeerKey,
    SecondServer,
)
from sottovoce.web.rank._service import RankService

RULES = description("shares", epsilon="100")
"""So little noise that sums are exact, but for a chance of e^-50."""
BUCKETS = 20


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def servers(tmp_path: Path, clock: Clock) -> Iterator[tuple[FirstServer, SecondServer]]:
    first, second = pair(tmp_path, clock, RULES)
    yield first, second
    first.close()
    second.close()


def keep(server: RankService, place: int, share: Any, topic: str = "debt") -> None:  # noqa: ANN401 - an array
    server.keep(topic, 100, f"{place:032x}", share.astype("<u8").tobytes()).result(10)


def report(
    servers: tuple[FirstServer, SecondServer], place: int, bucket: int, topic: str = "debt"
) -> None:
    for server, share in zip(servers, split([bucket], BUCKETS), strict=True):
        keep(server, place, share[0], topic)


def test_the_sum_runs_over_the_reports_that_both_servers_hold(
    servers: tuple[FirstServer, SecondServer], clock: Clock
) -> None:
    for place, bucket in enumerate([3, 3, 7, 19]):
        report(servers, place, bucket)
    keep(servers[0], 50, split([0], BUCKETS)[0][0])
    keep(servers[1], 51, split([0], BUCKETS)[1][0])
    clock.day += 1
    found = servers[0].histogram("debt", 100)
    assert found is not None
    assert found["reports"] == 4
    expected = np.bincount([3, 3, 7, 19], minlength=BUCKETS)
    assert found["counts"] == expected.tolist()


@pytest.mark.parametrize("vector", [{2: 2, 3: -1}, {2: 1000, 3: -999}, {2: 1, 3: 1}, {}])
def test_a_report_that_is_not_one_bucket_is_left_out(
    servers: tuple[FirstServer, SecondServer], clock: Clock, vector: dict[int, int]
) -> None:
    for place in range(3):
        report(servers, place, 5)
    s, x = int(drawn((1,))[0]), [vector.get(j, 0) for j in range(BUCKETS)]
    secret = residues([*x, s, s * s, *(2 * s * entry for entry in x)])
    share = drawn(secret.shape)
    keep(servers[0], 9, share)
    keep(servers[1], 9, minus(secret, share))
    clock.day += 1
    found = servers[0].histogram("debt", 100)
    assert found is not None
    assert (found["reports"], found["counts"][5], sum(found["counts"])) == (3, 3, 3)


def test_too_few_reports_are_withheld_and_both_servers_drop_them(
    servers: tuple[FirstServer, SecondServer], clock: Clock
) -> None:
    report(servers, 0, 5)
    clock.day += 1
    found = servers[0].histogram("debt", 100)
    assert found is not None
    assert found["counts"] is None
    for server in servers:
        assert server.writer.run(lambda store: store.due(["debt"], 101)).result() == []


class Broken(InProcessPeer):
    """Answers, but its answer to the opening is lost on the way, the first time."""

    lost = 1

    def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(path, message)
        if path == OPEN and self.lost:
            self.lost -= 1
            raise ProtocolError("lost")
        return answer


def test_an_opening_that_broke_off_is_finished_with_the_same_noise(
    tmp_path: Path, clock: Clock
) -> None:
    rules = description("shares", epsilon="1/10")
    servers = pair(tmp_path, clock, rules)
    broken = Broken(servers[1])
    servers[0]._peer = broken
    for place in range(5):
        report(servers, place, 5)
    clock.day += 1
    with pytest.raises(ProtocolError):
        servers[0].histogram("debt", 100)
    with pytest.raises(ProtocolError, match="lost"):
        broken.lost = 1
        servers[0].histogram("debt", 100)
    found = servers[0].histogram("debt", 100)
    openings = [message for path, message in broken.sent if path == OPEN]
    assert openings == [openings[0]] * 3
    sums = {tuple(servers[1].opened(openings[0])["sum"]) for _ in range(3)}
    assert len(sums) == 1
    assert servers[0].histogram("debt", 100) == found
    for server in servers:
        server.close()


def test_servers_that_are_restarted_amid_an_opening_finish_it_with_the_noise_they_had(
    tmp_path: Path, clock: Clock
) -> None:
    rules = description("shares", epsilon="1/10")
    servers = pair(tmp_path, clock, rules)
    servers[0]._peer = Broken(servers[1])
    for place in range(5):
        report(servers, place, 5)
    clock.day += 1
    with pytest.raises(ProtocolError, match="lost"):
        servers[0].histogram("debt", 100)
    noted = [
        server.writer.run(lambda store: store.noted("debt", 100)).result() for server in servers
    ]
    for server in servers:
        server.close()
    again = pair(tmp_path, clock, rules)
    found = again[0].histogram("debt", 100)
    own, other = (json.loads(str(record)) for record in noted)
    assert found is not None
    assert found["counts"] == [float(count) for count in joined(own["own"], other["sum"])]
    for server in again:
        server.close()


def test_what_cannot_be_opened_does_not_hold_up_the_others(tmp_path: Path, clock: Clock) -> None:
    first, second = pair(tmp_path, clock, description("shares", epsilon="60", topics=2))

    class Refusing(InProcessPeer):
        def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
            if message["topic"] == "debt":
                raise ProtocolError("no")
            return super().call(path, message)

    first._peer = Refusing(second)
    for place in range(3):
        for topic in ("debt", "illness"):
            report((first, second), place, 5, topic)
    clock.day += 1
    with pytest.raises(ProtocolError, match="no"):
        first.publish_due()
    assert first.periods("illness") == [100]
    assert first.periods("debt") == []
    first.close()
    second.close()


@pytest.mark.parametrize(
    "sent", [b"<html>", b"[" * 100_000, b"[]", b'{"tokens": 3}', b'{"tokens": [], "sum": "0"}']
)
def test_an_answer_of_the_second_server_that_is_none_is_its_fault(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    first, second = pair(tmp_path, clock, RULES)
    for place in range(3):
        report((first, second), place, 5)
    clock.day += 1
    first._peer = HttpPeer("http://127.0.0.1:9", KEY)
    monkeypatch.setattr(HttpTransport, "exchange", lambda *_given: (200, sent))
    with pytest.raises(ProtocolError):
        first.publish_due()
    first.close()
    second.close()


def test_a_sum_of_another_length_is_refused(tmp_path: Path, clock: Clock) -> None:
    first, second = pair(tmp_path, clock, RULES)

    class Short(InProcessPeer):
        def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
            answer = super().call(path, message)
            return {"sum": answer["sum"][:16]} if path == OPEN else answer

    first._peer = Short(second)
    for place in range(3):
        report((first, second), place, 5)
    clock.day += 1
    with pytest.raises(ProtocolError, match="another length"):
        first.histogram("debt", 100)
    first.close()
    second.close()


def test_only_what_the_other_server_signed_may_be_large(tmp_path: Path, clock: Clock) -> None:
    first, second = pair(tmp_path, clock, RULES)
    large = b"[" + b" " * MOST_BODY + b"]"
    with running(first), running(second) as server:
        for path in (CHECK, OPEN):
            forged = "0" * SIGNATURE_DIGITS
            elsewhere = KEY.signature("/elsewhere", large)
            for signature in ("", forged, elsewhere):
                answer = server.client.post(path, content=large, headers={HEADER: signature})
                assert answer.status_code == 413
            good = {HEADER: KEY.signature(path, large)}
            assert server.client.post(path, content=large, headers=good).status_code == 422
            swapped = server.client.post(path, content=large + b" ", headers=good)
            assert swapped.status_code == 403


def shortened(message: dict[str, Any], number: int) -> dict[str, Any]:
    """The message about its first reports only."""
    packed = {name: message[name][: 16 * number] for name in PARTS}
    return message | packed | {"tokens": message["tokens"][:number]}


def demanded(servers: tuple[FirstServer, SecondServer]) -> dict[str, Any]:
    """What the first server demanded of the second."""
    peer = servers[0]._peer
    assert isinstance(peer, InProcessPeer)
    return next(message for path, message in peer.sent if path == OPEN)


def test_the_second_server_opens_one_sum_a_period_and_none_of_few_reports(
    servers: tuple[FirstServer, SecondServer], clock: Clock
) -> None:
    for place in range(6):
        report(servers, place, 5)
    clock.day += 1
    second = servers[1]
    servers[0].histogram("debt", 100)
    message = demanded(servers)
    part = shortened(message, 4)
    with pytest.raises(ProtocolError, match="opened already"):
        second.opened(part)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda m: shortened(m, 2), "did not ask"),
        (lambda m: shortened(m, 5), "did not ask"),
        (lambda m: m | {"tokens": m["tokens"][::-1]}, "did not ask"),
        (lambda m: m | {"commitment": "0" * 64}, "did not ask"),
        (lambda m: m | {"squared": "0" * len(m["squared"])}, "committed itself to other"),
        (lambda m: m | {"masked": "no share"}, "committed itself to other"),
        (lambda m: m | {"nonce": "0" * 64}, "committed itself to other"),
        (lambda m: m | {"accepted": "0" * 64}, "disagree"),
    ],
)
def test_the_second_server_checks_what_is_demanded_of_it(
    tmp_path: Path,
    clock: Clock,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    why: str,
) -> None:
    first, second = pair(tmp_path, clock, RULES)

    class Twisted(InProcessPeer):
        def call(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
            return super().call(path, change(message) if path == OPEN else message)

    first._peer = Twisted(second)
    for place in range(6):
        report((first, second), place, 5)
    clock.day += 1
    with pytest.raises(ProtocolError, match=why):
        first.histogram("debt", 100)
    first.close()
    second.close()


def test_a_running_period_is_not_opened(servers: tuple[FirstServer, SecondServer]) -> None:
    message = {"topic": "debt", "period": 100, "tokens": [], "masked": ""}
    with pytest.raises(ProtocolError, match="not over"):
        servers[1].checked(message)
    with pytest.raises(ProtocolError, match="not over"):
        servers[1].opened(message)


def test_only_the_other_server_may_ask_the_second(tmp_path: Path, clock: Clock) -> None:
    first, second = pair(tmp_path, clock, RULES)
    with running(first), running(second) as server:
        path, content = OPEN, b'{"topic": "debt"}'
        for signature in ("", "0" * 64, KEY.signature("/peer/check", content)):
            answer = server.client.post(path, content=content, headers={HEADER: signature})
            assert answer.status_code == 403
        signed = {HEADER: KEY.signature(path, content)}
        assert server.client.post(path, content=content, headers=signed).status_code == 422
        assert_no_histograms(server)


def assert_no_histograms(server: InProcess) -> None:
    assert server.call("GET", "/histograms/debt") == {"periods": []}
    assert server.client.get("/histograms/debt/99").status_code == 404


def test_a_key_file_must_be_private_and_long_enough(tmp_path: Path) -> None:
    path = tmp_path / "peer.key"
    path.write_text("ab" * 32)
    path.chmod(0o644)
    with pytest.raises(InputError, match="open to others"):
        PeerKey.read(path)
    path.chmod(0o600)
    assert repr(PeerKey.read(path)) == "PeerKey()"
    path.write_text("ab")
    with pytest.raises(InputError, match="64 hexadecimal"):
        PeerKey.read(path)
    with pytest.raises(InputError, match="cannot read"):
        PeerKey.read(tmp_path / "none")
