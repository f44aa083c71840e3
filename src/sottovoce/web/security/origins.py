"""Only our own pages may change something or read an answer: what other sites ask is refused.

A browser says where a request comes from: ``Sec-Fetch-Site`` cannot be set by a page, and
``Origin`` comes with every request that could change something. With our policy of sending no
referrer, a form of our own page says ``Origin: null``; then ``Sec-Fetch-Site`` must vouch for it.
"""

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce.web.security.answers import header, refuse

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OUR_SITES = frozenset({"same-origin", "none"})
FORBIDDEN = 403


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
