"""The socket that a page or a server listens on."""

import socket


def listening_socket(
    host: str, port: int, *, family: int = socket.AF_INET, backlog: int | None = None
) -> socket.socket:
    """Listen there; an OSError says why that cannot be."""
    listener = socket.create_server((host, port), family=family, backlog=backlog)
    # Else the second half of an answer waits for the first to be acknowledged: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
