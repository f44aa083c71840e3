"""The small parts of the page's guard."""

from sottovoce.web.advise.app import MOST_SESSIONS, LoginTokens
from sottovoce.web.guards import hosts_of, size_in_words
from sottovoce.web.rank.app import MOST_KEYS, RateLimit


class Clock:
    """A clock that moves when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_tries_run_out_and_come_back_one_by_one() -> None:
    clock = Clock()
    limit = RateLimit(burst=3, per_second=0.5, clock=clock)
    assert [limit.allows("a") for _ in range(4)] == [True, True, True, False]
    assert limit.allows("b")
    assert limit.wait_s("a") == 2.0
    clock.now = 2.0
    assert [limit.allows("a") for _ in range(2)] == [True, False]
    clock.now = 1000.0
    assert [limit.allows("a") for _ in range(4)] == [True, True, True, False]


def test_a_refused_try_does_not_put_off_the_next() -> None:
    clock = Clock()
    limit = RateLimit(burst=1, per_second=1.0, clock=clock)
    assert limit.allows()
    for step in range(1, 10):
        clock.now = step / 10
        assert not limit.allows()
    clock.now = 1.0
    assert limit.allows()


def test_keys_are_forgotten_so_that_memory_is_bounded() -> None:
    limit = RateLimit(burst=1, per_second=0.001)
    for number in range(MOST_KEYS + 10):
        limit.allows(str(number))
    assert len(limit._left) == MOST_KEYS


def test_the_oldest_session_goes_when_there_are_too_many() -> None:
    login = LoginTokens()
    sessions = [login.exchange(login.token) for _ in range(MOST_SESSIONS + 1)]
    assert [login.knows(session) for session in sessions] == [False] + [True] * MOST_SESSIONS
    assert not login.knows(None)
    assert login.exchange("é\udcff") is None


def test_the_port_may_be_left_out_only_where_browsers_leave_it_out() -> None:
    assert hosts_of(["localhost"], 8000) == {"localhost:8000"}
    assert hosts_of(["localhost"], 80) == {"localhost:80", "localhost"}


def test_sizes_are_told_in_words() -> None:
    assert [size_in_words(n) for n in (5, 2048, 3 * 2**20)] == ["5 bytes", "2 KiB", "3 MiB"]
