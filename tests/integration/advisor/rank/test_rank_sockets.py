"""Clients and servers over real sockets on this machine, under a clock that the test turns."""

import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from support.rank_reports import keep, shared
from support.rank_servers import KEY, Clock, description, listening, noise_service, report_once
from support.slow_senders import given_up, impatient

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import HttpTransport
from sottovoce.errors import InputError, ProtocolError, RefusedError
from sottovoce.web.rank.pair import FirstServer, SecondServer
from sottovoce.web.rank.peer import HttpPeer, PeerKey
from sottovoce.web.rank.store import SqliteStore


def test_people_learn_their_ranks_from_one_server(tmp_path: Path) -> None:
    clock = Clock()
    with listening(noise_service(tmp_path, clock, description(epsilon="60"))) as url:
        for person in range(10):
            report_once(url, tmp_path / f"person {person}", person / 10, budget=60)
        clock.day += 1
        she = RankClient(url, tmp_path / "person 9", budget=60)
        found = she.rank("debt", 0.9)
        assert (found.low, found.high, found.band) == (1, 1, "top 10%")
        assert "You are in the top 10%." in found.in_words()
        she.close()


def pair_at(url: str, folder: Path, clock: Clock, key: PeerKey = KEY) -> FirstServer:
    rules = description("shares", epsilon="60")
    store = SqliteStore(folder / "first.sqlite")
    return FirstServer(rules, store, key, HttpPeer(url, key), clock=clock)


def test_people_learn_their_ranks_from_two_servers(tmp_path: Path) -> None:
    clock, rules = Clock(), description("shares", epsilon="60")
    second = SecondServer(rules, SqliteStore(tmp_path / "second.sqlite"), KEY, clock=clock)
    with listening(second) as second_url:
        first = pair_at(second_url, tmp_path, clock)
        with listening(first) as first_url:
            for person in range(10):
                folder = tmp_path / f"person {person}"
                report_once(first_url, folder, person / 10, budget=60, second=second_url)
            clock.day += 1
            she = RankClient(first_url, tmp_path / "person 9", budget=60, second=second_url)
            assert she.histogram("debt").counts == tuple(np.tile([1.0, 0.0], 10))
            assert she.rank("debt", 0.9).band == "top 10%"
            she.close()


def test_a_first_server_with_another_key_is_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    clock, rules = Clock(), description("shares", epsilon="60")
    second = SecondServer(rules, SqliteStore(tmp_path / "second.sqlite"), KEY, clock=clock)
    with listening(second) as url:
        first = pair_at(url, tmp_path, clock, PeerKey(bytes(32)))
        keep(first, shared(rules, 0, 3), 0)
        clock.day += 1
        with pytest.raises(RefusedError, match="403"):
            first.histogram("debt", 100)
        # Whoever lists what is published is not told of it.
        assert first.periods("debt") == []
        first.close()


def test_a_server_that_is_not_there_or_not_one_is_told_apart(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        threading.Thread(target=answer_once, args=(listener,)).start()
        with pytest.raises(InputError, match="not JSON"):
            HttpTransport(f"http://127.0.0.1:{port}").call("GET", "/description")
        threading.Thread(target=answer_once, args=(listener,)).start()
        with pytest.raises(InputError, match="exceeds 3 bytes"):
            HttpTransport(f"http://127.0.0.1:{port}", most_bytes=3).call("GET", "/description")
    with pytest.raises(ProtocolError, match="at 127.0.0.1 cannot be reached: nothing listens"):
        HttpTransport(f"http://127.0.0.1:{port}").call("GET", "/description")


def test_a_server_whose_name_nobody_knows_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ProtocolError, match="no machine has that name"):
        HttpTransport("https://ranks.invalid").call("GET", "/description")


def answer_once(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")


def test_a_report_that_never_ends_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    with listening(noise_service(tmp_path, Clock())) as url:
        head = "POST /reports HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{"
        status, answer = given_up(urlsplit(url).port or 0, head)
        assert status == "408"
        assert "took too long" in answer
        report_once(url, tmp_path / "she")
