"""Only requests to our own address: a foreign name that resolves to this machine is refused.

That is what DNS rebinding needs: a page of another site whose name is suddenly ours. The browser
then still sends the other site's name as ``Host``.
"""

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce.web.security.answers import header, refuse

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
WRONG_HOST = 421


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


DEFAULT_PORT = 80
