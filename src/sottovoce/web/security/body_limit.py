"""Bodies over the limit are refused early: by their declared length, or while they arrive.

So are bodies that take too long.
"""

import asyncio
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.web.security.answers import header, refuse
from sottovoce.web.security.patience import TOO_SLOW, patience_s

TOO_LARGE = 413
TIMED_OUT = 408
BAD_REQUEST = 400
LONGEST_NUMBER = 18


def too_large(limit_bytes: int) -> str:
    """The sentence for a body beyond the limit."""
    return f"What was sent is larger than the {size_in_words(limit_bytes)} that are read at once."


class BodyLimit:
    """At most as many bytes of body as ``most`` says for a request.

    Args:
        app: what is guarded; it must answer the exceptions of its framework.
        most: the limit of a request in bytes, asked once, before the body is read.
        sentence: what is said of a body beyond its limit.
    """

    def __init__(
        self,
        app: ASGIApp,
        most: Callable[[Scope], int],
        sentence: Callable[[int], str] = too_large,
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
            await self._app(scope, _counted(receive, limit, self._sentence(limit)), send)


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


def _counted(receive: Receive, limit: int, beyond: str) -> Receive:
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
