"""An application served by a thread of this process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def served_at(
    listener: socket.socket,
    app: ASGIApp,
    *,
    lifespan: Literal["auto", "off"] = "auto",
    http: type[asyncio.Protocol] | Literal["auto"] = "auto",
) -> Iterator[None]:
    """Serve ``app`` at a socket that listens already, until the block ends.

    Until the server takes them, connections wait in the socket's queue.
    """
    config = uvicorn.Config(app, log_level="error", access_log=False, lifespan=lifespan, http=http)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
