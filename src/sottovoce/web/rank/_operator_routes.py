"""Routes for whoever runs a rank server: whether it lives, whether it can work, and its numbers."""

import asyncio
import hmac
from http import HTTPStatus
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import JSONResponse, PlainTextResponse

from sottovoce.errors import SottovoceError
from sottovoce.web.rank.service import RankService

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
