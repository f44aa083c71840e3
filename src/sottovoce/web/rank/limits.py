"""What one request and one address may ask of a server: plain ASGI, before anything is parsed.

Addresses are held in memory only, under a hash with a key that dies with the process; none is
stored or logged.
"""

import asyncio
import hashlib
import os
from collections.abc import Callable
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.web.security.answers import refuse
from sottovoce.web.security.patience import TOO_SLOW, patience_s
from sottovoce.web.security.rate import RateLimit


class Paced:
    """Answers 429 to whoever asks too often; a rate of 0 limits nobody."""

    def __init__(self, app: ASGIApp, everybody: float, each: float) -> None:
        self._app = app
        self._everybody = (
            RateLimit(burst=2 * everybody, per_second=everybody) if everybody else None
        )
        self._each = RateLimit(burst=5 * each, per_second=each) if each else None
        self._key = os.urandom(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._allows(scope):
            why = "too many requests; send it again later."
            later = {"retry-after": "1"}
            await refuse(scope, receive, send, HTTPStatus.TOO_MANY_REQUESTS, why, later)
            return
        await self._app(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        if self._each is not None:
            address = str((scope.get("client") or ("",))[0])
            hashed = hashlib.blake2b(address.encode(), key=self._key, digest_size=16)
            if not self._each.allows(hashed.hexdigest()):
                return False
        return self._everybody is None or self._everybody.allows()


class BodyLimit:
    """Answers 413 to a body over its limit, by its stated length or as it arrives; 408 if late."""

    def __init__(self, app: ASGIApp, most: Callable[[Scope], int]) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, body = self._most(scope), None
        if _stated_length(scope) <= most:
            try:
                async with asyncio.timeout(patience_s(most)):
                    body = await _whole_body(receive, most)
            except TimeoutError:
                await refuse(scope, receive, send, HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
                return
        if body is None:
            why = f"a request's body must have at most {most} bytes."
            await refuse(scope, receive, send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
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


def _stated_length(scope: Scope) -> int:
    stated = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(stated) if stated.isdigit() else 0
