"""Serving the page: a socket on this machine, an address that works once, no log of requests."""

import ipaddress
import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from sottovoce.errors import ParameterError
from sottovoce.files import whole_file
from sottovoce.web.advise.app import Options, create_app
from sottovoce.web.advise.desk import Comparison
from sottovoce.web.advise.operator import Operator
from sottovoce.web.advise.reporting import Reporting
from sottovoce.web.advise.routes_door import ENTRANCE
from sottovoce.web.listening import listening_socket
from sottovoce.web.security.door import Door
from sottovoce.web.security.hosts import LOOPBACK

LAST_PORT = 65_535
_GO = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'


@dataclass(frozen=True)
class Place:
    """Where the page is served."""

    host: str
    port: int
    beyond_this_machine: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= LAST_PORT:
            raise ParameterError(f"port must be from 0 to {LAST_PORT}, got {self.port}.")
        if self._ip.is_unspecified:
            raise ParameterError("host must be one address, got one that stands for all of them.")
        if not self._ip.is_loopback and not self.beyond_this_machine:
            raise ParameterError(
                "host must be this machine itself (127.0.0.1): others could reach the page "
                "elsewhere, unencrypted; if you know that, add --i-know-others-can-reach-it."
            )

    @property
    def _ip(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
        try:
            return ipaddress.ip_address("127.0.0.1" if self.host == "localhost" else self.host)
        except ValueError:
            raise ParameterError("host must be an address such as 127.0.0.1.") from None

    @property
    def written(self) -> str:
        """As it stands in an address."""
        return f"[{self._ip}]" if self._ip.version == 6 else str(self._ip)  # noqa: PLR2004 - IPv6

    @property
    def names(self) -> tuple[str, ...]:
        """What a browser may call it."""
        return LOOPBACK if self._ip.is_loopback else (self.written,)

    def listen(self) -> socket.socket:
        """A socket that listens there."""
        family = socket.AF_INET6 if self._ip.version == 6 else socket.AF_INET  # noqa: PLR2004 - IPv6
        try:
            return listening_socket(str(self._ip), self.port, family=family)
        except OSError as error:
            raise ParameterError(
                f"cannot listen on port {self.port}: {error.strerror}; choose another with --port."
            ) from None


def serve(
    place: Place,
    *,
    store: Path,
    comparison: Comparison,
    operator: Operator | None,
    reporting: Reporting | None,
    told: Callable[[str], None],
    told_again: Callable[[str], None],
    open_browser: bool,
) -> None:
    """Serve until stopped; ``told`` gets the address, ``told_again`` each one that follows it."""
    with place.listen() as listening, TemporaryDirectory(prefix="sottovoce-") as folder:
        port = int(listening.getsockname()[1])

        def address(token: str) -> str:
            return f"http://{place.written}:{port}{ENTRANCE}?token={token}"

        door = Door(lambda token: told_again(address(token)))
        app = create_app(
            Options(
                port,
                store,
                place.names,
                comparison,
                operator=operator,
                reporting=reporting,
                door=door,
            )
        )
        told(address(door.token))
        if open_browser:
            _open(Path(folder) / "open.html", address(door.token))
        # Requests are not logged: their addresses name topics.
        config = uvicorn.Config(app, access_log=False, log_level="error", server_header=False)
        uvicorn.Server(config).run(sockets=[listening])


def _open(path: Path, address: str) -> None:
    """Through a private file: everybody on this machine can read the arguments of a program."""
    with whole_file(path, private=True) as temporary:
        temporary.write_text(_GO.format(address=address), encoding="ascii")
    webbrowser.open(path.as_uri())
