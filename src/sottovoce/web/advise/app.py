"""The advisor page as an application: routes inside, everything that refuses around them.

It is served from a socket on this machine, at an address that works once, without a log of
requests.
"""

import hashlib
import ipaddress
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

import sottovoce
from sottovoce.advisor.alert_store import AlertStore
from sottovoce.errors import ParameterError, SottovoceError, UnwantedError
from sottovoce.files import passing_folder, whole_file
from sottovoce.web.advise import _bring, _standing, _what_if
from sottovoce.web.advise._bring import LOGIN_PATH
from sottovoce.web.advise._pages import BAD_INPUT, UNREADABLE, show
from sottovoce.web.advise.session import DEMO, AdvisorSession, ComparedCommunity, Reporting
from sottovoce.web.guards import (
    LOOPBACK,
    BodyLimit,
    DefectAnswer,
    HostCheck,
    SameOrigin,
    SecureHeaders,
    WhileWanted,
    hosts_of,
    listening_socket,
)

HELP_LINE = (
    "If any of this weighs on you, you need not carry it alone: a doctor, a counsellor or a "
    "helpline where you live can help."
)
BODY_LIMIT_BYTES = 2 * 1024 * 1024
LAST_PORT = 65_535
STOPPED = 503
FOLDER_PREFIX = "sottovoce-advise-"
MOST_SESSIONS = 20
TOKEN_BYTES = 32
_REDIRECT_PAGE = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'
)


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


@dataclass(frozen=True)
class PageOptions:
    """What the page is started with."""

    store: Path
    port: int = 0
    names: tuple[str, ...] = LOOPBACK
    """Under which names or addresses it may be reached."""
    comparison: ComparedCommunity = DEMO
    reporting: Reporting | None = None
    login: LoginTokens = field(default_factory=LoginTokens)
    upload_limit_bytes: int = _bring.UPLOAD_LIMIT_BYTES
    help_line: str | None = HELP_LINE
    """Shown quietly where a topic of health shows; None: nowhere."""
    uploads: Path | None = None
    """Where files lie that are brought, until they are read; None: where the system has its."""
    stopping: Callable[[], bool] = bool
    """Whether the program was told to stop, so that nobody waits for an answer."""


def create_app(options: PageOptions) -> ASGIApp:
    """The page, ready to be served at ``options.port``."""
    inner = routes(options)
    hosts = hosts_of(options.names, options.port)
    limits = {_bring.UPLOAD: options.upload_limit_bytes, _bring.PASTE: _bring.PASTE_LIMIT_BYTES}
    # From the inside out: the last one added sees a request first.
    guarded: ASGIApp = WhileWanted(inner, options.stopping)
    guarded = BodyLimit(guarded, lambda scope: limits.get(scope["path"], BODY_LIMIT_BYTES))
    guarded = NeedsSession(
        guarded,
        login=options.login,
        cookie=inner.state.cookie,
        open_paths=_bring.OPEN_PATHS,
        outside=_bring.outside,
    )
    guarded = SameOrigin(guarded, [f"http://{host}" for host in hosts])
    return SecureHeaders(DefectAnswer(HostCheck(guarded, hosts)))


def routes(options: PageOptions) -> FastAPI:
    """The routes alone, without what guards them."""
    app = FastAPI(
        title="Sottovoce advisor",
        version=sottovoce.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        lifespan=_lifespan,
    )
    app.state.session = AdvisorSession(
        options.comparison, AlertStore(options.store), options.reporting
    )
    app.state.login = options.login
    app.state.help_line = options.help_line
    app.state.uploads = options.uploads
    # Cookies do not tell ports apart, so two advisors need two names.
    app.state.cookie = f"sottovoce-{options.port}"
    for router in (
        _bring.router, _standing.router, _standing.settings_router, _what_if.router
    ):  # fmt: skip
        app.include_router(router)
    _answer_errors(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.session.close()


def _answer_errors(app: FastAPI) -> None:
    @app.exception_handler(SottovoceError)
    def answer_bad_input(request: Request, error: SottovoceError) -> Response:
        return _answer_problem(request, BAD_INPUT, str(error))

    @app.exception_handler(UnwantedError)
    def answer_stopped(request: Request, _error: UnwantedError) -> Response:
        return _answer_problem(request, STOPPED, "This was stopped before it was done.")

    @app.exception_handler(HTTPException)
    def answer_refusal(request: Request, error: HTTPException) -> Response:
        answer = _answer_problem(request, error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(RequestValidationError)
    def answer_unreadable(request: Request, error: RequestValidationError) -> Response:
        # The library's own answer would repeat what was sent.
        wrong = sorted({f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()})
        return _answer_problem(request, UNREADABLE, f"This cannot be used. {'; '.join(wrong)}.")


def _answer_problem(request: Request, status: int, sentence: str) -> Response:
    if request.url.path.startswith("/api"):
        return JSONResponse({"detail": sentence}, status)
    return show(request, "problem.html", status=status, problem=sentence, back="/")


@dataclass(frozen=True)
class PageAddress:
    """Where the page is served."""

    host: str
    port: int
    beyond_this_machine: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= LAST_PORT:
            raise ParameterError(f"port must be from 0 to {LAST_PORT}, got {self.port}.")
        if self._ip.is_unspecified:
            raise ParameterError("host must be one address, got one that stands for all of them.")
        if not self._ip.is_loopback and not self.beyond_this_machine:
            raise ParameterError(
                "host must be this machine itself (127.0.0.1): others could reach the page "
                "elsewhere, unencrypted; if you know that, add --i-know-others-can-reach-it."
            )

    @property
    def _ip(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
        try:
            return ipaddress.ip_address("127.0.0.1" if self.host == "localhost" else self.host)
        except ValueError:
            raise ParameterError("host must be an address such as 127.0.0.1.") from None

    @property
    def host_in_address(self) -> str:
        """As it stands in an address."""
        return f"[{self._ip}]" if self._ip.version == 6 else str(self._ip)  # noqa: PLR2004 - IPv6

    @property
    def names(self) -> tuple[str, ...]:
        """What a browser may call it."""
        return LOOPBACK if self._ip.is_loopback else (self.host_in_address,)

    def listen(self) -> socket.socket:
        """A socket that listens there."""
        family = socket.AF_INET6 if self._ip.version == 6 else socket.AF_INET  # noqa: PLR2004 - IPv6
        try:
            return listening_socket(str(self._ip), self.port, family=family)
        except OSError as error:
            raise ParameterError(
                f"cannot listen on port {self.port}: {error.strerror}; choose another with --port."
            ) from None


def serve(
    listen_at: PageAddress,
    options: PageOptions,
    *,
    show_address: Callable[[str], None],
    show_next_address: Callable[[str], None],
    open_browser: bool,
) -> None:
    """Serve until stopped; ``show_address`` gets the address, the other each one that follows."""
    with listen_at.listen() as listening, passing_folder(FOLDER_PREFIX) as folder:
        port = int(listening.getsockname()[1])

        def address(token: str) -> str:
            return f"http://{listen_at.host_in_address}:{port}{LOGIN_PATH}?token={token}"

        login = LoginTokens(lambda token: show_next_address(address(token)))
        app = create_app(
            replace(
                options,
                port=port,
                names=listen_at.names,
                login=login,
                uploads=folder,
                stopping=lambda: server.should_exit,
            )
        )
        show_address(address(login.token))
        if open_browser:
            _open(folder / "open.html", address(login.token))
        # Requests are not logged: their addresses name topics.
        config = uvicorn.Config(app, access_log=False, log_level="error", server_header=False)
        server = uvicorn.Server(config)
        # The server raises its signals again when it has ended: so nothing is left behind then.
        signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, server.handle_exit)
        server.run(sockets=[listening])


def _open(path: Path, address: str) -> None:
    """Through a private file: everybody on this machine can read the arguments of a program."""
    with whole_file(path, private=True) as temporary:
        temporary.write_text(_REDIRECT_PAGE.format(address=address), encoding="ascii")
    webbrowser.open(path.as_uri())
