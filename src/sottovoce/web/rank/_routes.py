"""The forms of requests and answers: what OpenAPI shows and what is enforced are one thing."""

import asyncio
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.shares import PUBLIC_BYTES, input_share_bytes
from sottovoce.errors import ProtocolError
from sottovoce.web.guards import Problem
from sottovoce.web.rank.pair import AT_ONCE, PairedServer, SecondServer
from sottovoce.web.rank.peer import HEADER, OPEN, SIGNATURE_DIGITS, VERIFY
from sottovoce.web.rank.service import RankService
from sottovoce.web.rank.store import ReportOutcome

LARGEST_PERIOD = (1 << 53) - 1


def whole(value: Any) -> Any:  # noqa: ANN401 - whatever was sent
    """1.0 is a whole number to JSON, and "1" or true is none: nor are they here."""
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


Period = Annotated[int, Field(ge=0, le=LARGEST_PERIOD, strict=True), BeforeValidator(whole)]
Octets = Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]
"""Bytes in hexadecimal digits."""
Token = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", min_length=32, max_length=32)]


class Strict(BaseModel):
    """Nothing but the named fields, of the named types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Kept(BaseModel):
    """A report is stored, durably."""

    stored: Literal[True] = True


class TopicForm(BaseModel):
    """One topic and the edges between its buckets."""

    name: str
    measure: str
    edges: list[float]


class DescriptionForm(BaseModel):
    """The server's rules and the running period."""

    protocol: int
    mode: Literal["noise", "shares"]
    epsilon: str
    precision: int
    k: float
    m: int
    bucket: str
    period_s: int
    minimum_reports: int
    topics: list[TopicForm]
    key: str = ""
    version: str
    period: int
    ends: int


class Periods(BaseModel):
    """The latest periods with a published histogram, the latest first."""

    periods: list[int]


class HistogramForm(BaseModel):
    """A published histogram; its counts are null where too few people reported."""

    topic: str
    period: int
    description: str
    reports: int
    counts: list[float] | None
    at_least: list[float] | None


def topic_names(description: Description) -> Any:  # noqa: ANN401 - a type made at run time
    """The type of the names of the server's topics."""
    return Literal[tuple(description.by_name)]


def noised_form(description: Description) -> type[BaseModel]:
    """A noised report: every entry is a bit."""
    entry = Annotated[int, Field(ge=0, le=1, strict=True)]
    numbers = [topic.buckets.number for topic in description.topics]
    length = Field(min_length=min(numbers), max_length=max(numbers))
    entries = Annotated[list[entry], length, BeforeValidator(whole)]
    return _form("NoisedReport", description, entries=(entries, ...))


def share_form(description: Description, place: int) -> type[BaseModel]:
    """A report of Prio3 as the first server (0) or the second gets it: bytes in hexadecimal."""
    lengths = [
        2 * input_share_bytes(description, topic.name, place) for topic in description.topics
    ]
    own = _hexadecimal(min(lengths), max(lengths))
    public = _hexadecimal(2 * PUBLIC_BYTES, 2 * PUBLIC_BYTES)
    return _form("SharedReport", description, public_share=(public, ...), input_share=(own, ...))


def _hexadecimal(fewest: int, most: int) -> Any:  # noqa: ANN401 - a type made at run time
    digits = Field(
        pattern=f"^([0-9a-f]{{2}}){{{fewest // 2},{most // 2}}}$",
        min_length=fewest,
        max_length=most,
    )
    return Annotated[str, digits]


def _form(
    name: str,
    description: Description,
    **vector: Any,  # noqa: ANN401 - a field made at run time
) -> type[BaseModel]:
    fields: dict[str, Any] = {
        "topic": (topic_names(description), ...),
        "period": (Period, ...),
        "id": (Token, ...),
        "description": (Literal[(description.version,)], ...),
        "admission": (Token | None, None),
    }
    return create_model(name, __base__=Strict, **fields, **vector)


_REFUSED = {
    ReportOutcome.OTHER: "another report has this id; take a new one.",
    ReportOutcome.SPENT: "this admission was used for another report of this topic and period.",
    ReportOutcome.CLOSED: "this period is over; report for the current one.",
}


def problems(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI shows the refusals of a route, those of all routes included."""
    everywhere = (
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.TOO_MANY_REQUESTS,
    )
    return {int(each): {"model": Problem} for each in (*everywhere, *statuses)}


REPORT_PROBLEMS = problems(
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.CONFLICT,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.UNAUTHORIZED,
)
"""Why a report may be refused, by one server as by two."""


async def store_report(service: RankService, form: Any, payload: bytes) -> Kept:  # noqa: ANN401 - a form made at run time
    """Store a report of the running period; answers when it is durable."""
    check_running(service, form)
    stored = service.keep(form.topic, form.period, form.id, payload, _member(service, form))
    outcome = await asyncio.wrap_future(stored)
    if outcome is not ReportOutcome.STORED:
        raise HTTPException(HTTPStatus.CONFLICT, _REFUSED[outcome])
    service.telemetry.count("stored")
    return Kept()


def check_running(service: RankService, form: Any) -> None:  # noqa: ANN401 - likewise
    """Refuse a report of a period that is not the one that runs, or that is not counted."""
    if form.period != service.period:
        raise HTTPException(HTTPStatus.CONFLICT, _REFUSED[ReportOutcome.CLOSED])
    if form.period < service.counts_from:
        raise HTTPException(
            HTTPStatus.CONFLICT,
            "this server's store was restored from a copy, so it does not count this period; "
            "report in the next one.",
        )


def _member(service: RankService, form: Any) -> str:  # noqa: ANN401 - likewise
    if service.admission is None:
        return ""
    member = service.admission.member(form.admission or "", form.topic, form.period)
    if member is None:
        raise HTTPException(
            HTTPStatus.UNAUTHORIZED,
            "this server takes reports only with an admission token; ask whoever runs it for one.",
        )
    return member


def check_length(got: int, wanted: int, of: str = "numbers") -> None:
    """Refuse what does not fit its topic's buckets."""
    if got != wanted:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"this topic's reports have {wanted} {of}."
        )


class VerifierShares(BaseModel):
    """The second server's verifier shares; null for a report that it does not hold."""

    shares: list[str | None]


class OpenedSum(BaseModel):
    """The second server's noised sum, and which reports it leaves out.

    The sum is empty where reports were too few.
    """

    sum: str
    dropped: list[str]


def add_shares(app: FastAPI, service: PairedServer) -> None:
    """Where clients bring a server's part of their reports."""
    form = share_form(service.description, service.place)

    @app.post("/reports", responses=REPORT_PROBLEMS)
    async def report(sent: form) -> Kept:  # type: ignore[valid-type] # made at run time
        """Store this server's part of a report; the same again is fine, and counts once."""
        public, own = (bytes.fromhex(each) for each in (sent.public_share, sent.input_share))  # type: ignore[attr-defined] # made at run time
        wanted = input_share_bytes(service.description, sent.topic, service.place)  # type: ignore[attr-defined] # likewise
        check_length(len(own), wanted, "bytes in this server's input share")
        return await store_report(service, sent, public + own)


def add_peer_routes(app: FastAPI, service: SecondServer) -> None:
    """Where the first server asks the second; every request is signed."""
    verifying, opening = _peer_forms(service)
    statuses = (HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.CONFLICT)
    refused = problems(*statuses, HTTPStatus.SERVICE_UNAVAILABLE)
    signature = Annotated[str, Header(alias=HEADER, max_length=SIGNATURE_DIGITS)]

    @app.post(VERIFY, responses=refused, openapi_extra=_body(verifying))
    async def peer_verify(request: Request, signed: signature = "") -> VerifierShares:
        """The second server's verifier shares of reports that both servers hold."""
        return VerifierShares(
            **await _answer_peer(service, request, signed, verifying, service.answer_verify)
        )

    @app.post(OPEN, responses=refused, openapi_extra=_body(opening))
    async def peer_open(request: Request, signed: signature = "") -> OpenedSum:
        """The second server's noised sum over the reports that both servers accepted."""
        return OpenedSum(
            **await _answer_peer(service, request, signed, opening, service.answer_open)
        )


async def _answer_peer(
    service: SecondServer,
    request: Request,
    signed: str,
    form: type[BaseModel],
    work: Any,  # noqa: ANN401 - a method
) -> dict[str, Any]:
    body = await request.body()
    if not service.key.is_signed(request.url.path, body, signed):
        raise HTTPException(HTTPStatus.FORBIDDEN, "only the other server may ask this.")
    try:
        message = form.model_validate_json(body).model_dump()
        answer: dict[str, Any] = await run_in_threadpool(work, message)
    except ValidationError:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, "not a message.") from None
    except (ProtocolError, ValueError) as error:
        raise HTTPException(HTTPStatus.CONFLICT, _safe(error)) from None
    return answer


def _safe(error: Exception) -> str:
    return str(error) if isinstance(error, ProtocolError) else "the lists do not match."


def _peer_forms(service: SecondServer) -> tuple[type[BaseModel], type[BaseModel]]:
    about: dict[str, Any] = {
        "topic": (topic_names(service.description), ...),
        "period": (Period, ...),
        "description": (Literal[(service.description.version,)], ...),
    }
    some = Field(max_length=AT_ONCE)
    asked: dict[str, Any] = {
        "tokens": (Annotated[list[Token], some], ...),
        "shares": (Annotated[list[Octets], some], ...),
    }
    verifying = create_model("Verifying", __base__=Strict, **about, **asked)
    return verifying, create_model("Opening", __base__=Strict, **about, tokens=(list[Token], ...))


def _body(form: type[BaseModel]) -> dict[str, Any]:
    """How OpenAPI shows a body that is parsed only once its signature was checked."""
    schema = {"application/json": {"schema": form.model_json_schema()}}
    return {"requestBody": {"required": True, "content": schema}}
