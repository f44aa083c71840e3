"""Either server killed at any step of an opening: nothing is counted twice, lost or drawn again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rank_servers import KEY, Clock, InProcessPeer, description

from sottovoce.advisor.rank._description import Description
from sottovoce.advisor.rank._opening import Message
from sottovoce.advisor.rank._shares import split
from sottovoce.web.rank._pair import FirstServer, SecondServer
from sottovoce.web.rank._store import SqliteStore

EXACT = description("shares", epsilon="200", buckets=4)
"""So little noise that sums are exact, but for a chance of e^-100."""
NOISED = description("shares", epsilon="1/10", buckets=4)
BUCKETS = [0, 1, 1, 3, 3, 3]
COMMITS = {
    "first": ("rank_question", "rank_opening", "rank_histogram"),
    "second": ("rank_question", "rank_opening"),
}
MOMENTS = [
    (who, table, after)
    for who, tables in COMMITS.items()
    for table in tables
    for after in (False, True)
]


class KilledError(Exception):
    """The process is gone."""


class Mortal(SqliteStore):
    """A store whose process is killed around one of its commits, once."""

    dies: tuple[str, bool] | None = None

    def _keep_first(self, table: str, *given: Any, **named: Any) -> str:  # noqa: ANN401 - passed on
        if self.dies == (table, False):
            raise KilledError
        kept = super()._keep_first(table, *given, **named)
        if self.dies == (table, True):
            raise KilledError
        return kept


class Wire(InProcessPeer):
    """Notes what goes over it, both ways."""

    answers: list[Message]

    def call(self, path: str, message: Message) -> Message:
        answer = super().call(path, message)
        self.answers.append({"path": path} | answer)
        return answer


@contextmanager
def running(
    folder: Path,
    rules: Description,
    clock: Clock,
    dies: tuple[str, str, bool] | None = None,
) -> Iterator[tuple[FirstServer, SecondServer, Wire]]:
    """Both servers on what their files hold, one of them about to be killed."""
    stores = {name: Mortal(folder / f"{name}.sqlite") for name in COMMITS}
    if dies is not None:
        stores[dies[0]].dies = dies[1:]
    second = SecondServer(rules, stores["second"], KEY, clock=clock)
    wire = Wire(second)
    wire.answers = []
    first = FirstServer(rules, stores["first"], KEY, wire, clock=clock)
    yield first, second, wire
    first.close()
    second.close()


def reported(folder: Path, rules: Description) -> Clock:
    """Everybody reports to both servers, and the period ends."""
    clock = Clock()
    with running(folder, rules, clock) as (*servers, _):
        for server, shares in zip(servers, split(BUCKETS, 4), strict=True):
            for place, share in enumerate(shares):
                server.keep("debt", 100, f"{place:032x}", share.astype("<u8").tobytes())
    clock.day += 1
    return clock


@pytest.mark.parametrize(("who", "table", "after"), MOMENTS)
def test_a_server_killed_around_any_commit_leaves_nothing_lost_or_counted_twice(
    tmp_path: Path, who: str, table: str, after: bool
) -> None:
    clock = reported(tmp_path, EXACT)
    with (
        running(tmp_path, EXACT, clock, (who, table, after)) as (first, _, _),
        pytest.raises(KilledError),
    ):
        first.histogram("debt", 100)
    with running(tmp_path, EXACT, clock) as (first, second, _):
        found = first.histogram("debt", 100)
        assert found is not None
        assert found["reports"] == len(BUCKETS)
        assert found["counts"] == np.bincount(BUCKETS, minlength=4).tolist()
        assert first.histogram("debt", 100) == found
        for server in (first, second):
            assert server.writer.run(lambda store: store.due(["debt"], 101)).result() == []


@pytest.mark.parametrize(("who", "table", "after"), MOMENTS)
def test_what_a_server_said_before_it_was_killed_it_says_again_and_nothing_else(
    tmp_path: Path, who: str, table: str, after: bool
) -> None:
    """Noise under which one thing was said twice could be averaged away."""
    clock, answers, sent = reported(tmp_path, NOISED), [], []
    for dies in ((who, table, after), None):
        with running(tmp_path, NOISED, clock, dies) as (first, _, wire):
            try:
                first.histogram("debt", 100)
            except KilledError:
                assert dies is not None
            answers += wire.answers
            sent += wire.sent
    for said in (answers, [{"path": path} | message for path, message in sent]):
        assert len({str(sorted(each.items())) for each in said}) == len(
            {each["path"] for each in said}
        )
