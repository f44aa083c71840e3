"""The rank server's routes: thin, they parse, call and answer.

How often one address may ask is limited in plain ASGI, before anything is parsed. Addresses are
held in memory only, under a hash with a key that dies with the process; none is stored or logged.
"""

import asyncio
import contextlib
import hashlib
import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Header, HTTPException, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import sottovoce
from sottovoce.errors import BusyError, SottovoceError
from sottovoce.privacy.randomness import system_bytes
from sottovoce.web.guards import BodyLimit, refuse
from sottovoce.web.rank._routes import (
    LARGEST_PERIOD,
    REPORT_PROBLEMS,
    DescriptionForm,
    HistogramForm,
    Kept,
    Periods,
    add_peer_routes,
    add_shares,
    check_length,
    check_running,
    noised_form,
    problems,
    store_report,
    topic_names,
)
from sottovoce.web.rank.pair import FirstServer, PairedServer, SecondServer
from sottovoce.web.rank.peer import HEADER, MOST_PEER_BYTES, OPEN, VERIFY
from sottovoce.web.rank.service import RankService, Telemetry

MOST_BODY = 1 << 14
_PUBLISH_S, _VERIFY_S = 60.0, 1.0
"""How often what falls due is published, and what waits is verified."""


@dataclass(frozen=True)
class Limits:
    """Requests a second, of everybody together and of each address; 0 for no limit."""

    everybody: float = 2000
    each: float = 50


def create_app(
    service: RankService,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    *,
    metrics_key: str | None = None,
) -> FastAPI:
    """The server's application; what falls due is published while it runs."""
    app = FastAPI(
        title="Sottovoce rank server",
        version=sottovoce.__version__,
        description="Publishes score histograms, never sees a score.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_sweeping(service),
    )
    app.add_exception_handler(RequestValidationError, _refuse_form)
    app.add_exception_handler(SottovoceError, _refuse_service)
    _add_public_routes(app, service)
    if isinstance(service, PairedServer):
        add_shares(app, service)
    else:
        _add_noised_reports(app, service)
    if isinstance(service, SecondServer):
        add_peer_routes(app, service)
    add_operator_routes(app, service, metrics_key)
    app.add_middleware(BodyLimit, most=_most_body(service), sentence=_too_large)
    app.add_middleware(RequestLimit, everybody=limits.everybody, each=limits.each)
    app.add_middleware(RequestMeter, telemetry=service.telemetry)
    return app


class RequestLimit:
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


def _most_body(service: RankService) -> Callable[[Scope], int]:
    """Only the other server may send much, and must have signed it before it is read."""
    name = HEADER.lower().encode()

    def most(scope: Scope) -> int:
        path, given = scope["path"], dict(scope["headers"]).get(name, b"")
        if not isinstance(service, SecondServer) or path not in {VERIFY, OPEN}:
            return MOST_BODY
        vouched = service.key.is_vouched(path, given.decode("latin-1"))
        return MOST_PEER_BYTES if vouched else MOST_BODY

    return most


def _too_large(most: int) -> str:
    return f"a request's body must have at most {most} bytes."


def _add_public_routes(app: FastAPI, service: RankService) -> None:
    topics = topic_names(service.description)
    period_of = Annotated[int, Path(ge=0, le=LARGEST_PERIOD)]
    form = HTTPStatus.UNPROCESSABLE_ENTITY

    @app.get("/description", responses=problems())
    async def description() -> DescriptionForm:
        """The server's rules: all that a report and a rank depend on."""
        return DescriptionForm(**service.describe())

    @app.get("/histograms/{topic}", responses=problems(form))
    def periods(topic: topics) -> Periods:  # type: ignore[valid-type] # made at run time
        """Which periods have a published histogram."""
        return Periods(periods=service.periods(topic))

    @app.get("/histograms/{topic}/{period}", responses=problems(form, HTTPStatus.NOT_FOUND))
    def histogram(topic: topics, period: period_of) -> HistogramForm:  # type: ignore[valid-type] # likewise
        """The histogram of a period that is over; it never changes."""
        found = service.histogram(topic, period)
        if found is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "there is no histogram of this period.")
        return HistogramForm(**found)


def _add_noised_reports(app: FastAPI, service: RankService) -> None:
    form = noised_form(service.description)

    @app.post("/reports", responses=REPORT_PROBLEMS)
    async def report(sent: form) -> Kept:  # type: ignore[valid-type] # made at run time
        """Store a noised report; the same again is fine, and counts once."""
        entries: list[int] = sent.entries  # type: ignore[attr-defined] # made at run time
        ranked = service.description.topic(sent.topic)  # type: ignore[attr-defined] # likewise
        check_length(len(entries), ranked.buckets.number)
        check_running(service, sent)
        check_length(sum(entries), service.description.noise(ranked.name).weight, "ones")
        return await store_report(service, sent, np.array(entries, dtype=np.int8).tobytes())


def _sweeping(service: RankService) -> Any:  # noqa: ANN401 - FastAPI's lifespan
    """Publish what falls due while the server runs, and verify what waits."""
    works = {service.publish_due: min(_PUBLISH_S, service.description.period_s / 2)}
    if isinstance(service, FirstServer):
        works[service.verify] = min(_VERIFY_S, service.description.period_s / 2)

    async def repeat(work: Callable[[], None], pause_s: float) -> None:
        told = ""
        while True:
            why = ""
            try:
                await run_in_threadpool(work)
            except SottovoceError as error:
                why = str(error)
            if why and why != told:
                service.telemetry.tell("cannot publish or verify, will try again", why=why)
            told = why
            await asyncio.sleep(pause_s)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(repeat(*work)) for work in works.items()]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    return lifespan


async def _refuse_form(_request: Request, error: Exception) -> JSONResponse:
    """Say which field is wrong and how, without echoing what was sent."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    place = ".".join(str(part) for part in first.get("loc", ()) if isinstance(part, str))
    return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{place}: {first.get('msg', 'not valid')}")


async def _refuse_service(_request: Request, error: Exception) -> JSONResponse:
    why = (
        str(error)
        if isinstance(error, BusyError)
        else ("the server cannot do that now; try again later.")
    )
    return _problem(HTTPStatus.SERVICE_UNAVAILABLE, why)


def _problem(status: HTTPStatus, why: str) -> JSONResponse:
    return JSONResponse({"detail": why}, status)


class RequestMeter:
    """Measures every request by its route, not by its path, which may name anything."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app, self._telemetry = app, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._telemetry.note_answer(route, status, time.perf_counter() - begun)


READY_S = 2.0


def add_operator_routes(app: FastAPI, service: RankService, metrics_key: str | None) -> None:
    """Health for everybody; numbers only under a key, and without one not at all."""

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        """Whether the process answers."""
        return JSONResponse({"status": "alive"})

    @app.get("/readyz", include_in_schema=False)
    async def readyz() -> JSONResponse:
        """Whether its store answers as well."""
        try:
            asked = service.writer.run(lambda store: store.list_periods("", 1))
            await asyncio.wait_for(asyncio.wrap_future(asked), READY_S)
        except (SottovoceError, TimeoutError):
            return JSONResponse({"status": "the store does not answer"}, 503)
        return JSONResponse({"status": "ready"})

    if metrics_key is None:
        return

    @app.get("/metrics", include_in_schema=False)
    async def metrics(authorization: Annotated[str, Header()] = "") -> PlainTextResponse:
        """What was counted, for Prometheus."""
        if not hmac.compare_digest(authorization.encode(), f"Bearer {metrics_key}".encode()):
            raise HTTPException(
                HTTPStatus.UNAUTHORIZED, "only whoever runs this server may ask that."
            )
        return PlainTextResponse(service.telemetry.metrics(), media_type=PROMETHEUS)


PROMETHEUS = "text/plain; version=0.0.4"


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


MOST_KEYS = 10_000
