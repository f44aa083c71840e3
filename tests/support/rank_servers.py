"""Rank servers in this process, under a clock that tests turn."""

import socket
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import Buckets, Description, Mode, RankedTopic
from sottovoce.advisor.rank.shares import Message
from sottovoce.errors import RefusedError
from sottovoce.web.rank.app import Limits, create_app
from sottovoce.web.rank.pair import FirstServer, SecondServer
from sottovoce.web.rank.peer import VERIFY, PeerKey
from sottovoce.web.rank.service import RankService
from sottovoce.web.rank.store import SqliteStore
from support.serving import served_at

with warnings.catch_warnings():
    # Starlette would rather have a successor of httpx, which is not in the environment.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

KEY = PeerKey(bytes(range(32)))
UNLIMITED = Limits(0, 0)
DAY = 86_400


MADE: list[RankService] = []
"""All that were made here, for whoever closes them at the end of a test."""


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self, day: int = 100) -> None:
        self.day = day

    def __call__(self) -> float:
        return self.day * DAY + 1.0


class InProcess:
    """Carries requests to an application in this process."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        answer = self.client.request(method, path, json=body)
        if answer.status_code >= 400:
            raise RefusedError(answer.status_code, str(answer.json()["detail"]))
        return answer.json()


class InProcessPeer:
    """The second server, asked directly."""

    def __init__(self, second: SecondServer) -> None:
        self.second = second
        self.sent: list[tuple[str, Message]] = []

    def call(self, path: str, message: Message) -> Message:
        self.sent.append((path, message))
        return (
            self.second.answer_verify(message)
            if path == VERIFY
            else self.second.answer_open(message)
        )


def description(
    mode: Mode = "noise",
    *,
    epsilon: str = "1",
    topics: int = 1,
    minimum: int = 3,
    buckets: int = 20,
) -> Description:
    """Rules with periods of a day."""
    between = Buckets.even(0, 1, buckets)
    named = tuple(RankedTopic(name, "lda", between) for name in ("debt", "illness")[:topics])
    return Description(mode, Fraction(epsilon), named, period_s=DAY, minimum=minimum)


def noise_service(folder: Path, clock: Clock, rules: Description | None = None) -> RankService:
    """A server of the noise mode with its store in ``folder``."""
    MADE.append(
        RankService(rules or description(), SqliteStore(folder / "rank.sqlite"), clock=clock)
    )
    return MADE[-1]


def pair(
    folder: Path, clock: Clock, rules: Description | None = None, key: PeerKey = KEY
) -> tuple[FirstServer, SecondServer]:
    """The two servers of the mode of shares."""
    rules = rules or description("shares")
    second = SecondServer(rules, SqliteStore(folder / "second.sqlite"), key, clock=clock)
    store = SqliteStore(folder / "first.sqlite")
    first = FirstServer(rules, store, key, InProcessPeer(second), clock=clock)
    MADE.extend((first, second))
    return first, second


def asked(service: RankService, metrics_key: str | None = None) -> InProcess:
    """The service behind HTTP, without what it does by itself while it runs."""
    return InProcess(TestClient(create_app(service, UNLIMITED, metrics_key=metrics_key)))


@contextmanager
def running(service: RankService, limits: Limits = UNLIMITED) -> Iterator[InProcess]:
    """The service behind HTTP, without a socket; it is closed at the end."""
    with TestClient(create_app(service, limits)) as client:
        yield InProcess(client)
    service.close()


@contextmanager
def listening(service: RankService) -> Iterator[str]:
    """The service at a port that the system chose."""
    with (
        closing(service),
        socket.create_server(("127.0.0.1", 0)) as listener,
        served_at(listener, create_app(service, UNLIMITED), lifespan="off"),
    ):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def report_once(
    url: str, folder: Path, score: float = 0.4, *, budget: int = 1, second: str | None = None
) -> int:
    """Somebody who keeps ``folder`` reports on "debt", and goes; the period."""
    with closing(RankClient(url, folder, budget=budget, second=second)) as client:
        return client.report("debt", score)


@contextmanager
def having_published(
    folder: Path, epsilon: Fraction = Fraction(60), topics: int = 1
) -> Iterator[str]:
    """A server where ten people, near each other, reported on "debt", and a period went by."""
    folder.mkdir(exist_ok=True)
    clock, between = Clock(), Buckets.even(0, 1, 20)
    named = tuple(RankedTopic(name, "bow-t", between) for name in ("debt", "illness")[:topics])
    rules = Description("noise", epsilon, named, period_s=DAY, minimum=3)
    with listening(noise_service(folder, clock, rules)) as url:
        for person in range(10):
            report_once(url, folder / f"person {person}", 0.1 + person / 1000, budget=60)
        clock.day += 1
        yield url
