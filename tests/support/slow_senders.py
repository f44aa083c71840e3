"""Somebody who begins a request over a plain socket, and never ends it."""

import socket

import pytest

from sottovoce.web import guards

TIMEOUT_S = 30


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of this process wait a moment instead of half a minute."""
    monkeypatch.setattr(guards, "PATIENCE_S", 0.2)
    monkeypatch.setattr(guards, "SLOWEST_BYTES_PER_S", 1 << 60)


def given_up(port: int, sent: str) -> tuple[str, str]:
    """Status and whole answer, once the server has hung up by itself."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection:
        connection.sendall(sent.encode())
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    return answer.decode().split(" ")[1], answer.decode()
