"""Routes of the mode of shares: clients bring reports, the first server asks the second."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field, ValidationError, create_model

from sottovoce.advisor.rank.shares import input_share_bytes
from sottovoce.errors import ProtocolError
from sottovoce.web.rank._forms import (
    Kept,
    Octets,
    Period,
    Strict,
    Token,
    check_length,
    problems,
    share_form,
    store_report,
    topic_names,
)
from sottovoce.web.rank.pair import AT_ONCE, PairedServer, SecondServer
from sottovoce.web.rank.peer import HEADER, OPEN, SIGNATURE_DIGITS, VERIFY


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
    refused = problems(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.CONFLICT,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.UNAUTHORIZED,
    )

    @app.post("/reports", responses=refused)
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
