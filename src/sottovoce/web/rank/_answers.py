"""How routes answer: what they share, and the words of their refusals."""

import asyncio
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException

from sottovoce.web.rank._models import Kept
from sottovoce.web.rank.service import RankService
from sottovoce.web.rank.store import ReportOutcome
from sottovoce.web.security.requests import Problem

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


async def acknowledged(service: RankService, form: Any, payload: bytes) -> Kept:  # noqa: ANN401 - a form made at run time
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
