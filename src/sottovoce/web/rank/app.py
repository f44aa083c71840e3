"""The rank server's routes: thin, they parse, call and answer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, HTTPException, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

import sottovoce
from sottovoce.errors import SottovoceError
from sottovoce.web.rank.limits import BodyLimit, RateLimit
from sottovoce.web.rank.models import (
    LARGEST_PERIOD,
    DescriptionForm,
    HistogramForm,
    Kept,
    Periods,
    Problem,
    noised_form,
    topic_names,
)
from sottovoce.web.rank.service import RankService
from sottovoce.web.rank.storage import Outcome
from sottovoce.web.rank.writer import BusyError

MOST_BODY = 1 << 14
_REFUSED = {
    Outcome.OTHER: "another report goes by this id; take a new one.",
    Outcome.CLOSED: "this period is over; report for the one that runs.",
}


@dataclass(frozen=True)
class Limits:
    """Requests a second, of everybody together and of each address; 0 for no limit."""

    everybody: float = 2000
    each: float = 50


def create_app(service: RankService, limits: Limits = Limits()) -> FastAPI:  # noqa: B008 - frozen
    """The server's application; closing it closes the service."""
    app = FastAPI(
        title="Sottovoce rank server",
        version=sottovoce.__version__,
        description="Publishes score histograms, never sees a score.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_closing(service),
    )
    app.add_exception_handler(RequestValidationError, _refuse_form)
    app.add_exception_handler(SottovoceError, _refuse_service)
    _add_public_routes(app, service)
    if service.description.mode == "noise":
        _add_noised_reports(app, service)
    app.add_middleware(BodyLimit, most=lambda _path: MOST_BODY)
    app.add_middleware(RateLimit, everybody=limits.everybody, each=limits.each)
    return app


def problems(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI shows the refusals of a route, those of all routes included."""
    everywhere = (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.TOO_MANY_REQUESTS)
    return {int(each): {"model": Problem} for each in (*everywhere, *statuses)}


async def acknowledged(service: RankService, form: Any, payload: bytes) -> Kept:  # noqa: ANN401 - a form made at run time
    """Store a report of the running period; answers when it is durable."""
    if form.period != service.period:
        raise HTTPException(HTTPStatus.CONFLICT, _REFUSED[Outcome.CLOSED])
    stored = service.keep(form.topic, form.period, form.id, payload)
    outcome = await asyncio.wrap_future(stored)
    if outcome is not Outcome.STORED:
        raise HTTPException(HTTPStatus.CONFLICT, _REFUSED[outcome])
    return Kept()


def check_length(service: RankService, topic: str, got: int, more: int = 0) -> None:
    """Refuse a vector that does not fit its topic's buckets."""
    wanted = service.description.topic(topic).buckets.number + more
    if got != wanted:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"this topic's reports have {wanted} numbers."
        )


def _add_public_routes(app: FastAPI, service: RankService) -> None:
    topics = topic_names(service.description)
    period_of = Annotated[int, Path(ge=0, le=LARGEST_PERIOD)]
    form = HTTPStatus.UNPROCESSABLE_ENTITY

    @app.get("/description", responses=problems())
    async def description() -> DescriptionForm:
        """The server's rules: all that a report and a rank depend on."""
        return DescriptionForm(**service.described())

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
    refused = problems(
        HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE
    )

    @app.post("/reports", responses=refused)
    async def report(sent: form) -> Kept:  # type: ignore[valid-type] # made at run time
        """Store a noised report; the same again is fine, and counts once."""
        entries: list[int] = sent.entries  # type: ignore[attr-defined] # made at run time
        check_length(service, sent.topic, len(entries))  # type: ignore[attr-defined] # likewise
        return await acknowledged(service, sent, np.array(entries, dtype=np.int8).tobytes())


def _closing(service: RankService) -> Any:  # noqa: ANN401 - FastAPI's lifespan
    """Publish what falls due while the server runs, and close the service at its end."""
    pause_s = min(60.0, service.description.period_s / 2)

    async def sweep() -> None:
        while True:
            with contextlib.suppress(SottovoceError):
                await run_in_threadpool(service.publish_due)
            await asyncio.sleep(pause_s)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            await run_in_threadpool(service.close)

    return lifespan


async def _refuse_form(_request: Request, error: Exception) -> JSONResponse:
    """Say which field is wrong and how, without echoing what was sent."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    place = ".".join(str(part) for part in first.get("loc", ()) if isinstance(part, str))
    return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{place}: {first.get('msg', 'not valid')}")


async def _refuse_service(_request: Request, error: Exception) -> JSONResponse:
    why = str(error) if isinstance(error, BusyError) else "the server cannot do it now; try later."
    return _problem(HTTPStatus.SERVICE_UNAVAILABLE, why)


def _problem(status: HTTPStatus, why: str) -> JSONResponse:
    return JSONResponse({"detail": why}, status)
