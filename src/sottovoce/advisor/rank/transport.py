"""Carrying requests to a rank server over HTTP, with the standard library alone."""

import http.client
import ipaddress
import json
import re
import socket
import ssl
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from sottovoce.errors import InputError, ParameterError, ProtocolError, RefusedError
from sottovoce.files import cause_of, refuse_open_to_others
from sottovoce.parsing import parse_json

MOST_ANSWER_BYTES = 1 << 24
_TIMEOUT_S = 30.0
_REASONS: dict[type[Exception], str] = {
    socket.gaierror: "nobody knows a machine of that name",
    ConnectionRefusedError: "nothing listens there",
    TimeoutError: "it does not answer",
    ssl.SSLCertVerificationError: "its certificate is not one that this machine trusts",
    ssl.SSLError: "it does not speak TLS as it should",
}


class Transport(Protocol):
    """Whatever carries JSON to one server and back."""

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """The answer's JSON; `RefusedError` where it is an error."""


class HttpTransport:
    """One server at a URL; plain HTTP only on this machine, as shares are secret on their way."""

    def __init__(
        self, url: str, *, timeout_s: float = _TIMEOUT_S, most_bytes: int = MOST_ANSWER_BYTES
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ParameterError("a rank server's address must be an http or https URL.")
        if parts.scheme == "http" and not is_this_machine(parts.hostname):
            raise ParameterError("a rank server on another machine must be reached by https.")
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._secure, self._timeout_s = parts.scheme == "https", timeout_s
        self._most_bytes = most_bytes
        port = "" if parts.port is None else f":{parts.port}"
        self.address = f"{parts.scheme}://{parts.hostname}{port}{self._base}"

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """One request on a connection of its own."""
        status, answer = self.exchange(
            method, path, None if body is None else json.dumps(body).encode()
        )
        try:
            parsed = parse_json(answer)
        except ValueError:
            raise InputError("the rank server's answer is no JSON; is it one?") from None
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise RefusedError(status, _why(parsed))
        return parsed

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and bytes of an answer."""
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout_s)
        try:
            sent = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, self._base + path, body, sent)
            response = connection.getresponse()
            answer = response.read(self._most_bytes + 1)
        except (OSError, http.client.HTTPException) as error:
            raise ProtocolError(
                f"the rank server at {self._host} cannot be reached: {_reason(error)}; try again "
                "later."
            ) from error
        finally:
            connection.close()
        if len(answer) > self._most_bytes:
            raise InputError(f"the rank server's answer exceeds {self._most_bytes} bytes.")
        return response.status, answer


def is_this_machine(host: str) -> bool:
    """Whether what is sent to ``host`` stays on this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reason(error: Exception) -> str:
    for kind, words in _REASONS.items():
        if isinstance(error, kind):
            return words
    return type(error).__name__


def _why(parsed: object) -> str:
    detail = parsed.get("detail") if isinstance(parsed, dict) else None
    return detail if isinstance(detail, str) and detail.isprintable() else "it gives no reason."


def read_tokens(path: Path) -> list[str]:
    """The tokens in a file that only its owner may read: 32 hexadecimal digits a line."""
    try:
        refuse_open_to_others(path)
        lines = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the tokens {path}: {cause_of(error)}.") from None
    if not lines or not all(_TOKEN.fullmatch(line) for line in lines):
        raise InputError(
            f"{path} must have a token of 32 hexadecimal digits in each line: openssl rand -hex 16"
        )
    if len(set(lines)) < len(lines):
        raise InputError(f"{path} has a token twice; every person needs one of their own.")
    return lines


_TOKEN = re.compile(r"[0-9a-f]{32}")
