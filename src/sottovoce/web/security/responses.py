"""What goes on every answer, and what a defect of ours is answered with.

Headers see to it that nothing is loaded from elsewhere, framed, guessed, kept or told on. A defect
is answered with one sentence, and told to the terminal without anybody's text.
"""

import sys
import traceback
from collections.abc import Mapping
from types import MappingProxyType

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.web.security.requests import refuse

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
