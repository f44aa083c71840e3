"""Admission by tokens: one report a token, topic and period, where an operator wants that."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.rank_servers import Clock, InProcess, description, noise_service, pair, running

from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import read_tokens
from sottovoce.errors import InputError, RefusedError
from sottovoce.web.rank.service import Admission, RankService

TOKENS = [f"{place:032x}" for place in range(4)]
RULES = description(topics=2, buckets=4)


class Admitting:
    """A server of the noise mode that asks for tokens."""

    def __init__(self, service: RankService, http: InProcess) -> None:
        self.service, self.http = service, http

    def report(self, place: int, **change: object) -> tuple[int, str]:
        head = {"topic": "debt", "period": self.service.period, "description": RULES.version}
        body = head | {"id": f"{place:032x}", "entries": [0, 1, 1, 0]} | change
        answer = self.http.client.post("/reports", json=body)
        return answer.status_code, str(answer.json().get("detail", ""))

    def rows(self, table: str) -> list[Any]:
        def look(store: Any) -> list[Any]:  # noqa: ANN401 - any store
            with store.transaction() as run:
                return list(run(f"SELECT * FROM {table}").fetchall())  # noqa: S608 - ours

        return self.service.writer.run(look).result()


@pytest.fixture
def server(tmp_path: Path, clock: Clock) -> Iterator[Admitting]:
    service = noise_service(tmp_path, clock, RULES)
    service.admission = Admission(TOKENS)
    with running(service) as http:
        yield Admitting(service, http)


@pytest.mark.parametrize("given", [{}, {"admission": None}, {"admission": "f" * 32}])
def test_without_a_token_that_is_on_the_list_nothing_is_stored(
    server: Admitting, given: dict[str, object]
) -> None:
    status, said = server.report(1, **given)
    assert (status, "only with an admission token" in said) == (401, True)
    assert server.rows("rank_report") == server.rows("rank_admitted") == []


def test_a_token_admits_one_report_of_each_topic_and_period(
    server: Admitting, clock: Clock
) -> None:
    """So k false reports take k tokens, however many ids one person draws."""
    hers: dict[str, object] = {"admission": TOKENS[0]}
    assert [server.report(1, **hers)[0] for _ in range(2)] == [200, 200]
    for place in (2, 3):
        status, said = server.report(place, **hers)
        assert (status, "was used for another report" in said) == (409, True)
    assert server.report(2, **hers, topic="illness")[0] == 200
    assert server.report(2, admission=TOKENS[1])[0] == 200
    assert len(server.rows("rank_report")) == 3
    clock.day += 1
    assert server.report(4, **hers)[0] == 200


def test_who_was_admitted_is_forgotten_with_the_reports_and_no_token_is_kept(
    server: Admitting, clock: Clock, tmp_path: Path
) -> None:
    for place, token in enumerate(TOKENS):
        server.report(100 + place, admission=token)
    members = [row[2] for row in server.rows("rank_admitted")]
    assert len(set(members)) == 4
    clock.day += 1
    assert server.service.histogram("debt", 100) is not None
    assert server.rows("rank_admitted") == []
    written = b"".join(path.read_bytes() for path in tmp_path.glob("rank.sqlite*"))
    for secret in (*members, *TOKENS):
        assert secret.encode() not in written


def test_a_member_is_known_by_something_else_in_every_topic_and_period() -> None:
    admission = Admission(TOKENS)
    seen = {admission.member(TOKENS[0], topic, period) for topic in "ab" for period in (1, 2)}
    assert len(seen) == 4
    assert admission.member("f" * 32, "a", 1) is None


def test_a_client_shows_its_token_to_both_servers(tmp_path: Path, clock: Clock) -> None:
    servers = pair(tmp_path, clock, description("shares", buckets=4))
    for server in servers:
        server.admission = Admission(TOKENS)
    with ExitStack() as stack:
        one, two = (stack.enter_context(running(server)) for server in servers)
        for folder, admission in (("a", TOKENS[0]), ("b", TOKENS[0]), ("c", None)):
            client = RankClient(one, tmp_path / folder, budget=1, second=two, admission=admission)
            if folder == "a":
                client.report("debt", 0.4)
            else:
                with pytest.raises(RefusedError, match="409" if admission else "401"):
                    client.report("debt", 0.4)
            client.close()
        for server in servers:
            assert server.use_store(lambda store: store.number("debt", 100)) == 1


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("", 0o600, "token of 32 hexadecimal"),
        ("secret\n", 0o600, "token of 32 hexadecimal"),
        (f"{TOKENS[0]}\n{TOKENS[0]}\n", 0o600, "twice"),
        (f"{TOKENS[0]}\n", 0o644, "open to others"),
        ("ü", 0o600, "cannot read"),
    ],
)
def test_a_list_of_tokens_must_be_private_and_have_one_for_each(
    tmp_path: Path, text: str, mode: int, why: str
) -> None:
    path = tmp_path / "tokens"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    with pytest.raises(InputError, match=why) as refused:
        read_tokens(path)
    assert TOKENS[0] not in str(refused.value)
    path.write_text("\n".join(TOKENS))
    path.chmod(0o600)
    assert read_tokens(path) == TOKENS
