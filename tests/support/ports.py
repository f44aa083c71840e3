"""Ports of this machine that nobody uses."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """So many ports that the operating system has just given, and taken back."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in taken]
