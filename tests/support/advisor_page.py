"""The advisor page on a port of its own, and a client that was let in."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import FastAPI
from starlette.types import ASGIApp

from sottovoce.advisor.person import Person
from sottovoce.web.advise.app import LoginTokens, PageOptions, create_app
from sottovoce.web.advise.session import AdvisorSession
from support.serving import served_at

# Nothing here is under TLS, and to read all authorities for each client would be dear.
_NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class PageClient(httpx.Client):
    """A browser; it says where its requests come from, as browsers do."""

    def __init__(self, page: ASGIApp, login: LoginTokens, port: int) -> None:
        self.page, self.login, self.port = page, login, port
        self.home = f"http://127.0.0.1:{port}"
        ours = {"origin": self.home, "sec-fetch-site": "same-origin"}
        super().__init__(
            base_url=self.home, headers=ours, timeout=60, trust_env=False, verify=_NO_AUTHORITIES
        )

    def upload(self, name: str, content: bytes, **fields: str) -> httpx.Response:
        """Bring a file."""
        return self.post("/start/upload", files={"file": (name, content)}, data=fields)

    def begin_request(self, path: str, length: int) -> str:
        """The head of a form of so many bytes, for whoever writes to the socket."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {cookie}\r\n"
            f"Origin: {self.home}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
            f"Content-Length: {length}\r\n\r\n"
        )

    def come_in(self) -> None:
        """Use the address from the terminal."""
        assert self.get("/enter", params={"token": self.login.token}).status_code == 200

    @property
    def session(self) -> AdvisorSession:
        """What the page holds of whoever looks at it."""
        session: AdvisorSession = inside(self.page).state.session
        return session

    @property
    def person(self) -> Person:
        """Whoever looks at it."""
        assert self.session.person is not None
        return self.session.person

    def coming_from(self, origin: str | None, site: str | None) -> httpx.Client:
        """The same browser with its cookies, on a page of another origin."""
        given = {"origin": origin, "sec-fetch-site": site}
        headers = {name: value for name, value in given.items() if value is not None}
        return httpx.Client(
            base_url=self.home,
            headers=headers,
            cookies=self.cookies,
            timeout=60,
            trust_env=False,
            verify=_NO_AUTHORITIES,
        )


@contextmanager
def served(folder: Path, *, let_in: bool = True, **options: Any) -> Iterator[PageClient]:  # noqa: ANN401 - those of the page
    """Serve the page from ``folder`` until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, login = listening.getsockname()[1], LoginTokens()
        page = create_app(PageOptions(folder / "advise.sqlite", port, login=login, **options))
        with served_at(listening, page), PageClient(page, login, port) as client:
            if let_in:
                client.come_in()
            yield client


def inside(app: object) -> FastAPI:
    """The application inside its guards."""
    while not isinstance(app, FastAPI):
        app = app._app  # type: ignore[attr-defined] # each guard holds the next
    return app


def routes_of(app: object) -> list[tuple[str, str]]:
    """Every method and path of the application inside its guards."""
    paths = inside(app).openapi()["paths"]
    return [(method.upper(), path) for path, each in paths.items() for method in each]


def table_bytes(table: pa.Table, name: str, folder: Path) -> bytes:
    """A table as the file that its name says."""
    if name.endswith("parquet"):
        pq.write_table(table, folder / name)
        return (folder / name).read_bytes()
    if name.endswith("jsonl"):
        return "\n".join(map(json.dumps, table.to_pylist())).encode()
    rows = [table.column_names, *zip(*table.to_pydict().values(), strict=True)]
    return "\n".join(("\t" if name.endswith("tsv") else ",").join(row) for row in rows).encode()
