"""Routes of the mode of shares: clients bring shares, the first server asks the second."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ValidationError, create_model

from sottovoce.advisor.rank._opening import PARTS
from sottovoce.advisor.rank._shares import DIGITS, width
from sottovoce.errors import ProtocolError
from sottovoce.web.rank._answers import acknowledged, check_length, problems
from sottovoce.web.rank._models import (
    Hash,
    Kept,
    Packed,
    Period,
    Strict,
    Token,
    share_form,
    topic_names,
)
from sottovoce.web.rank._pair import CHECK, HEADER, OPEN, SIGNATURE_DIGITS, SecondServer
from sottovoce.web.rank._service import RankService


class Answered(BaseModel):
    """The second server's parts of the check, a packed number for each report of both."""

    tokens: list[str]
    masked: str
    squared: str
    sums: str


class OpenedSum(BaseModel):
    """The second server's noised sum; empty where reports were too few."""

    sum: str


def add_shares(app: FastAPI, service: RankService) -> None:
    """Where clients bring one of their two shares."""
    form = share_form(service.description)
    refused = problems(
        HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE
    )

    @app.post("/shares", responses=refused)
    async def share(sent: form) -> Kept:  # type: ignore[valid-type] # made at run time
        """Store one share of a report; the same again is fine, and counts once."""
        text: str = sent.share  # type: ignore[attr-defined] # made at run time
        ranked = service.description.topic(sent.topic)  # type: ignore[attr-defined] # likewise
        check_length(len(text) // DIGITS, width(ranked.buckets.number))
        return await acknowledged(service, sent, bytes.fromhex(text))


def add_peer_routes(app: FastAPI, service: SecondServer) -> None:
    """Where the first server asks the second; every request is signed."""
    check, opening = _peer_forms(service)
    statuses = (HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.CONFLICT)
    refused = problems(*statuses, HTTPStatus.SERVICE_UNAVAILABLE)
    signature = Annotated[str, Header(alias=HEADER, max_length=SIGNATURE_DIGITS)]

    @app.post(CHECK, responses=refused, openapi_extra=_body(check))
    async def peer_check(request: Request, signed: signature = "") -> Answered:
        """Step 2 of an opening: the second server's parts of the check; one question is noted."""
        return Answered(**await _answered(service, request, signed, check, service.checked))

    @app.post(OPEN, responses=refused, openapi_extra=_body(opening))
    async def peer_open(request: Request, signed: signature = "") -> OpenedSum:
        """Step 4 of an opening: the second server's noised sum, if it was asked about."""
        return OpenedSum(**await _answered(service, request, signed, opening, service.opened))


async def _answered(
    service: SecondServer,
    request: Request,
    signed: str,
    form: type[BaseModel],
    work: Any,  # noqa: ANN401 - a method
) -> dict[str, Any]:
    body = await request.body()
    if not service.key.signed(request.url.path, body, signed):
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
    question: dict[str, Any] = {
        "topic": (topic_names(service.description), ...),
        "period": (Period, ...),
        "description": (Literal[(service.description.version,)], ...),
        "tokens": (list[Token], ...),
        "commitment": (Hash, ...),
    }
    parts: dict[str, Any] = dict.fromkeys(PARTS, (Packed, ...))
    more: dict[str, Any] = {"nonce": (Hash, ...), "accepted": (Hash, ...)}
    check = create_model("Check", __base__=Strict, **question)
    return check, create_model("Opening", __base__=Strict, **question, **parts, **more)


def _body(form: type[BaseModel]) -> dict[str, Any]:
    """How OpenAPI shows a body that is parsed only once its signature was checked."""
    schema = {"application/json": {"schema": form.model_json_schema()}}
    return {"requestBody": {"required": True, "content": schema}}
