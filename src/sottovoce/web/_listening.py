"""The socket that a page or a server listens on."""

import errno
import os
import socket


def listening_socket(
    host: str, port: int, *, family: int = socket.AF_INET, backlog: int | None = None
) -> socket.socket:
    """Listen there; an OSError says why that cannot be."""
    try:
        listener = socket.create_server((host, port), family=family, backlog=backlog)
    except OSError as error:
        if error.errno is None or error.errno not in errno.errorcode:
            raise
        # Python adds the address to the reason, which whoever catches this has said already.
        raise OSError(error.errno, os.strerror(error.errno)) from None
    # Else the second half of an answer waits for the first to be acknowledged: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
