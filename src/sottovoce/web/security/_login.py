"""Who may use a page: login by a token or a password, limited tries, and a log of looks.

An address with a token works once and lets a browser in; a cookie keeps it in. Other people on this
machine can reach its ports too; without a session they get nothing. The operator's password is in a
file, as its argon2 hash; how often it may be tried is limited, and who looked at what, and when, is
in a file that only grows.
"""

import hashlib
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from hmac import compare_digest
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce._files import append_private, refuse_open_to_others, whole_file
from sottovoce.errors import InputError

MOST_SESSIONS = 20
TOKEN_BYTES = 32
SHORTEST = 12
LONGEST_FILE_BYTES = 4096
MOST_KEYS = 10_000


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


def write_password(path: Path, password: str) -> None:
    """Keep the password's hash in ``path``, readable by its owner only."""
    if len(password) < SHORTEST:
        raise InputError(f"the password must have at least {SHORTEST} characters.")
    with whole_file(path, private=True) as temporary:
        temporary.write_text(PasswordHasher().hash(password) + "\n", encoding="ascii")


class PasswordFile:
    """The hash of a password, read once."""

    def __init__(self, path: Path) -> None:
        self._hash = _read(path)

    def matches(self, password: str) -> bool:
        """Whether this is the password."""
        try:
            return PasswordHasher().verify(self._hash, password.encode(errors="replace"))
        except VerificationError:
            return False


def _read(path: Path) -> str:
    try:
        refuse_open_to_others(path)
        text = path.read_bytes()[:LONGEST_FILE_BYTES].decode("ascii", "replace").strip()
        PasswordHasher().check_needs_rehash(text)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None
    except InvalidHashError:
        raise InputError(
            f"{path} holds no argon2 hash; make one: "
            f"sottovoce advise --set-operator-password {path}"
        ) from None
    return text


class RateLimit:
    """A bucket of ``burst`` tries for each key, refilled with ``per_second``."""

    def __init__(
        self, *, burst: float, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str = "") -> bool:
        """Whether one more try is allowed now; it is counted."""
        with self._lock:
            left = self._tries_left(key)
            allowed = left >= 1
            self._left[key] = (left - 1 if allowed else left, self._clock())
            self._left.move_to_end(key)
            # The key longest untouched has the fullest bucket, so forgetting it gives least away.
            while len(self._left) > MOST_KEYS:
                self._left.popitem(last=False)
            return allowed

    def wait_s(self, key: str = "") -> float:
        """Seconds until the next try is allowed."""
        with self._lock:
            return max(0.0, (1 - self._tries_left(key)) / self._per_second)

    def _tries_left(self, key: str) -> float:
        left, since = self._left.get(key, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - since) * self._per_second)


class LookLog:
    """One line of JSON for each look, on disk before anything is shown."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._append(b"")

    def note(self, event: str, **facts: str | int) -> None:
        """Append a line; when it cannot be written, whoever looks must not see anything."""
        line = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "event": event, **facts}
        self._append(json.dumps(line).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        with self._lock:
            append_private(self.path, line)
