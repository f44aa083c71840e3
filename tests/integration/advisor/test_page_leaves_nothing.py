"""However the page ends nothing that was brought stays behind, and work ends when nobody waits."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from support.crafted_files import MIB, numbered

PATIENCE_S = 60


class Page:
    """The command as a process, with a browser that was let in."""

    def __init__(self, folder: Path) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "sottovoce.cli", "advise", "--json", "--no-open"]
        # A page started where closed terminals are ignored (nohup) ignores them too.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.process = subprocess.Popen(
            [*command, "--store", str(folder / "kept.sqlite")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            text=True,
        )
        assert self.process.stdout is not None
        first = json.loads(self.process.stdout.readline())["address"]
        home = first.partition("/enter")[0]
        self.port = int(home.rpartition(":")[2])
        ours = {"origin": home, "sec-fetch-site": "same-origin"}
        self.browser = httpx.Client(base_url=home, headers=ours, timeout=60, trust_env=False)
        assert self.browser.get(first).status_code == 200

    def left(self) -> list[Path]:
        """Files that lie about."""
        return [path for path in self.temporary.rglob("*") if path.is_file()]

    def keep_a_file(self) -> None:
        """Bring a file whose columns are asked for."""
        content = "user,time,text\nada,2024-01-01,a loan\n"
        answer = self.browser.post(
            "/start/upload", data={"ask": "yes"}, files={"file": ("posts.csv", content)}
        )
        assert answer.status_code == 200
        assert self.left()

    def upload_and_leave(self, content: bytes) -> None:
        """Send a community's posts, and close the connection before there is an answer."""
        form = {"holds": "community"}
        files = {"file": ("posts.csv", content)}
        request = self.browser.build_request("POST", "/start/upload", data=form, files=files)
        head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(f"POST /start/upload HTTP/1.1\r\n{head}\r\n".encode())
            connection.sendall(request.read())
            until(self.left)


def until(holds: Callable[[], object]) -> None:
    """Wait for it."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def opened(folder: Path) -> Iterator[Page]:
    page = Page(folder)
    try:
        yield page
    finally:
        page.browser.close()
        page.process.kill()
        page.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_upload_behind(tmp_path: Path, number: signal.Signals) -> None:
    with opened(tmp_path) as page:
        page.keep_a_file()
        page.process.send_signal(number)
        _, said = page.process.communicate(timeout=PATIENCE_S)
        assert list(page.temporary.iterdir()) == []
        assert "Traceback" not in said


def test_the_next_start_removes_what_a_killed_page_left(tmp_path: Path) -> None:
    with opened(tmp_path) as page:
        page.keep_a_file()
        page.process.kill()
        page.process.wait()
        assert page.left()
    with opened(tmp_path) as page:
        assert not page.left()


def test_a_second_page_leaves_the_uploads_of_a_living_one(tmp_path: Path) -> None:
    with opened(tmp_path) as page:
        page.keep_a_file()
        with opened(tmp_path) as other:
            assert other.left()


@pytest.fixture(scope="module")
def community() -> bytes:
    """So many posts that reading them takes seconds."""
    row = "user{0},2024-05-01,all of us were at the sea {0} times with friends\n"
    return numbered(row.format, 24 * MIB, "user,time,text\n")


def test_work_ends_when_the_browser_leaves(tmp_path: Path, community: bytes) -> None:
    with opened(tmp_path) as page:
        page.upload_and_leave(community)
        until(lambda: not page.left())
        # Had it been read to its end, they would be asked who they are.
        assert page.browser.get("/start/who").headers["location"] == "/start"


def test_work_ends_when_the_program_is_told_to_stop(tmp_path: Path, community: bytes) -> None:
    with opened(tmp_path) as page:
        began = time.monotonic()
        page.upload_and_leave(community)
        page.process.send_signal(signal.SIGTERM)
        page.process.communicate(timeout=PATIENCE_S)
        assert time.monotonic() - began < PATIENCE_S
        assert list(page.temporary.iterdir()) == []
