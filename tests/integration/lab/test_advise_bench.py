"""The bench of the advisor asks a real page, and believes it only when it agrees."""

import time

import pytest
from sottovoce_lab.bench import advise
from sottovoce_lab.bench.advise import (
    BrowserSession,
    bench_advise,
    long_history,
    p95_ms,
    time_windows,
)

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.errors import CheckFailedError

pytest.importorskip("fastapi")


def test_the_page_and_the_engine_are_timed_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advise, "WINDOWS", 2)
    monkeypatch.setattr(advise, "WARM_UP", 1)
    rows = bench_advise(120, questions=2)
    assert [row["unit"] for row in rows] == ["ms"] * 7
    assert [row["theirs"] for row in rows][:6] == [100.0] * 3 + [50.0] * 2 + [200.0]
    assert all(row["ours"] > 0 and row["ratio"] for row in rows)
    assert sum("page" in row["case"] for row in rows) == 4


@pytest.mark.parametrize("change", ["For debt: at place 0 instead of place 1.", "It changes."])
def test_a_page_that_tells_another_place_is_not_timed(change: str) -> None:
    person = Person(Community.demo(), long_history(Community.demo(), 50))

    class Wrong(BrowserSession):
        def __init__(self) -> None:
            """Reach nothing."""

        def what_if(self, *_asked: object) -> dict[str, str]:
            return {"change": change}

    with pytest.raises(CheckFailedError, match="do not give the same place"):
        advise._check_same(person, Wrong(), person.community.topics[0], [1], [1, 2])


class Silent(BrowserSession):
    """A page that is never reached."""

    def __init__(self) -> None:
        """Reach nothing."""

    def another_window(self) -> BrowserSession:
        return Silent()

    def close(self) -> None:
        """Nothing to hang up."""


def test_a_question_that_waits_for_another_counts_from_when_it_was_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(advise, "_PAUSE_S", 0.01)
    taken = time_windows(Silent(), lambda *_: time.sleep(0.1), windows=2, questions=3)
    # Due every 0.01 s and answered every 0.1 s: the third was due 0.28 s before its answer.
    assert len(taken) == 6
    assert max(taken) > 0.25


def test_a_window_without_an_answer_is_told() -> None:
    def refused(_window: BrowserSession, _number: int) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        time_windows(Silent(), refused, windows=2, questions=1)


def test_percentiles_are_of_the_questions_after_the_warm_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    clock = iter(number / 1000 for number in range(1000))
    monkeypatch.setattr("sottovoce_lab.bench.advise.time.perf_counter", lambda: next(clock))
    assert p95_ms(asked.append, 20) == pytest.approx(1)
    assert asked == list(range(25))


def test_an_advisor_that_does_not_start_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("none")
    with (
        pytest.raises(CheckFailedError, match="did not start"),
        advise.advisor_process(folder, "--no-such-option"),
    ):
        pytest.fail("it started")
