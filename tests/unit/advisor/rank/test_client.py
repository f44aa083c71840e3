"""A person's side: what is sent, what is kept, what is spent."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.rank_servers import Clock, InProcess, description, noise_service, pair, running

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import HttpTransport
from sottovoce.errors import BudgetError, InputError, ParameterError


class Recording:
    """Notes every request on its way."""

    def __init__(self, inner: InProcess) -> None:
        self._inner = inner
        self.sent: list[dict[str, Any]] = []
        self.fail = False

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        if isinstance(body, dict):
            self.sent.append(body)
            if self.fail:
                raise ConnectionError
        return self._inner.call(method, path, body)


@pytest.fixture
def server(tmp_path: Path, clock: Clock) -> Iterator[Recording]:
    rules = description(topics=2)
    with running(noise_service(tmp_path, clock, rules)) as inner:
        yield Recording(inner)


def test_the_same_bucket_sends_the_same_bytes_for_ever_and_pays_once(
    server: Recording, clock: Clock, tmp_path: Path
) -> None:
    for day in range(100, 110):
        clock.day = day
        # A new client each time, as after a restart of her machine.
        client = RankClient(server, str(tmp_path / "she"), budget=4)
        client.report("debt", 0.42)
        client.close()
    assert len({tuple(sent["entries"]) for sent in server.sent}) == 1
    assert len({sent["id"] for sent in server.sent}) == 10
    assert RankClient(server, tmp_path / "she", budget=4).account.spent * 2 == 1


def test_each_new_bucket_and_topic_is_paid_for_until_the_budget_ends(
    server: Recording, clock: Clock, tmp_path: Path
) -> None:
    client = RankClient(server, tmp_path / "she", budget=3)
    for topic, score in (("debt", 0.1), ("debt", 0.9), ("illness", 0.1), ("debt", 0.1)):
        clock.day += 1
        client.report(topic, score)
    assert client.account.rest == 0
    clock.day += 1
    with pytest.raises(BudgetError, match="nothing was spent"):
        client.report("illness", 0.9)
    assert len(server.sent) == 4
    # What she already paid for she may go on reporting.
    client.report("debt", 0.9)


def test_a_retry_is_the_same_report_and_counts_once(
    server: Recording, clock: Clock, tmp_path: Path
) -> None:
    client = RankClient(server, tmp_path / "she", budget=4)
    server.fail = True
    with pytest.raises(ConnectionError):
        client.report("debt", 0.5)
    server.fail = False
    client.report("debt", 0.5)
    client.report("debt", 0.99)  # the period has its report
    assert server.sent[0] == server.sent[1] == server.sent[2]


def test_nothing_but_the_report_leaves(server: Recording, tmp_path: Path) -> None:
    RankClient(server, tmp_path / "she", budget=4).report("debt", 0.123456)
    (sent,) = server.sent
    assert set(sent) == {"topic", "period", "id", "description", "entries"}
    assert set(sent["entries"]) <= {0, 1}
    assert "0.123" not in json.dumps(sent)


def test_her_files_are_readable_by_her_only(server: Recording, tmp_path: Path) -> None:
    RankClient(server, tmp_path / "she", budget=4).report("debt", 0.5)
    files = [path for path in (tmp_path / "she").rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


def test_a_rank_needs_a_published_histogram(
    server: Recording, clock: Clock, tmp_path: Path
) -> None:
    client = RankClient(server, tmp_path / "she", budget=4)
    with pytest.raises(InputError, match="no histogram"):
        client.rank("debt", 0.5)
    for place in range(5):
        RankClient(server, tmp_path / f"person {place}", budget=1).report("debt", place / 5)
    clock.day += 1
    found = client.rank("debt", 0.5)
    assert found.reports == 5
    assert 1 <= found.low <= found.high <= 5


def test_shares_go_to_two_servers_each_period_is_paid_for_and_neither_vector_tells(
    tmp_path: Path, clock: Clock
) -> None:
    first, second = pair(tmp_path, clock, description("shares", epsilon="1/2"))
    with running(first) as one, running(second) as two:
        servers = Recording(one), Recording(two)
        client = RankClient(servers[0], tmp_path / "she", budget=1, second=servers[1])
        client.report("debt", 0.5)
        client.report("debt", 0.5)
        assert [server.sent[0] == server.sent[1] for server in servers] == [True, True]
        assert servers[0].sent[0]["input_share"] != servers[1].sent[0]["input_share"]
        clock.day += 1
        client.report("debt", 0.5)
        clock.day += 1
        with pytest.raises(BudgetError):
            client.report("debt", 0.5)


def test_servers_that_differ_or_are_too_few_are_refused(tmp_path: Path, clock: Clock) -> None:
    first, second = pair(tmp_path, clock)
    other = noise_service(tmp_path, clock)
    with running(first) as one, running(second) as two, running(other) as third:
        with pytest.raises(InputError, match="shares take two"):
            RankClient(one, tmp_path / "a", budget=1).report("debt", 0.5)
        with pytest.raises(InputError, match="the same description"):
            RankClient(one, tmp_path / "b", budget=1, second=third).report("debt", 0.5)
        with pytest.raises(ParameterError, match="two different servers"):
            RankClient(two, tmp_path / "c", budget=1, second=two)
    with pytest.raises(ParameterError, match="two different servers"):
        RankClient("https://ranks.example", tmp_path, budget=1, second="https://Ranks.example/")


@pytest.mark.parametrize("url", ["http://ranks.example", "ftp://localhost", "localhost:80", ""])
def test_a_server_elsewhere_must_be_reached_by_https(url: str) -> None:
    with pytest.raises(ParameterError):
        HttpTransport(url)


class Lying:
    """A server whose description is not one."""

    def __init__(self, **change: object) -> None:
        self._change = change

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        return description().record() | {"period": 3} | self._change


@pytest.mark.parametrize(
    "change",
    [
        {"protocol": 0},
        {"k": 0},
        {"m": "3"},
        {"bucket": "now"},
        {"epsilon": "-1"},
        {"epsilon": "nan"},
        {"topics": []},
        {"topics": [{"name": "a/b", "measure": "lda", "edges": [1]}]},
        {"topics": [{"name": "a", "measure": "lda", "edges": [2, 1]}]},
        {"period": "now"},
        {"minimum_reports": 0},
        {"mode": "trust"},
    ],
)
def test_a_description_that_is_not_one_is_refused_before_anything_is_drawn(
    change: dict[str, object], tmp_path: Path
) -> None:
    client = RankClient(Lying(**change), tmp_path, budget=4)
    with pytest.raises(InputError):
        client.report("a", 0.5)
    assert client.account.spent == 0


@pytest.mark.parametrize("sent", [b"not JSON", b"[" * 100_000])
def test_an_answer_that_cannot_be_read_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(HttpTransport, "exchange", lambda *_given: (200, sent))
    with pytest.raises(InputError, match="not JSON"):
        HttpTransport("http://127.0.0.1:9").call("GET", "/description")


def test_a_quote_tells_what_a_report_would_cost_and_takes_nothing(
    server: Recording, clock: Clock, tmp_path: Path
) -> None:
    client = RankClient(server, tmp_path / "she", budget=1)
    first = client.quote("debt", 0.42)
    assert first.cost == first.left == 1
    assert not first.paid
    assert not first.repeated
    assert (first.bucket, first.buckets, first.affordable) == (8, 20, True)
    assert server.sent == []
    assert client.quote("debt", 0.42) == first
    client.report("debt", 0.42, agreed=first.mark)
    again = client.quote("debt", 0.9)
    # Once a period: what was reported is what would be sent again.
    assert again.cost == again.left == 0
    assert (again.repeated, again.bucket) == (True, 8)
    clock.day += 1
    assert not client.quote("debt", 0.9).affordable
    assert client.quote("debt", 0.41).paid
    with pytest.raises(InputError, match="changed meanwhile"):
        client.report("debt", 0.42, agreed=again.mark)
    assert len(server.sent) == 1
    client.close()
