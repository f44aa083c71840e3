"""Routes for whoever runs a rank server: whether it lives, whether it can work, and its numbers."""

import asyncio
import hmac
import re
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import JSONResponse, PlainTextResponse

from sottovoce._files import cause_of, refuse_open_to_others
from sottovoce.errors import InputError, SottovoceError
from sottovoce.web.rank._service import RankService

READY_S = 2.0
_KEY = re.compile(r"[0-9a-f]{64}")


def read_metrics_key(path: Path) -> str:
    """The key in a file that only its owner may read: 64 hexadecimal digits."""
    try:
        refuse_open_to_others(path)
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the key {path}: {cause_of(error)}.") from None
    if not _KEY.fullmatch(text):
        raise InputError(f"the key {path} must be 64 hexadecimal digits: openssl rand -hex 32")
    return text


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
            asked = service.writer.run(lambda store: store.published_periods("", 1))
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
            raise HTTPException(HTTPStatus.UNAUTHORIZED, "only whoever runs this server may ask.")
        return PlainTextResponse(service.telemetry.metrics(), media_type=PROMETHEUS)


PROMETHEUS = "text/plain; version=0.0.4"
