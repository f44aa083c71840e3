"""The advisor: how soon what-if and a draft are answered, on a history of 20,000 posts.

Times are 95th percentiles over a few hundred questions, each another one, so that nothing can be
answered from memory. The engine alone, then the page: a real ``sottovoce advise`` in a process of
its own, asked over HTTP like the page's own script does, also by many windows at once, each asking
at times of its own. Beside the limits stands what assessing the whole community again takes, which
gives the same answer.
"""

import csv
import http.client
import io
import json
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import OWN_AMONG_SIMULATED, Post
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CheckFailedError
from sottovoce.parsing import parse_json
from sottovoce_lab.bench.rows import TIMEOUT_S, BenchRow, OwnCommand, bench_row, best_time

_OK_STATUSES = (200, 303)


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
        if answer.status not in _OK_STATUSES:
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
    rows.writerows((_SELF, post.time.isoformat(), post.text) for post in posts)
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


# What is measured, and the limits.
COUNT = 20_000
QUESTIONS = 300
WHAT_IF_LIMIT_MS = 100.0
DRAFT_LIMIT_MS = 50.0
WINDOWS = 100
WINDOWS_LIMIT_MS = 200.0
WARM_UP = 5
_SELF = "themselves"
_UNTICKED = 50
_SHOWN = 100
_DRAFT_POSTS = 3
_PAUSE_S = 1.0


def bench_advise(posts: int = COUNT, *, questions: int = QUESTIONS) -> list[BenchRow]:
    """The engine and the page on a history of ``posts`` posts."""
    community = Community.demo()
    history = long_history(community, posts)
    # As the page ranks somebody's own posts among made-up people.
    setting = replace(community.setting, measure=OWN_AMONG_SIMULATED)
    person = Person(community.with_setting(setting), history)
    person.standings()
    with started_page(history) as page:
        rows = [
            *_what_if_rows(person, page, questions),
            *_draft_rows(person, page, questions),
            _windows_row(person, page, questions),
        ]
    return [*rows, _whole_assessment_row(person)]


def long_history(community: Community, count: int, seed: int = 0) -> list[Post]:
    """So many posts of the demo community's members as if one had written them over four years."""
    texts = [post.text for user in community.users[:100] for post in community.posts_of(user)]
    generator = np.random.default_rng(seed)
    hours = np.sort(generator.uniform(0, 4 * 365 * 24, count)).tolist()
    chosen = generator.integers(0, len(texts), count).tolist()
    begin = datetime(2020, 6, 1, tzinfo=UTC)
    return [
        Post(number, begin + timedelta(hours=hour), texts[text])
        for number, (hour, text) in enumerate(zip(hours, chosen, strict=True), start=1)
    ]


def p95_ms(ask: Callable[[int], object], questions: int) -> float:
    """The 95th percentile over ``questions`` questions, in milliseconds."""
    for number in range(WARM_UP):
        ask(number)
    taken = []
    for number in range(WARM_UP, WARM_UP + questions):
        begin = time.perf_counter()
        ask(number)
        taken.append(time.perf_counter() - begin)
    return float(np.percentile(taken, 95)) * 1000


def _what_if_rows(person: Person, page: BrowserSession, questions: int) -> Iterator[BenchRow]:
    ids = [post.id for post in person.posts]
    topic = person.community.topics[0]

    def choose_unticked(number: int, of: Sequence[int]) -> list[int]:
        generator = np.random.default_rng(number)
        chosen = generator.choice(of, min(_UNTICKED, len(of)), replace=False)
        return [int(each) for each in chosen]

    def engine(number: int) -> object:
        return person.standings_without(choose_unticked(number, ids))

    def over_http(number: int, shown: list[int]) -> object:
        gone = set(choose_unticked(number, shown))
        return page.what_if(topic, shown, [each for each in shown if each not in gone])

    first = ids[:_SHOWN]
    _check_same(person, page, topic, choose_unticked(0, first), first)
    cases: dict[str, Callable[[int], object]] = {
        "engine": engine,
        f"page, {len(first)} posts shown": lambda number: over_http(number, first),
        "page, all posts shown": lambda number: over_http(number, ids),
    }
    for case, ask in cases.items():
        yield _row(
            f"what-if on {len(ids):,} posts, {case}", p95_ms(ask, questions), WHAT_IF_LIMIT_MS
        )


def _draft_rows(person: Person, page: BrowserSession, questions: int) -> Iterator[BenchRow]:
    texts = [post.text for post in person.posts]

    def draft(number: int) -> str:
        generator = np.random.default_rng(number)
        return " ".join(texts[each] for each in generator.integers(0, len(texts), _DRAFT_POSTS))

    cases: dict[str, Callable[[int], object]] = {
        "engine": lambda number: person.with_draft(draft(number)),
        "page": lambda number: page.draft(draft(number)),
    }
    for case, ask in cases.items():
        name = f"draft check on {len(texts):,} posts, {case}"
        yield _row(name, p95_ms(ask, questions), DRAFT_LIMIT_MS)


def _windows_row(person: Person, page: BrowserSession, questions: int) -> BenchRow:
    """Many windows at once, each with a what-if every second or so."""
    shown = [post.id for post in person.posts[:_SHOWN]]
    topic = person.community.topics[0]

    def ask(window: BrowserSession, number: int) -> object:
        gone = number % len(shown)
        return window.what_if(topic, shown, shown[:gone] + shown[gone + 1 :])

    taken = time_windows(page, ask, WINDOWS, max(1, questions * 4 // WINDOWS))
    case = f"what-if on {len(person.posts):,} posts, page, {WINDOWS} windows at once"
    return _row(case, float(np.percentile(taken, 95)) * 1000, WINDOWS_LIMIT_MS)


def _row(case: str, taken_ms: float, limit_ms: float) -> BenchRow:
    return bench_row(
        "advise", f"{case}, p95", "ms", taken_ms, f"limit {limit_ms:g} ms", limit_ms,
        less_is_better=True,
    )  # fmt: skip


def _check_same(
    person: Person, page: BrowserSession, topic: str, gone: Sequence[int], shown: list[int]
) -> None:
    """The page must answer what the engine does, or its time means nothing."""
    found = page.what_if(topic, shown, [each for each in shown if each not in set(gone)])
    expected = person.standings_without(gone)[person.column(topic)]
    if _read_places(found["change"]) != (expected.low, expected.high):
        raise CheckFailedError("the page and the engine do not give the same place.")


def _read_places(change: str) -> tuple[int, int] | None:
    """Between which places the page says that they would be; none where it names no place."""
    found = re.search(r": (?:at|between) place ([\d,]+)(?: and ([\d,]+))?", change)
    if found is None:
        return None
    low = int(found[1].replace(",", ""))
    return low, int(found[2].replace(",", "")) if found[2] else low


def _whole_assessment_row(person: Person) -> BenchRow:
    """One what-if by the engine, beside scoring the whole community again; each timed once."""
    community = person.community
    others = [(user, post) for user in community.users for post in community.posts_of(user)]
    own = [(_SELF, post) for post in person.posts[_UNTICKED:]]
    table = _table([*others, *own])
    measure = community.setting.measure

    def assess_again() -> None:
        chosen, scoring = plan_scoring(community.catalogue, community.spaces, [measure])
        state = scoring.state_of(table.to_batches())
        for topic in community.topics:
            chosen[measure].score(state, topic, community.setting.risk)

    gone = [post.id for post in person.posts[:_UNTICKED]]
    again, _ = best_time(assess_again, 1)
    ours, _ = best_time(lambda: person.standings_without(gone), 1)
    case = f"what-if on {len(person.posts):,} posts, engine, once"
    peer = "assessing everybody again"
    return bench_row("advise", case, "ms", ours * 1000, peer, again * 1000, less_is_better=True)


def _table(posts: Sequence[tuple[str, Post]]) -> pa.Table:
    users, theirs = zip(*posts, strict=True)
    times, texts = [post.time for post in theirs], [post.text for post in theirs]
    return pa.table([list(users), times, texts], schema=POSTS)


def time_windows(
    page: BrowserSession, ask: Callable[[BrowserSession, int], object], windows: int, questions: int
) -> list[float]:
    """How long each answer took, in seconds: ``questions`` a second apart in every window.

    Windows begin evenly spread over the first second. The clock starts when a question is due, not
    when it could be sent: an answer that makes later questions wait counts for them too.
    """
    begin = time.perf_counter()

    def window(place: int) -> list[float]:
        own, taken = page.another_window(), []
        try:
            for number in range(questions):
                due = begin + _PAUSE_S * (1 + number + place / windows)
                time.sleep(max(0.0, due - time.perf_counter()))
                ask(own, place + number)
                taken.append(time.perf_counter() - due)
        finally:
            own.close()
        return taken

    with ThreadPoolExecutor(windows) as pool:
        return [each for taken in pool.map(window, range(windows)) for each in taken]
