"""Either server killed at any step: nothing is counted twice, lost or drawn again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from support.rank_reports import report_all
from support.rank_servers import KEY, Clock, InProcessPeer, description

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.shares import Message
from sottovoce.web.rank.pair import FirstServer, SecondServer
from sottovoce.web.rank.store import Closing, SqliteStore

EXACT = description("shares", epsilon="200", buckets=4)
"""So little noise that sums are exact, but for a chance of e^-100."""
NOISED = description("shares", epsilon="1/10", buckets=4)
BUCKETS = [0, 1, 1, 3, 3, 3]
COMMITS = {
    "first": ("verdicts", "rank_question", "rank_histogram"),
    "second": ("verdicts", "rank_question", "rank_opening"),
}
MOMENTS = [
    (who, commit, after)
    for who, commits in COMMITS.items()
    for commit in commits
    for after in (False, True)
]


class KilledError(Exception):
    """The process is gone."""


class Mortal(SqliteStore):
    """A store whose process is killed around one of its commits, once."""

    dies: tuple[str, bool] | None = None

    def keep_first(self, table: Closing, topic: str, period: int, record: str) -> str:
        with self._killing(table):
            return super().keep_first(table, topic, period, record)

    def decide(self, topic: str, period: int, outputs: Mapping[str, bytes]) -> list[str]:
        with self._killing("verdicts"):
            return super().decide(topic, period, outputs)

    @contextmanager
    def _killing(self, commit: str) -> Iterator[None]:
        if self.dies == (commit, False):
            raise KilledError
        yield
        if self.dies == (commit, True):
            raise KilledError


class Wire(InProcessPeer):
    """Notes what goes over it, both ways."""

    answers: list[Message]

    def call(self, path: str, message: Message) -> Message:
        answer = super().call(path, message)
        self.answers.append({"path": path} | answer)
        return answer


@contextmanager
def running(
    folder: Path, rules: Description, clock: Clock, dies: tuple[str, str, bool] | None = None
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


def reported(folder: Path, rules: Description) -> Clock:
    """Everybody reports to both servers, and the period ends."""
    clock = Clock()
    with running(folder, rules, clock) as (first, second, _):
        report_all((first, second), BUCKETS)
    clock.day += 1
    return clock


@pytest.mark.parametrize(("who", "commit", "after"), MOMENTS)
def test_a_server_killed_around_any_commit_leaves_nothing_lost_or_counted_twice(
    tmp_path: Path, who: str, commit: str, after: bool
) -> None:
    clock = reported(tmp_path, EXACT)
    with (
        running(tmp_path, EXACT, clock, (who, commit, after)) as (first, _, _),
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
            assert server.use_store(lambda store: store.list_due(["debt"], 101)) == []


@pytest.mark.parametrize(("who", "commit", "after"), MOMENTS)
def test_what_a_server_said_before_it_was_killed_it_says_again_and_nothing_else(
    tmp_path: Path, who: str, commit: str, after: bool
) -> None:
    """Noise under which one thing was said twice could be averaged away."""
    clock, answers, sent = reported(tmp_path, NOISED), [], []
    for dies in ((who, commit, after), None):
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


def test_what_was_verified_while_the_period_ran_is_not_asked_about_again(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, EXACT, clock) as (first, second, _):
        report_all((first, second), BUCKETS)
        first.verify()
    clock.day += 1
    with running(tmp_path, EXACT, clock) as (first, _, wire):
        found = first.histogram("debt", 100)
        assert found is not None
        assert found["counts"] == np.bincount(BUCKETS, minlength=4).tolist()
        assert [path for path, _ in wire.sent] == ["/peer/open"]
