"""The forms of requests and answers: what OpenAPI shows and what is enforced are one thing."""

import asyncio
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import HTTPException
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.shares import PUBLIC_BYTES, input_share_bytes
from sottovoce.web.rank.service import RankService
from sottovoce.web.rank.store import ReportOutcome
from sottovoce.web.security.requests import Problem

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
    ReportOutcome.OTHER: "another report goes by this id; take a new one.",
    ReportOutcome.SPENT: "this admission was used for another report of this topic and period.",
    ReportOutcome.CLOSED: "this period is over; report for the one that runs.",
}


def problems(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI shows the refusals of a route, those of all routes included."""
    everywhere = (
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.TOO_MANY_REQUESTS,
    )
    return {int(each): {"model": Problem} for each in (*everywhere, *statuses)}


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
            "this server's store was put back from a copy, so it does not count this period; "
            "report in the next one.",
        )


def _member(service: RankService, form: Any) -> str:  # noqa: ANN401 - likewise
    if service.admission is None:
        return ""
    member = service.admission.member(form.admission or "", form.topic, form.period)
    if member is None:
        raise HTTPException(
            HTTPStatus.UNAUTHORIZED,
            "this server takes reports with an admission token only; ask whoever runs it for one.",
        )
    return member


def check_length(got: int, wanted: int, of: str = "numbers") -> None:
    """Refuse what does not fit its topic's buckets."""
    if got != wanted:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"this topic's reports have {wanted} {of}."
        )
