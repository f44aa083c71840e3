"""The advisor page as an application: routes inside, everything that refuses around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

import sottovoce
from sottovoce.advisor.alert_store import AlertStore
from sottovoce.errors import SottovoceError
from sottovoce.web.advise import (
    routes_api,
    routes_door,
    routes_draft,
    routes_operator,
    routes_report,
    routes_settings,
    routes_start,
    routes_topics,
)
from sottovoce.web.advise.desk import DEMO, Comparison, Desk
from sottovoce.web.advise.operator import Operator
from sottovoce.web.advise.parts import BAD_INPUT, UNREADABLE, show
from sottovoce.web.advise.reporting import Reporting
from sottovoce.web.security.body_limit import BodyLimit
from sottovoce.web.security.door import Door, NeedsSession
from sottovoce.web.security.faults import Unbroken
from sottovoce.web.security.headers import SecureHeaders
from sottovoce.web.security.hosts import LOOPBACK, HostCheck, hosts_of
from sottovoce.web.security.origins import SameOrigin

BODY_LIMIT_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True)
class Options:
    """What the page is started with."""

    port: int
    store: Path
    names: tuple[str, ...] = LOOPBACK
    """Under which names or addresses it may be reached."""
    comparison: Comparison = DEMO
    operator: Operator | None = None
    reporting: Reporting | None = None
    door: Door = field(default_factory=Door)
    upload_limit_bytes: int = routes_start.UPLOAD_LIMIT_BYTES


def create_app(options: Options) -> ASGIApp:
    """The page, ready to be served at ``options.port``."""
    inner = routes(options)
    hosts = hosts_of(options.names, options.port)
    limits = {
        routes_start.UPLOAD: options.upload_limit_bytes,
        routes_start.PASTE: routes_start.PASTE_LIMIT_BYTES,
    }
    # From the inside out: the last one added sees a request first.
    guarded: ASGIApp = BodyLimit(inner, lambda scope: limits.get(scope["path"], BODY_LIMIT_BYTES))
    guarded = NeedsSession(
        guarded,
        door=options.door,
        cookie=inner.state.cookie,
        open_paths=routes_door.OPEN_PATHS,
        outside=routes_door.outside,
    )
    guarded = SameOrigin(guarded, [f"http://{host}" for host in hosts])
    return SecureHeaders(Unbroken(HostCheck(guarded, hosts)))


def routes(options: Options) -> FastAPI:
    """The routes alone, without what guards them."""
    app = FastAPI(
        title="Sottovoce advisor",
        version=sottovoce.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        lifespan=_lifespan,
    )
    app.state.desk = Desk(options.comparison, AlertStore(options.store), options.reporting)
    app.state.door = options.door
    app.state.operator = options.operator
    # Cookies do not tell ports apart, so two advisors need two names.
    app.state.cookie = f"sottovoce-{options.port}"
    parts = (
        routes_door,
        routes_start,
        routes_topics,
        routes_draft,
        routes_report,
        routes_settings,
        routes_api,
    )
    for part in parts:
        app.include_router(part.router)
    if options.operator is not None:
        app.include_router(routes_operator.router)
    _answer_errors(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.desk.close()


def _answer_errors(app: FastAPI) -> None:
    @app.exception_handler(SottovoceError)
    def bad_input(request: Request, error: SottovoceError) -> Response:
        return _problem(request, BAD_INPUT, str(error))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        answer = _problem(request, error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(RequestValidationError)
    def unreadable(request: Request, error: RequestValidationError) -> Response:
        # The library's own answer would repeat what was sent.
        wrong = sorted({f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()})
        return _problem(request, UNREADABLE, f"This cannot be used. {'; '.join(wrong)}.")


def _problem(request: Request, status: int, sentence: str) -> Response:
    if request.url.path.startswith("/api"):
        return JSONResponse({"detail": sentence}, status)
    return show(request, "problem.html", status=status, problem=sentence, back="/")
