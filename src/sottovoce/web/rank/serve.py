"""Running a rank server: the socket, the event loop, and nothing in a log."""

import logging
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from sottovoce.web.rank.sqlite import SqliteStore
from sottovoce.web.rank.storage import Store

_POSTGRES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Door:
    """Where a server listens, and its certificate if it speaks TLS itself."""

    host: str = "127.0.0.1"
    port: int = 8765
    certificate: Path | None = None
    key: Path | None = None


def open_store(where: str) -> Store:
    """The store at a PostgreSQL URL, or in an SQLite file."""
    if where.startswith(_POSTGRES):
        from sottovoce.web.rank.postgres import PostgresStore  # noqa: PLC0415 - an extra of its own

        return PostgresStore(where)
    return SqliteStore(Path(where.removeprefix("sqlite:///")))


def serve(app: FastAPI, door: Door) -> None:
    """Answer until told to stop. Requests are not logged: they would name addresses."""
    logging.getLogger("uvicorn.access").disabled = True
    uvicorn.run(
        app,
        host=door.host,
        port=door.port,
        ssl_certfile=door.certificate,
        ssl_keyfile=door.key,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_keep_alive=30,
    )
