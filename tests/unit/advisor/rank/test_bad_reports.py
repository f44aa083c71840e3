"""What a server of the mode of shares refuses before anything is stored, each with a sentence."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.rank_reports import shared, token
from support.rank_servers import Clock, InProcess, description, pair, running

from sottovoce.advisor.rank.description import Buckets, RankedTopic
from sottovoce.advisor.rank.shares import SharedReport
from sottovoce.web.rank.pair import FirstServer, SecondServer

TOPICS = tuple(
    RankedTopic(name, "lda", Buckets.even(0, 1, number))
    for name, number in (("debt", 6), ("illness", 9))
)
RULES = replace(description("shares", epsilon="200", buckets=6), topics=TOPICS)
REPORT = shared(RULES, 1, 3)
Body = dict[str, Any]


class Both:
    """The two servers behind HTTP."""

    def __init__(self, servers: tuple[FirstServer, SecondServer], stack: ExitStack) -> None:
        self.services = servers
        self.http: list[InProcess] = [stack.enter_context(running(each)) for each in servers]

    def post(self, place: int, body: Body) -> tuple[int, str]:
        answer = self.http[place].client.post("/reports", json=body)
        return answer.status_code, str(answer.json().get("detail", ""))

    def stored(self, place: int) -> int:
        where = [(topic, period) for topic in ("debt", "illness") for period in (99, 100, 101)]
        count = self.services[place].writer.run(
            lambda store: sum(store.number(*each) for each in where)
        )
        return count.result()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """One pair for all tests here: none of them leaves anything in a store."""
    folder: Path = tmp_path_factory.mktemp("pair")
    with ExitStack() as stack:
        yield Both(pair(folder, Clock(), RULES), stack)


def body(place: int, report: SharedReport = REPORT) -> Body:
    head = {"topic": "debt", "period": 100, "description": RULES.version}
    return head | report.request_fields(place)


Change = Callable[[int, Body], Body]
OTHER_RULES = description("shares", epsilon="100", buckets=6, topics=2)
BAD: dict[str, tuple[Change, int, str]] = {
    "another task": (lambda _, b: b | {"description": OTHER_RULES.version}, 422, "description"),
    "another topic": (lambda _, b: b | {"topic": "nobody's"}, 422, "topic"),
    "a past period": (lambda _, b: b | {"period": 99}, 409, "this period is over"),
    "a period to come": (lambda _, b: b | {"period": 101}, 409, "report for the current one"),
    "a former version": (
        lambda _, b: {k: v for k, v in b.items() if "_share" not in k} | {"share": "0" * 32},
        422,
        "public_share",
    ),
    "a version field": (lambda _, b: b | {"version": 2}, 422, "version"),
    "a share too short": (lambda _, b: b | {"input_share": b["input_share"][2:]}, 422, "share"),
    "a share too long": (lambda _, b: b | {"input_share": b["input_share"] + "00"}, 422, "share"),
    "a public share too short": (lambda _, b: b | {"public_share": "00" * 63}, 422, "public_share"),
    "no hexadecimal": (lambda _, b: b | {"public_share": "zz" * 64}, 422, "public_share"),
    "a nonce too short": (lambda _, b: b | {"id": "00" * 15}, 422, "id"),
    "the other server's share": (
        lambda place, b: b | {"input_share": REPORT.input_shares[1 - place].hex()},
        422,
        "share",
    ),
}


@pytest.mark.parametrize("place", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_report_is_refused_before_anything_is_stored(
    both: Both, bad: str, place: int
) -> None:
    change, status, why = BAD[bad]
    got, said = both.post(place, change(place, body(place)))
    assert got == status
    assert why in said
    assert REPORT.input_shares[place].hex()[:32] not in said
    assert both.stored(place) == 0


def test_a_share_of_the_length_of_another_topics_shares_is_refused(both: Both) -> None:
    got, said = both.post(0, body(0, shared(RULES, 1, 3, "illness")))
    wanted = len(REPORT.input_shares[0])
    assert (got, f"have {wanted} bytes in this server's input share" in said) == (422, True)
    assert both.stored(0) == 0


def test_a_replayed_report_counts_once_and_another_under_its_nonce_not_at_all(
    tmp_path: Path,
) -> None:
    clock = Clock()
    servers = pair(tmp_path, clock, RULES)
    with ExitStack() as stack:
        both = Both(servers, stack)
        for place in (0, 1):
            for number in (1, 2, 3):
                for _ in range(3):
                    report = REPORT if number == 1 else shared_once(number)
                    assert both.post(place, body(place, report)) == (200, "")
            other = shared(RULES, 1, 4)
            got, said = both.post(place, body(place, other))
            assert (got, "another report has this id" in said) == (409, True)
            assert both.stored(place) == 3
        clock.day += 1
        # Whoever heard it sends it again for the next period: its proof is for the last one.
        for place in (0, 1):
            assert both.post(place, body(place) | {"period": 101}) == (200, "")
        found = servers[0].histogram("debt", 100)
        assert found is not None
        assert (found["reports"], found["counts"]) == (3, [0, 0, 0, 1, 0, 2])
        servers[0].verify()
        decided = servers[0].use_store(lambda store: store.list_outputs("debt", 101))
        assert decided == {token(1): b""}


_MADE: dict[int, SharedReport] = {}


def shared_once(number: int) -> SharedReport:
    """The same report however often it is asked for."""
    return _MADE.setdefault(number, shared(RULES, number, 5))
