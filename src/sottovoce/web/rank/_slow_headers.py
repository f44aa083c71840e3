"""A time limit for the head of a request: whoever sends a byte a minute must not hold a place.

Bodies have theirs in `sottovoce.web.security`; uvicorn itself has none for headers.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

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
