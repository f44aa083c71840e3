"""Short refusals, sent before any page's own code has run."""

import json
from collections.abc import Mapping

from pydantic import BaseModel
from starlette.types import Receive, Scope, Send


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    sentence: str,
    more: Mapping[str, str] | None = None,
) -> None:
    """Answer with one sentence: as JSON, which a program reads and a person can.

    ``more`` are headers beside the usual ones.
    """
    del scope, receive
    body = json.dumps(Problem(detail=sentence).model_dump()).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        # What is left of a refused body must not be taken for the next request.
        (b"connection", b"close"),
        *((name.encode(), value.encode()) for name, value in (more or {}).items()),
    ]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})


def header(scope: Scope, name: bytes) -> str | None:
    """The header called ``name`` in lower case; None when it is absent, "" when it is repeated."""
    found = [value for each, value in scope["headers"] if each == name]
    if not found:
        return None
    return "" if len(found) > 1 else bytes(found[0]).decode("latin-1")
