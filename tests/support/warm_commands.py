"""A `sottovoce` for shell scripts whose processes start at once, as `support.warm_python`'s do.

The command in the script is a short program that hands its arguments, folder, environment and
streams over, passes signals on, and ends as the process does that runs in its place.
"""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.warm_python import LONGEST, forked

_STREAMS = 3
_HANDS_OVER = """
import json, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {longest})
line.connect({address!r})
given = {{"arguments": ["-m", "sottovoce.cli", *sys.argv[1:]], "namespace": "",
         "cwd": os.getcwd(), "environment": dict(os.environ)}}
socket.send_fds(line, [json.dumps(given).encode()], [0, 1, 2])
number = int(line.recv(64))
for each in (signal.SIGTERM, signal.SIGINT):
    if signal.getsignal(each) is not signal.SIG_IGN:
        signal.signal(each, lambda passed, _: os.kill(number, passed))
sys.exit(int(line.recv(64)))
"""


@contextmanager
def warm_command(folder: Path) -> Iterator[Path]:
    """Within the block there is a `sottovoce` in ``folder``, this checkout's."""
    address = f"\0sottovoce-{os.getpid()}-{os.urandom(8).hex()}"
    command = folder / "sottovoce"
    code = folder / "hands_over.py"
    code.write_text(_HANDS_OVER.format(longest=LONGEST, address=address), encoding="utf-8")
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{code}" "$@"\n')
    command.chmod(0o755)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        asked.bind(address)
        asked.listen()
        threading.Thread(target=_serve, args=(asked,), daemon=True).start()
        yield command
        asked.shutdown(socket.SHUT_RDWR)


def _serve(asked: socket.socket) -> None:
    starting = threading.Lock()
    while True:
        try:
            line, _ = asked.accept()
        except OSError:
            return  # the block has ended
        threading.Thread(target=_stand_in, args=(line, starting), daemon=True).start()


def _stand_in(line: socket.socket, starting: threading.Lock) -> None:
    """Run what is handed over, and tell its number and how it ends."""
    with line:
        message, streams, _, _ = socket.recv_fds(line, LONGEST, _STREAMS)
        with starting:
            number = forked(json.loads(message), streams)
        for stream in streams:
            os.close(stream)
        line.send(str(number).encode())
        _, status = os.waitpid(number, 0)
        code = os.waitstatus_to_exitcode(status)
        line.send(str(code if code >= 0 else 128 - code).encode())
