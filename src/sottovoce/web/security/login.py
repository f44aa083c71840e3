"""Who may use a page: login by a token, and limited tries.

An address with a token works once and lets a browser in; a cookie keeps it in. Other people on this
machine can reach its ports too; without a session they get nothing.
"""

import hashlib
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from hmac import compare_digest

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

MOST_SESSIONS = 20
TOKEN_BYTES = 32


class LoginTokens:
    """Exchanges tokens, each good for one time, for sessions.

    ``renewed`` is told each new token, so that another browser can be let in.
    """

    def __init__(self, renewed: Callable[[str], None] | None = None) -> None:
        self._lock = threading.Lock()
        self._renewed = renewed
        self._sessions: OrderedDict[bytes, None] = OrderedDict()
        self._token = secrets.token_urlsafe(TOKEN_BYTES)

    @property
    def token(self) -> str:
        """What lets the next browser in."""
        return self._token

    def exchange(self, token: str) -> str | None:
        """A session for the token, which is then spent; None for a wrong one."""
        with self._lock:
            if not compare_digest(_digest(token), _digest(self._token)):
                return None
            self._token = renewed = secrets.token_urlsafe(TOKEN_BYTES)
            session = secrets.token_urlsafe(TOKEN_BYTES)
            self._sessions[_digest(session)] = None
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        if self._renewed is not None:
            self._renewed(renewed)
        return session

    def knows(self, session: str | None) -> bool:
        """Whether the session was given out here; looked up by digest, so timing tells nothing."""
        return session is not None and _digest(session) in self._sessions


class NeedsSession:
    """Hand requests without a session of ``login`` to ``outside``, but for the ``open_paths``."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        login: LoginTokens,
        cookie: str,
        open_paths: Collection[str],
        outside: ASGIApp,
    ) -> None:
        self._app = app
        self._login = login
        self._cookie = cookie
        self._open_paths = frozenset(open_paths)
        self._outside = outside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        inside = (
            scope["type"] == "lifespan"
            or scope["path"] in self._open_paths
            or self._login.knows(HTTPConnection(scope).cookies.get(self._cookie))
        )
        await (self._app if inside else self._outside)(scope, receive, send)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
