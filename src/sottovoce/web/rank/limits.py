"""How often one address may ask a server: plain ASGI, before anything is parsed.

Addresses are held in memory only, under a hash with a key that dies with the process; none is
stored or logged.
"""

import hashlib
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce.privacy.randomness import system_bytes
from sottovoce.web.security.answers import refuse
from sottovoce.web.security.rate import RateLimit


class Paced:
    """Answers 429 to whoever asks too often; a rate of 0 limits nobody."""

    def __init__(self, app: ASGIApp, everybody: float, each: float) -> None:
        self._app = app
        self._everybody = (
            RateLimit(burst=2 * everybody, per_second=everybody) if everybody else None
        )
        self._each = RateLimit(burst=5 * each, per_second=each) if each else None
        self._key = system_bytes(32)

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
