"""A real advisor page in a process of its own, asked as its own script asks it."""

import csv
import http.client
import io
import json
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sottovoce.advisor.person_values import Post
from sottovoce.errors import CheckFailedError
from sottovoce.parsing import parse_json
from sottovoce_lab.bench.rows import TIMEOUT_S, OwnCommand

_FOUND = (200, 303)


class BrowserSession:
    """One session of one browser, without the browser."""

    def __init__(self, host: str, cookie: str = "") -> None:
        self._host, self._cookie = host, cookie
        self._connection = http.client.HTTPConnection(host, timeout=TIMEOUT_S)

    @classmethod
    def enter_page(cls, address: str) -> "BrowserSession":
        """Come in by the address that works once."""
        parts = urlsplit(address)
        page = cls(parts.netloc)
        answer, _ = page._ask("GET", f"{parts.path}?{parts.query}", b"", {})
        page._cookie = (answer.headers["set-cookie"] or "").partition(";")[0]
        return page

    def another_window(self) -> "BrowserSession":
        """The same session over a connection of its own."""
        return BrowserSession(self._host, self._cookie)

    def upload(self, posts: Sequence[Post]) -> None:
        """Bring posts as a CSV file, all of one person."""
        boundary = secrets.token_hex(16)
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="holds"\r\n\r\nmine\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            'filename="posts.csv"\r\nContent-Type: text/csv\r\n\r\n'
        )
        body = head.encode() + csv_of(posts) + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        self._send("POST", "/start/upload", body, kind)

    def what_if(self, topic: str, shown: Sequence[int], kept: Sequence[int]) -> dict[str, Any]:
        """Untick posts."""
        asked = {"topic": topic, "shown": list(shown), "kept": list(kept)}
        return self._json("PUT", "/api/what-if", asked)

    def draft(self, text: str) -> dict[str, Any]:
        """Check a draft."""
        return self._json("POST", "/api/draft", {"text": text})

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _json(self, method: str, path: str, asked: object) -> dict[str, Any]:
        body, kind = json.dumps(asked).encode(), "application/json"
        try:
            content = self._send(method, path, body, kind)
        except ConnectionError:
            # The page hangs up on who asks nothing for seconds, as while the engine is timed.
            self._connection.close()
            content = self._send(method, path, body, kind)
        return dict(parse_json(content))

    def _send(self, method: str, path: str, body: bytes, kind: str) -> bytes:
        headers = {
            "Content-Type": kind,
            "Cookie": self._cookie,
            "Origin": f"http://{self._host}",
            "Sec-Fetch-Site": "same-origin",
        }
        answer, content = self._ask(method, path, body, headers)
        if answer.status not in _FOUND:
            raise CheckFailedError(f"the page answered {method} {path} with {answer.status}.")
        return content

    def _ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer, answer.read()


def csv_of(posts: Sequence[Post]) -> bytes:
    """The posts as a file."""
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(["user", "time", "text"])
    rows.writerows(("themselves", post.time.isoformat(), post.text) for post in posts)
    return written.getvalue().encode()


@contextmanager
def started_page(posts: Sequence[Post]) -> Iterator[BrowserSession]:
    """``sottovoce advise`` with these posts brought; ended when the block ends."""
    with tempfile.TemporaryDirectory() as folder, advisor_process(Path(folder)) as address:
        page = BrowserSession.enter_page(address)
        try:
            page.upload(posts)
            yield page
        finally:
            page.close()


@contextmanager
def advisor_process(folder: Path, *more: str) -> Iterator[str]:
    """Start ``sottovoce advise``; the address that lets a browser in."""
    options = ("--no-open", "--store", str(folder / "advise.sqlite"))
    command = OwnCommand("advise", *options, *more, folder=folder)
    try:
        yield str(command.read_announcement()["address"])
    finally:
        command.stop()
