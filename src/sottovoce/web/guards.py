"""What guards a page and a server: which requests are refused, and what goes on every answer.

Requests are refused before a page's own code has run, each with one short sentence.

`HostCheck`: only requests to our own address are served. DNS rebinding needs another: a page of
another site whose name is suddenly ours. The browser then still sends the other site's name as
``Host``.

`SameOrigin`: only our own pages may change something or read an answer. A browser says where a
request comes from: ``Sec-Fetch-Site`` cannot be set by a page, and ``Origin`` comes with every
request that could change something. With our policy of sending no referrer, a form of our own page
says ``Origin: null``; then ``Sec-Fetch-Site`` must vouch for it.

`BodyLimit`: a body over the limit is refused early, by its declared length or while it arrives; so
is one that takes too long: whoever sends a byte a minute must not hold a place.
"""

import asyncio
import errno
import json
import os
import socket
import sys
import traceback
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from pydantic import BaseModel
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.steps import no_longer_wanted

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
DEFAULT_PORT = 80
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OUR_SITES = frozenset({"same-origin", "none"})
BAD_REQUEST, FORBIDDEN, TIMED_OUT, TOO_LARGE, WRONG_HOST = 400, 403, 408, 413, 421
LONGEST_NUMBER = 18
PATIENCE_S = 30.0
SLOWEST_BYTES_PER_S = 1 << 20
TOO_SLOW = "What was sent took too long to arrive; send it again."


def patience_s(most_bytes: int) -> float:
    """Half a minute, and what the largest allowed body takes at a MiB a second."""
    return PATIENCE_S + most_bytes / SLOWEST_BYTES_PER_S


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    sentence: str,
    more: Mapping[str, str] | None = None,
) -> None:
    """Answer with one sentence: as JSON, which a program reads and a person can.

    ``more`` are headers beside the usual ones.
    """
    del scope, receive
    body = json.dumps(Problem(detail=sentence).model_dump()).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        # What is left of a refused body must not be taken for the next request.
        (b"connection", b"close"),
        *((name.encode(), value.encode()) for name, value in (more or {}).items()),
    ]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})


def header(scope: Scope, name: bytes) -> str | None:
    """The header called ``name`` in lower case; None when it is absent, "" when it is repeated."""
    found = [value for each, value in scope["headers"] if each == name]
    if not found:
        return None
    return "" if len(found) > 1 else bytes(found[0]).decode("latin-1")


class HostCheck:
    """Refuse every request whose ``Host`` is not one of ``allowed`` ("127.0.0.1:8000", ...)."""

    def __init__(self, app: ASGIApp, allowed: Collection[str]) -> None:
        self._app = app
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = header(scope, b"host") if scope["type"] == "http" else None
        if scope["type"] != "lifespan" and (host or "").lower() not in self._allowed:
            await refuse(scope, receive, send, WRONG_HOST, "This address is not served here.")
        else:
            await self._app(scope, receive, send)


def hosts_of(names: Collection[str], port: int) -> frozenset[str]:
    """What a browser may send as ``Host`` for these names at ``port``."""
    return frozenset(f"{name}:{port}" for name in names) | (
        frozenset(names) if port == DEFAULT_PORT else frozenset()
    )


class SameOrigin:
    """Refuse what another origin asks, but for following a link to a page.

    ``browsers_only``: a request that changes something must say where it comes from, as browsers
    do; without it, programs that say nothing are let through.
    """

    def __init__(
        self, app: ASGIApp, origins: Collection[str], *, browsers_only: bool = True
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._browsers_only = browsers_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._allows(scope):
            sentence = "Only this page itself may ask for that."
            await refuse(scope, receive, send, FORBIDDEN, sentence)
        else:
            await self._app(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        site, origin = header(scope, b"sec-fetch-site"), header(scope, b"origin")
        if scope["method"] in SAFE:
            return self._may_read(scope, site, origin)
        if origin in self._origins:
            return site in {None, "same-origin"}
        if origin == "null":
            return site == "same-origin"
        if origin is None:
            return site == "same-origin" or (site is None and not self._browsers_only)
        return False

    def _may_read(self, scope: Scope, site: str | None, origin: str | None) -> bool:
        if origin is not None and origin not in self._origins:
            return False
        return site is None or site in OUR_SITES or _follows_a_link(scope)


def _follows_a_link(scope: Scope) -> bool:
    mode, place = header(scope, b"sec-fetch-mode"), header(scope, b"sec-fetch-dest")
    return mode == "navigate" and place == "document"


def too_large(limit_bytes: int) -> str:
    """The sentence for a body beyond the limit."""
    return f"What was sent is larger than the {size_in_words(limit_bytes)} that are read at once."


class WhileWanted:
    """Have the work on a request end when its browser has left, or ``stopping`` says so."""

    def __init__(self, app: ASGIApp, stopping: Callable[[], bool]) -> None:
        self._app, self._stopping = app, stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving: asyncio.Future[Message] | None = None

        async def watching() -> Message:
            nonlocal leaving
            if leaving is not None:
                return await asyncio.shield(leaving)
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body", False):
                # What comes after the body is that the browser went away.
                leaving = asyncio.ensure_future(receive())
            return message

        no_longer_wanted.set(lambda: self._stopping() or (leaving is not None and leaving.done()))
        try:
            await self._app(scope, watching, send)
        finally:
            if leaving is not None:
                leaving.cancel()


class BodyLimit:
    """At most as many bytes of body as ``most`` says for a request.

    Args:
        app: what is guarded; it must answer the exceptions of its framework.
        most: the limit of a request in bytes, asked once, before the body is read.
        sentence: what is said of a body beyond its limit.
    """

    def __init__(
        self, app: ASGIApp, most: Callable[[Scope], int], sentence: Callable[[int], str] = too_large
    ) -> None:
        self._app, self._most, self._sentence = app, most, sentence

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._most(scope)
        declared = _declared_bytes(scope)
        if declared is None:
            await refuse(scope, receive, send, BAD_REQUEST, "Content-Length must be a number.")
        elif declared > limit:
            await refuse(scope, receive, send, TOO_LARGE, self._sentence(limit))
        else:
            await self._app(scope, _limit_body(receive, limit, self._sentence(limit)), send)


def size_in_words(size_bytes: int) -> str:
    """``64 MiB``."""
    for unit, name in ((1024 * 1024, "MiB"), (1024, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes // unit:,} {name}"
    return f"{size_bytes} bytes"


def _declared_bytes(scope: Scope) -> int | None:
    declared = header(scope, b"content-length")
    if declared is None:
        return 0
    usable = declared.isascii() and declared.isdecimal() and len(declared) <= LONGEST_NUMBER
    return int(declared) if usable else None


def _limit_body(receive: Receive, limit: int, beyond: str) -> Receive:
    seen, arrived = 0, False
    until = asyncio.get_running_loop().time() + patience_s(limit)

    async def counting() -> Message:
        nonlocal seen, arrived
        if arrived:
            # What comes now is that the browser went away, which may take as long as it likes.
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            raise HTTPException(TIMED_OUT, TOO_SLOW, {"connection": "close"}) from None
        arrived = not message.get("more_body", False)
        seen += len(message.get("body", b""))
        if seen > limit:
            # An HTTPException passes through the parsers of bodies, which swallow others; and the
            # rest of the body is not even read.
            raise HTTPException(TOO_LARGE, beyond, {"connection": "close"})
        return message

    return counting


DEFECT = 500
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "content-security-policy": CONTENT_POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
        "cache-control": "no-store",
    }
)


class SecureHeaders:
    """Put ``headers`` on every answer, whoever gave it."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str] = HEADERS) -> None:
        self._app = app
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(dict(self._headers))
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


class DefectAnswer:
    """Answer 500 whatever goes wrong inside; the terminal is told the kind and place of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def note_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, note_start)
        except Exception as error:  # noqa: BLE001 - whatever it is, its text may be private
            _tell(error)
            if scope["type"] == "http" and not started:
                await refuse(scope, receive, send, DEFECT, "A defect in Sottovoce, sorry.")


def _tell(error: Exception) -> None:
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = f"A defect in Sottovoce: {type(error).__name__} at {place.filename}:{place.lineno}."
    print(words, file=sys.stderr)  # noqa: T201 - the message itself may hold private text


def listening_socket(
    host: str, port: int, *, family: int = socket.AF_INET, backlog: int | None = None
) -> socket.socket:
    """Listen there; an OSError says why that cannot be."""
    try:
        listener = socket.create_server((host, port), family=family, backlog=backlog)
    except OSError as error:
        if error.errno is None or error.errno not in errno.errorcode:
            raise
        # Python adds the address to the reason, which whoever catches this has said already.
        raise OSError(error.errno, os.strerror(error.errno)) from None
    # Else the second half of an answer waits for the first to be acknowledged: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
