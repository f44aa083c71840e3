"""Large, broken and hostile input: refused early, in a sentence, and inert."""

import json
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.advisor_page import PageClient, served
from support.slow_senders import given_up, impatient

from sottovoce.web.advise import received
from sottovoce.web.advise.app import BODY_LIMIT_BYTES

MIB = 1024 * 1024
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'--><svg onload=alert(1)>"


def upload(client: PageClient, name: str, content: bytes, **fields: str) -> tuple[int, str]:
    answer = client.upload(name, content, **fields)
    return answer.status_code, answer.text


def test_a_body_that_declares_too_much_is_refused_before_it_is_sent(client: PageClient) -> None:
    for path, size in [("/draft", BODY_LIMIT_BYTES + 1), ("/start/upload", 10**15)]:
        with socket.create_connection(("127.0.0.1", client.port), timeout=20) as connection:
            connection.sendall(client.begin_request(path, size).encode())
            assert connection.recv(20).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("path", ["/draft", "/start/upload", "/start/paste"])
def test_a_body_that_never_ends_is_given_up(
    client: PageClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    impatient(monkeypatch)
    status, answer = given_up(client.port, client.begin_request(path, 1000) + "--x")
    assert status == "408"
    assert "took too long" in answer
    assert client.get("/start").status_code == 200


def endless(counted: list[int], most: int) -> Iterator[bytes]:
    yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    while counted[0] < most:
        counted[0] += MIB
        yield b"x" * MIB


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_a_body_without_a_length_is_refused_at_the_limit_and_memory_stays_bounded(
    tmp_path: Path,
) -> None:
    with served(tmp_path, upload_limit_bytes=16 * MIB) as client:
        client.post("/start/demo")
        before, counted = peak_mib(), [0]
        # The server may hang up while we still send, before we have read its answer.
        with suppress(httpx.NetworkError, httpx.RemoteProtocolError):
            answer = client.post(
                "/start/upload",
                content=endless(counted, 256 * MIB),
                headers={"content-type": "multipart/form-data; boundary=x"},
            )
            assert answer.status_code == 413
        assert counted[0] < 128 * MIB
        assert peak_mib() - before < 12
        assert client.get("/standing").status_code == 200
        assert not list(Path(tmp_path).glob("*.csv"))


BROKEN = {
    "a.csv": b"weather\nsunny\n",
    "b.csv": b"",
    "c.parquet": b"PAR1 this is not Parquet PAR1",
    "d.jsonl": b"{\n[[[\n",
    "e.csv": b"user,time,text\nann,never,hi\n",
    "f.csv": b"user,time,text\nann,2024-01-01,\x81\x8d\x8f\x90\n",
    "g.csv.gz": b"\x1f\x8bnot gzip",
    "h.exe": b"MZ",
    "noname": b"text",
    "../../etc/passwd": b"root",
    "long.csv": b"time,text,user\n2024-01-01," + b"a" * 2 * MIB + b",ann\n",
    "long.tsv": b"time\ttext\tuser\t" + b"a" * 2 * MIB + b"\n2024-01-01\thi\tann\n",
}


OPTIONS = ("--fields", "--header", "--max-line", "--encoding")


@pytest.mark.parametrize("holds", ["mine", "community"])
def test_a_broken_file_gets_one_sentence_on_the_page(steady: PageClient, holds: str) -> None:
    for name, content in BROKEN.items():
        status, text = upload(steady, name, content, holds=holds)
        assert status == 400, name
        assert "That did not work." in text
        for inside in ("Traceback", gettempdir(), "posts.csv", *OPTIONS):
            assert inside not in text
    assert steady.get("/").headers["location"] == "/start"


def test_a_missing_column_is_named_and_can_be_mapped(client: PageClient) -> None:
    content = b"a,created,b\nann,2024-01-01,rehab relapse\nann,2024-01-02,heroin\n"
    status, text = upload(client, "posts.csv", content)
    assert status == 200
    assert "no column is clearly the text of a post: a, b." in text.lower()
    status, _ = upload(client, "posts.csv", content, time="created", text="b")
    assert status == 303


def test_a_file_that_unpacks_into_too_much_is_refused(
    client: PageClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(received, "MOST_BYTES", 4 * MIB)
    times = pa.array(["2024-01-01"] * 20_000).dictionary_encode()
    texts = pa.array(["bread " * 100] * 20_000).dictionary_encode()
    pq.write_table(pa.table({"time": times, "text": texts}), tmp_path / "bomb.parquet")
    content = (tmp_path / "bomb.parquet").read_bytes()
    assert len(content) < MIB
    status, text = upload(client, "bomb.parquet", content)
    assert status == 400
    assert "read at once" in text


@pytest.mark.parametrize("number", [2000, pytest.param(20_000, marks=pytest.mark.long)])
def test_many_posts_are_fine(client: PageClient, number: int) -> None:
    lines = [
        json.dumps({"time": f"2024-{1 + n % 12:02}-{1 + n % 28:02}", "text": f"rehab word{n}"})
        for n in range(number)
    ]
    status, _ = upload(client, "posts.jsonl", "\n".join(lines).encode())
    assert status == 303
    assert f"{number:,} posts of yours" in client.get("/standing").text
    assert client.get("/topic?name=drug addiction").status_code == 200
    shown = list(range(1, 101))
    body = {"topic": "drug addiction", "shown": shown, "kept": []}
    assert "100 posts of" in client.put("/api/what-if", json=body).json()["count"]


def test_markup_in_posts_drafts_names_and_files_is_inert(client: PageClient) -> None:
    row = {"user": HOSTILE, "time": "2024-01-01", "text": f"rehab heroin relapse {HOSTILE}"}
    other = {"user": "bob", "time": "2024-01-01", "text": "bread"}
    content = f"{json.dumps(row)}\n{json.dumps(other)}\n".encode()
    _, refused = upload(client, f"{HOSTILE}.exe", content)
    assert upload(client, f"{HOSTILE}.jsonl", content, holds="community")[0] == 303
    pages = [refused, client.get("/start/who").text]
    assert client.post("/start/who", data={"user": HOSTILE}).status_code == 303
    client.post("/draft", data={"text": f"heroin {HOSTILE}"})
    pages += [
        client.get(path).text for path in ("/standing", "/draft", "/topic?name=drug addiction")
    ]
    pages += [client.get("/topic", params={"name": HOSTILE}).text]
    pages += [client.post("/settings", data={"measure": HOSTILE}).text]
    assert any("&lt;script&gt;" in text for text in pages)
    for text in pages:
        assert "<script>" not in text
        assert "<img" not in text
        assert "<svg onload" not in text


def test_answers_to_bad_requests_do_not_repeat_what_was_sent(demo: PageClient) -> None:
    words = "my-private-words"
    for answer in (
        demo.put("/api/what-if", json={"topic": words, "shown": [words], "kept": []}),
        demo.post("/api/draft", json={"text": [words]}),
        demo.post("/settings", data={"k": words}),
        demo.post("/api/draft", content=b"{" + words.encode()),
    ):
        assert answer.status_code == 422
        assert words not in answer.text


def test_a_defect_is_told_without_anybodys_text(
    demo: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise RuntimeError("private words")

    # Its own, since whatever else runs in this process may change that of all.
    terminal = SimpleNamespace(stderr=StringIO())
    monkeypatch.setattr("sottovoce.web.guards.sys", terminal)
    monkeypatch.setattr("sottovoce.web.advise._what_if.check_draft", broken)
    answer = demo.post("/api/draft", json={"text": "x"})
    assert answer.status_code == 500
    told = terminal.stderr.getvalue()
    assert "RuntimeError at " in told
    assert "private words" not in told + answer.text


def test_an_upload_leaves_no_file_behind(
    client: PageClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spool))
    content = b"time,text\n" + (b"2024-01-01," + b"bread and butter " * 50 + b"\n") * 2000
    assert upload(client, "posts.csv", content)[0] == 303
    assert upload(client, "posts.parquet", content)[0] == 400
    assert os.listdir(spool) == []  # noqa: PTH208 - names are enough
