"""Running a rank server: the socket, the event loop, and no request in a log."""

import asyncio
import os
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from sottovoce.errors import InputError, ParameterError
from sottovoce.files import PRIVATE_MODE
from sottovoce.web.guards import listening_socket

HEADERS_S = 10.0


class HeaderLimitProtocol(H11Protocol):
    """Hangs up on a connection whose next request's head is not whole after `HEADERS_S`.

    The time runs from when the connection is made, and from the first byte of every further
    request; between requests uvicorn's own limit for idle connections holds.
    """

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        if not self._in_request():
            self._begin()
        super().data_received(data)
        if self._in_request():
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _in_request(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _begin(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _end(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


_BACKLOG = 2048
GRACE_S = 5
"""How long requests that are being answered may still take once the server is told to stop."""


@dataclass(frozen=True)
class ListenSettings:
    """Where a server listens, and its certificate if it speaks TLS itself."""

    host: str = "127.0.0.1"
    port: int = 8765
    certificate: Path | None = None
    key: Path | None = None

    def check(self) -> None:
        """Refuse a certificate and a key that cannot serve, before anything is announced."""
        if self.certificate is None:
            if self.key is not None:
                raise ParameterError("--key belongs to a --certificate; give both or neither.")
            return
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            # Without a password OpenSSL would ask for that of a sealed key at the terminal.
            context.load_cert_chain(self.certificate, self.key, password="")
        except ssl.SSLError:
            raise InputError(
                f"the certificate {self.certificate} and its key must be PEM files that belong "
                "together, the key without a passphrase."
            ) from None
        except OSError as error:
            raise InputError(
                f"cannot read the certificate {self.certificate} or its key: {error.strerror}."
            ) from None


@contextmanager
def event_writer(where: str | None) -> Iterator[Callable[[str], None] | None]:
    """What writes events to a file, to standard error (``-``), or to nobody (None)."""
    if where is None:
        yield None
        return
    with _event_file(where) as file:

        def write(line: str) -> None:
            file.write(line + "\n")
            file.flush()

        yield write


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_MODE)


def _event_file(where: str) -> AbstractContextManager[TextIO]:
    if where == "-":
        return nullcontext(sys.stderr)
    try:
        return open(where, "a", encoding="utf-8", opener=_for_owner)
    except OSError as error:
        raise InputError(f"cannot write events to {where}: {error.strerror}.") from None


def serve(app: FastAPI, listen: ListenSettings, announce: Callable[[str], None]) -> None:
    """Answer until told to stop. Requests are not logged: they would name addresses.

    ``announce`` is told the URL once connections are taken; port 0 is any that is free.
    """
    config = uvicorn.Config(
        app,
        http=HeaderLimitProtocol,
        ws="none",
        ssl_certfile=listen.certificate,
        ssl_keyfile=listen.key,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = uvicorn.Server(config)
    with _listening(listen) as listener, _ending_in_good_order(server):
        scheme = "https" if listen.certificate else "http"
        announce(f"{scheme}://{listen.host}:{listener.getsockname()[1]}")
        server.run(sockets=[listener])


@contextmanager
def _ending_in_good_order(server: uvicorn.Server) -> Iterator[None]:
    """Uvicorn finishes what it answers, then raises the signal again: that must not end us.

    A signal that comes before uvicorn looks for any ends the server as soon as it has started.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, partial(_end, server))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(server: uvicorn.Server, *_signal: object) -> None:
    server.should_exit = True


def _listening(listen: ListenSettings) -> socket.socket:
    try:
        return listening_socket(listen.host, listen.port, backlog=_BACKLOG)
    except OSError as error:
        raise InputError(
            f"cannot listen at {listen.host}, port {listen.port}: {error.strerror}."
        ) from error
