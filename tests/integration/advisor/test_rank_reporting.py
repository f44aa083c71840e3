"""Reporting from the page: nothing without consent, exactly what was agreed to, once."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path

import httpx
import pytest
from support.advisor_page import PageClient, served
from support.rank_processes import announced, browsing
from support.rank_servers import KEY, Clock, listening

from sottovoce.advisor.community import Community
from sottovoce.advisor.rank.description import (
    Buckets,
    Description,
    HttpTransport,
    Mode,
    RankedTopic,
)
from sottovoce.errors import ParameterError
from sottovoce.web.advise.session import Reporting, ask
from sottovoce.web.rank.pair import FirstServer, SecondServer
from sottovoce.web.rank.peer import HttpPeer
from sottovoce.web.rank.service import RankService
from sottovoce.web.rank.store import SqliteStore

Run = Callable[..., tuple[int, str, str]]
TOPIC, OTHER = "drug addiction", "pregnancy"
POSTS = "2024-03-01 rehab relapse heroin\n\n2024-03-09 opioid overdose\n\n2024-03-20 bread"


def rules(mode: Mode = "noise", epsilon: int = 1) -> Description:
    between = Buckets.even(-1, 1, 20)
    topics = tuple(RankedTopic(name, "bow-dt", between) for name in (TOPIC, OTHER))
    return Description(mode, Fraction(epsilon), topics, period_s=86_400, minimum=3)


@contextmanager
def page_of(folder: Path, *urls: str, budget: int = 1) -> Iterator[PageClient]:
    server = HttpTransport(urls[0])
    comparison = ask(server, (), Community.demo().catalogue, unpublished=True)
    reporting = Reporting(urls, folder / "reports", Fraction(budget))
    with served(folder, comparison=comparison, reporting=reporting) as client:
        client.post("/start/paste", data={"posts": POSTS})
        yield client


def stored(path: Path) -> list[tuple[str, int, bytes]]:
    with sqlite3.connect(path) as base:
        found = base.execute("SELECT topic, period, payload FROM rank_report").fetchall()
    base.close()
    return found


def mark(client: httpx.Client, topic: str = TOPIC) -> str:
    found = re.search(r'name="agreed" value="([0-9a-f]+)"', offer(client, topic).text)
    assert found is not None
    return found[1]


def offer(client: httpx.Client, topic: str = TOPIC) -> httpx.Response:
    return client.get("/report", params={"name": topic})


def agree(client: httpx.Client, agreed: str, topic: str = TOPIC) -> httpx.Response:
    form = {"name": topic, "agreed": agreed, "agree": "yes"}
    return client.post("/report", data=form)


@pytest.fixture
def url(tmp_path: Path, clock: Clock) -> Iterator[str]:
    store = SqliteStore(tmp_path / "server.sqlite")
    with listening(RankService(rules(), store, clock=clock)) as address:
        yield address


def test_a_report_is_offered_with_its_cost_and_sent_only_after_consent(
    url: str, tmp_path: Path
) -> None:
    with page_of(tmp_path, url) as client:
        address = f"/report?name={TOPIC.replace(' ', '+')}"
        assert address in client.get("/topic", params={"name": TOPIC}).text
        said = offer(client).text
        cost = ("1 of your privacy budget", "about 2.7, times more likely")
        for words in ("Not your posts", *cost, "when your range changes"):
            assert words in said
        agreed = mark(client)
        assert client.post("/report", data={"name": TOPIC, "agreed": agreed}).status_code == 422
        assert stored(tmp_path / "server.sqlite") == []
        assert agree(client, agreed).headers["location"].startswith("/report?")
        ((topic, period, _),) = stored(tmp_path / "server.sqlite")
        assert (topic, period) == (TOPIC, 100)
        assert "Nothing more: you have paid for this report" in offer(client).text
        # The budget is spent, so no other topic can be reported any more.
        assert "budget does not allow it" in offer(client, OTHER).text
        assert agree(client, "0" * 64, OTHER).status_code == 409
        assert len(stored(tmp_path / "server.sqlite")) == 1
        assert "nothing is sent anywhere but the reports" in offer(client).text


def test_the_next_period_repeats_the_same_bytes_after_a_restart_and_deleting_forgets_all(
    url: str, tmp_path: Path, clock: Clock
) -> None:
    seen = []
    for _ in range(2):
        with page_of(tmp_path, url) as client:
            agree(client, mark(client))
        # What is over is published, or withheld, and deleted when the next page asks.
        seen += stored(tmp_path / "server.sqlite")
        clock.day += 1
    first, second = seen
    assert first[1] + 1 == second[1]
    assert first[2] == second[2]
    folder = tmp_path / "reports"
    assert folder.stat().st_mode & 0o777 == 0o700
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {"rank.ledger", "rank.diary"} <= {path.name for path in files}
    with pytest.raises(ParameterError, match="--rank-budget that you began with"):
        Reporting([url], folder, Fraction(2))
    with page_of(tmp_path, url) as client:
        assert str(folder) in client.get("/delete").text
        client.post("/delete", data={"sure": "yes"})
    assert not folder.exists()


def test_what_changed_after_she_agreed_is_not_sent(url: str, tmp_path: Path, clock: Clock) -> None:
    with page_of(tmp_path, url, budget=5) as client:
        agreed = mark(client)
        clock.day += 1
        refused = agree(client, agreed)
        assert refused.status_code == 409
        assert "changed meanwhile" in refused.text
        agreed = mark(client)
        client.post("/start/paste", data={"posts": "2024-03-01 bread"})
        assert agree(client, agreed).status_code == 409
        assert stored(tmp_path / "server.sqlite") == []
        # Somebody else's place, in the demo or in a file, is not hers to report.
        client.post("/start/demo")
        assert offer(client).status_code == 404
        assert agree(client, agreed).status_code == 404


def test_a_server_that_is_gone_or_has_other_rules_gets_nothing(
    url: str, tmp_path: Path, clock: Clock
) -> None:
    with ExitStack() as stack:
        client = stack.enter_context(page_of(tmp_path, url, budget=5))
        reporting = client.session.reporting
        assert reporting is not None
        changed = SqliteStore(tmp_path / "after.sqlite")
        other = listening(RankService(rules(epsilon=2), changed, clock=clock))
        reporting._servers = (stack.enter_context(other),)
        said = offer(client)
        assert said.status_code == 409
        assert "rules have changed" in said.text
        reporting._servers = ("http://127.0.0.1:9",)
        assert "cannot be reached" in offer(client).text
        assert stored(tmp_path / "after.sqlite") == []


def test_shares_go_to_two_servers(tmp_path: Path, clock: Clock) -> None:
    shared = rules("shares")
    stores = [SqliteStore(tmp_path / f"{name}.sqlite") for name in ("first", "second")]
    with (
        listening(SecondServer(shared, stores[1], KEY, clock=clock)) as second,
        listening(FirstServer(shared, stores[0], KEY, HttpPeer(second, KEY), clock=clock)) as first,
        page_of(tmp_path, first, second) as client,
    ):
        assert "two servers put their lists together" in offer(client).text
        assert agree(client, mark(client)).status_code == 303
        one, other = (stored(tmp_path / f"{name}.sqlite") for name in ("first", "second"))
        assert len(one) == len(other) == 1
        assert one[0][2] != other[0][2]
        clock.day += 1
        assert "budget does not allow it" in offer(client).text


def test_the_commands_report_from_one_process_to_another(run: Run, tmp_path: Path) -> None:
    assert run("simulate", tmp_path / "c", "--users", 50, "--weeks", 2)[0] == 0
    topics, store = tmp_path / "c" / "topics.toml", tmp_path / "server.sqlite"
    given = ("--topics", topics, "--measure", "bow-dt", "--port", 0, "--store", store)
    with (
        announced("rank-server", *given) as server,
        announced(
            "advise", "--no-open", "--store", tmp_path / "she" / "a.sqlite", "--topics", topics,
            "--rank-server", server["url"], "--rank-budget", 1,
        ) as page,
    ):  # fmt: skip
        with browsing(page["address"]) as browser:
            browser.post("/start/paste", data={"posts": "debts and loans"})
            (name, *_) = re.findall(r'href="/topic\?name=(\w+)"', browser.get("/standing").text)
            assert agree(browser, mark(browser, name), name).status_code == 303
        assert [row[0] for row in stored(store)] == [name]
        ledger = tmp_path / "she" / "rank-reports" / "rank.ledger"
        assert ledger.stat().st_mode & 0o777 == 0o600
