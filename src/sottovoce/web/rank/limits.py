"""What one request and one address may ask of a server: plain ASGI, before anything is parsed.

Addresses are held in memory only, under a hash with a key that dies with the process; none is
stored or logged.
"""

import asyncio
import hashlib
import json
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, TypeAlias

from sottovoce.web.security.patience import TOO_SLOW, patience_s

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_MOST_ADDRESSES = 10_000


class TokenBuckets:
    """At most ``per_second`` requests a second each, and a burst of ``burst`` once in a while."""

    def __init__(
        self, per_second: float, burst: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._left: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, key: bytes) -> bool:
        """Whether ``key`` may have one more now."""
        now = self._clock()
        left, since = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._per_second)
        allowed = left >= 1
        self._left[key] = (left - allowed, now)
        if len(self._left) > _MOST_ADDRESSES:
            self._left.popitem(last=False)
        return allowed


class RateLimit:
    """Answers 429 to whoever asks too often; a rate of 0 limits nobody."""

    def __init__(self, app: Application, everybody: float, each: float) -> None:
        self._app = app
        self._everybody = TokenBuckets(everybody, 2 * everybody) if everybody else None
        self._each = TokenBuckets(each, 5 * each) if each else None
        self._key = os.urandom(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._allowed(scope):
            await refuse(
                send, HTTPStatus.TOO_MANY_REQUESTS, "too many requests; send it again later."
            )
            return
        await self._app(scope, receive, send)

    def _allowed(self, scope: Scope) -> bool:
        if self._each is not None:
            address = str((scope.get("client") or ("",))[0])
            hashed = hashlib.blake2b(address.encode(), key=self._key, digest_size=16).digest()
            if not self._each.take(hashed):
                return False
        return self._everybody is None or self._everybody.take(b"")


class BodyLimit:
    """Answers 413 to a body over its limit, by its stated length or as it arrives; 408 if late."""

    def __init__(self, app: Application, most: Callable[[Scope], int]) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most(scope)
        if _stated_length(scope) > most:
            await refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(most))
            return
        try:
            async with asyncio.timeout(patience_s(most)):
                body = await _whole_body(receive, most)
        except TimeoutError:
            await refuse(send, HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
            return
        if body is None:
            await refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(most))
            return
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Message:
            message = next(messages, None)
            return await receive() if message is None else message

        await self._app(scope, replay, send)


async def _whole_body(receive: Receive, most: int) -> bytes | None:
    """The body, or None when it exceeds ``most``."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            return None
        parts.append(part)
        more = bool(message.get("more_body"))
    return b"".join(parts)


async def refuse(send: Send, status: HTTPStatus, why: str) -> None:
    """Answer with an error in the form of all others."""
    body = json.dumps({"detail": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        headers.append((b"retry-after", b"1"))
    if status == HTTPStatus.REQUEST_TIMEOUT:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _stated_length(scope: Scope) -> int:
    stated = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(stated) if stated.isdigit() else 0


def _too_large(most: int) -> str:
    return f"a request's body must have at most {most} bytes."
