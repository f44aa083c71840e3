"""What a person agreed to is what they pay, and what was drawn for them is not drawn again."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.rank_servers import description, report_once

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import Description, HttpTransport, Mode
from sottovoce.errors import InputError
from sottovoce.privacy.ledger.ledger import Ledger


class Server:
    """A server that takes what it gets, and may change its rules."""

    def __init__(self, mode: Mode = "noise", epsilon: str = "1") -> None:
        self.mode: Mode = mode
        self.rules: Description = description(mode, epsilon=epsilon)
        self.period = 7
        self.got: list[dict[str, Any]] = []

    def asks_for(self, epsilon: str) -> None:
        self.rules = description(self.mode, epsilon=epsilon)

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        if isinstance(body, dict):
            self.got.append(body)
        return self.rules.record() | {"period": self.period}


@pytest.fixture
def server() -> Server:
    return Server()


def spent(client: RankClient) -> float:
    return float(client.account.spent * 2)


@pytest.fixture
def client(server: Server, tmp_path: Path) -> Iterator[RankClient]:
    with closing(RankClient(server, tmp_path, budget=20)) as made:
        yield made


def test_a_server_that_asks_for_more_than_it_quoted_gets_nothing(
    server: Server, client: RankClient
) -> None:
    assert client.quote("debt", 0.4).cost == 1
    server.asks_for("10")
    with pytest.raises(InputError, match=r"costs epsilon 10\); nothing was drawn, spent or sent"):
        client.report("debt", 0.4)
    assert (spent(client), server.got) == (0, [])


def test_other_rules_than_those_reported_under_hold_only_once_she_agreed_to_a_quote_of_them(
    server: Server, client: RankClient
) -> None:
    client.report("debt", 0.4)
    server.asks_for("10")
    seen = client.quote("debt", 0.4)
    for period in (7, 8):
        server.period = period
        with pytest.raises(InputError, match="not those you agreed to"):
            client.report("debt", 0.4)
    assert (spent(client), len(server.got)) == (1, 1)
    server.period = 7
    client.report("debt", 0.4, agreed=seen.mark)
    assert spent(client) == 11
    server.period = 8
    client.report("debt", 0.4)
    assert (spent(client), len(server.got)) == (11, 3)


def test_what_was_agreed_to_is_known_after_a_restart_server_by_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpTransport, "call", lambda _, *given: server.call(*given))

    def report(url: str) -> None:
        report_once(url, tmp_path, budget=20)

    report("https://ranks.example")
    server.asks_for("10")
    server.period += 1
    for same in ("https://ranks.example", "https://RANKS.example/"):
        with pytest.raises(InputError, match="not those you agreed to"):
            report(same)
    assert len(server.got) == 1
    # Of another server she has agreed to nothing yet.
    report("https://others.example")
    assert len(server.got) == 2


Loss = Callable[[Path, Path], None]


def deleted(folder: Path, _: Path) -> None:
    """The ledger is gone, with the reports that it kept."""
    for path in folder.glob("rank.ledger*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def deleted_long_ago(folder: Path, earlier: Path) -> None:
    """The ledger is gone, and the diary is one that did not know yet what was drawn."""
    deleted(folder, earlier)
    with closing(sqlite3.connect(folder / "rank.diary")) as diary:
        diary.execute("DROP TABLE drawn")
        diary.commit()


def restored(folder: Path, earlier: Path) -> None:
    """An older copy of the ledger is put in its place."""
    deleted(folder, earlier)
    for path in earlier.glob("rank.ledger*"):
        shutil.copytree(path, folder / path.name) if path.is_dir() else shutil.copy(path, folder)


@pytest.mark.parametrize("lose", [deleted, deleted_long_ago, restored])
@pytest.mark.parametrize("mode", ["noise", "shares"])
def test_a_lost_ledger_beside_a_kept_diary_draws_nothing_again(
    mode: Mode, lose: Loss, tmp_path: Path
) -> None:
    servers = [Server(mode) for _ in range(1 + (mode == "shares"))]
    folder, earlier = tmp_path / "she", tmp_path / "earlier"

    def client() -> RankClient:
        return RankClient(servers[0], folder, budget=9, second=[*servers, None][1])

    for score in (0.4, 0.9):
        reporter = client()
        reporter.report("debt", score)
        reporter.close()
        if not earlier.exists():
            shutil.copytree(folder, earlier)
        for server in servers:
            server.period += 1
    lose(folder, earlier)
    for server in servers:
        server.period -= 1
    for _ in range(2):
        with pytest.raises(InputError, match="replaced by an older copy"):
            client().report("debt", 0.9)
    with pytest.raises(InputError, match="replaced by an older copy"):
        client().quote("debt", 0.9)
    assert [len(server.got) for server in servers] == [2] * len(servers)


def test_a_crash_before_anything_was_drawn_is_no_lost_ledger(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = RankClient(server, tmp_path, budget=2)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Ledger, "release", Mock(side_effect=KeyboardInterrupt))
        client.report("debt", 0.4)
    client.close()
    client = RankClient(server, tmp_path, budget=2)
    client.report("debt", 0.4)
    assert (spent(client), len(server.got)) == (1, 1)
    client.close()


def test_shares_that_were_drawn_keep_their_token_when_the_diary_is_lost(tmp_path: Path) -> None:
    """Under two tokens the servers would check one report twice, and read its bucket."""
    servers = Server("shares"), Server("shares")
    for _ in range(2):
        client = RankClient(servers[0], tmp_path, budget=9, second=servers[1])
        client.report("debt", 0.4)
        client.close()
        (tmp_path / "rank.diary").unlink()
    for server in servers:
        assert server.got[0] == server.got[1]


def test_other_servers_get_other_shares_and_are_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers that both hold the same share, or one that gets both, would read the bucket."""
    server = Server("shares")
    monkeypatch.setattr(HttpTransport, "call", lambda _, *given: server.call(*given))
    for second in ("https://b.example", "https://c.example"):
        client = RankClient("https://a.example", tmp_path, budget=9, second=second)
        client.report("debt", 0.4)
        total = spent(client)
        client.close()
    assert total == 2
    assert len({sent["input_share"] for sent in server.got}) == 4
