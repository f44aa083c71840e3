"""One dishonest server of two: what it tries, and that it learns no bucket by it.

The former check of reports is kept here as a planted fault: the same attempts succeed against it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rank_servers import KEY, Clock, description, pair, running

from sottovoce.advisor.rank._description import Description
from sottovoce.advisor.rank._opening import Message, Pool, ask, demand, digest
from sottovoce.advisor.rank._shares import (
    PRIME,
    CheckParts,
    Residues,
    coefficients,
    drawn,
    minus,
    packed,
    plus,
    residues,
    split,
    times,
    total,
    unpacked,
)
from sottovoce.advisor.rank._transport import RefusedError
from sottovoce.errors import InputError, ProtocolError
from sottovoce.web.rank._pair import FirstServer, PeerKey, SecondServer, _pool
from sottovoce.web.rank._store import ReportOutcome, SqliteStore

NUMBER, PEOPLE = 20, 200
RULES = description("shares", epsilon="100")
BUCKETS = np.random.default_rng(0).integers(0, NUMBER, PEOPLE)
TOKENS = [f"{place:032x}" for place in range(PEOPLE)]
R = coefficients(KEY.checks, f"{RULES.version}\ndebt\n100", TOKENS, NUMBER)
"""What both servers know: the coefficients of each report's check."""
NONCE = "ab" * 32
Servers = tuple[FirstServer, SecondServer]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def servers(tmp_path: Path, clock: Clock) -> Iterator[Servers]:
    """Two servers that hold everybody's reports, once the period is over."""
    both = pair(tmp_path, clock, RULES)
    for server, shares in zip(both, split(BUCKETS, NUMBER), strict=True):
        for token, share in zip(TOKENS, shares, strict=True):
            server.keep("debt", 100, token, share.astype("<u8").tobytes())
    clock.day += 1
    yield both
    for server in both:
        server.close()


def held(server: FirstServer | SecondServer) -> Pool:
    return server.writer.run(lambda store: _pool(server, store, "debt", 100)).result()


def named(values: Residues) -> list[int]:
    """The bucket whose coefficient each value is; -1 where it is nobody's."""
    found = values[:, None] == R
    return [int(row.argmax()) if row.any() else -1 for row in found]


class FormerCheck:
    """One server's side of the check as it was: z - a is opened, and then a verdict computed."""

    def __init__(self, shares: Residues, *, first: bool) -> None:
        vectors = shares[:, :NUMBER]
        self._first, self._a, self._c = first, shares[:, NUMBER], shares[:, NUMBER + 1]
        self._w = total(times(times(R, R), vectors), axis=1)
        self.masked = minus(total(times(R, vectors), axis=1), self._a)

    def verdicts(self, masked: Residues) -> Residues:
        """This server's part, 0 together with the other's for an honest report."""
        share = minus(plus(times(plus(masked, masked), self._a), self._c), self._w)
        return plus(share, times(masked, masked)) if self._first else share


def former_verdicts(first: Residues, second: Residues, shift: int) -> Residues:
    """What a first server sees that adds ``shift`` to its part of z - a, and is answered."""
    liar, honest = FormerCheck(first, first=True), FormerCheck(second, first=False)
    masked = plus(plus(liar.masked, honest.masked), residues([shift] * PEOPLE))
    return plus(liar.verdicts(masked), honest.verdicts(masked))


def test_by_the_former_check_a_server_that_adds_one_reads_every_bucket() -> None:
    """2 d z + d^2 with d = 1; the planted fault that the other tests here stand against."""
    verdicts = former_verdicts(*split(BUCKETS, NUMBER), shift=1)
    halves = residues([pow(2, -1, PRIME)] * PEOPLE)
    read = named(times(minus(verdicts, residues([1] * PEOPLE)), halves))
    assert read == BUCKETS.tolist()


def answered(servers: Servers) -> CheckParts:
    """What the second server tells a first server about all reports."""
    told = servers[1].checked(ask(held(servers[0]), KEY.checks, NONCE))
    assert told["tokens"] == TOKENS
    return CheckParts(*(unpacked(told[name]) for name in ("masked", "squared", "sums")))


def test_no_bucket_is_read_off_what_the_second_server_answers(servers: Servers) -> None:
    """All that the two servers' parts add up to is a number that is no bucket's, and its square."""
    told, own = answered(servers), CheckParts.of(held(servers[0]).shares, R)
    masked = plus(own.masked, told.masked)
    assert named(masked) == [-1] * PEOPLE
    assert np.array_equal(plus(own.squared, told.squared), times(masked, masked))
    assert set(plus(own.sums, told.sums).tolist()) == {1}


def same(left: CheckParts, right: CheckParts) -> bool:
    names = ("masked", "squared", "sums")
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in names)


def as_if(buckets: NDArray[np.int64], mask: Residues, first: Residues) -> Residues:
    """The second shares of reports of ``buckets`` under ``mask``, beside the ``first`` ones."""
    rows, secret = np.arange(PEOPLE), np.zeros_like(first)
    secret[rows, buckets] = 1
    secret[:, NUMBER], secret[:, NUMBER + 1] = mask, times(mask, mask)
    secret[rows, NUMBER + 2 + buckets] = plus(mask, mask)
    return minus(secret, first)


def test_what_the_second_server_answers_is_as_likely_from_every_bucket(servers: Servers) -> None:
    """Exactly: some other mask, and masks are uniform, makes the very same answer of any bucket."""
    own, told = held(servers[0]).shares, answered(servers)
    rows, mask = np.arange(PEOPLE), plus(own, held(servers[1]).shares)[:, NUMBER]
    for bucket in range(NUMBER):
        others = np.full(PEOPLE, bucket)
        shifted = minus(plus(mask, R[rows, BUCKETS]), R[rows, others])
        assert same(CheckParts.of(as_if(others, shifted, own), R), told)
        # A mask that is left as it is gives the bucket away.
        unmoved = CheckParts.of(as_if(others, mask, own), R).masked == told.masked
        assert np.array_equal(unmoved, bucket == BUCKETS)


def test_nothing_that_the_first_server_sends_changes_the_answer(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    (tmp_path / "again").mkdir()
    honest = ask(held(servers[0]), KEY.checks, NONCE)
    told = servers[1].checked(honest)
    again = pair(tmp_path / "again", clock, RULES)
    pool = held(servers[1])
    for token, share in zip(pool.tokens, pool.shares, strict=True):
        again[1].keep("debt", 100, token, share.astype("<u8").tobytes())
    assert again[1].checked(honest | {"commitment": "0" * 64}) == told
    for server in again:
        server.close()


def guessed(shares: Residues, guess: NDArray[np.int64]) -> Residues:
    """A server's own shares, altered to be still of one bucket if the guess is right."""
    altered, rows = shares.copy(), np.arange(PEOPLE)
    altered[rows, guess] = minus(altered[rows, guess], residues([1] * PEOPLE))
    other = (guess + 1) % NUMBER
    altered[rows, other] = plus(altered[rows, other], residues([1] * PEOPLE))
    return altered


def test_a_guess_of_a_bucket_cannot_be_tried_out_on_the_check(servers: Servers) -> None:
    """Half of the guesses are right: by the former check those were accepted, now none is."""
    guess = np.where(np.arange(PEOPLE) % 2, BUCKETS, (BUCKETS + 5) % NUMBER)
    own = held(servers[0])
    altered = guessed(own.shares, guess)
    former = former_verdicts(altered, held(servers[1]).shares, shift=0)
    assert np.array_equal(former == 0, guess == BUCKETS)
    liar = Pool(RULES, "debt", 100, own.tokens, altered)
    told = servers[1].checked(ask(liar, KEY.checks, NONCE))
    demanded, chosen = demand(liar, KEY.checks, NONCE, told)
    assert chosen == []
    assert servers[1].opened(demanded) == {"sum": ""}


def test_what_a_server_sees_before_it_fixes_its_own_parts_is_nothing(servers: Servers) -> None:
    """Else it could alter its share, and fit its parts to what the other server's are."""
    own = held(servers[0])
    told = servers[1].checked(ask(own, KEY.checks, NONCE))
    demanded, _ = demand(own, KEY.checks, NONCE, told)
    forged = packed(plus(unpacked(demanded["masked"]), drawn((PEOPLE,))))
    with pytest.raises(ProtocolError, match="committed itself to other parts"):
        servers[1].opened(demanded | {"masked": forged})


Change = Callable[[Message], Message]
OTHERS: list[Change] = [
    lambda asked: asked | {"commitment": "0" * 64},
    lambda asked: asked | {"tokens": asked["tokens"][:-1]},
    lambda asked: asked | {"tokens": asked["tokens"][::-1]},
    lambda asked: asked | {"tokens": asked["tokens"][:3]},
]


def test_the_second_server_answers_one_question_for_a_topic_and_period_also_after_a_restart(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    asked = ask(held(servers[0]), KEY.checks, NONCE)
    told = servers[1].checked(asked)
    servers[1].close()
    second = SecondServer(RULES, SqliteStore(tmp_path / "second.sqlite"), KEY, clock=clock)
    for _ in range(2):
        assert second.checked(asked) == told
        for change in OTHERS:
            with pytest.raises(ProtocolError, match="asked about already"):
                second.checked(change(asked))
    second.close()


def test_after_the_sum_is_opened_not_even_the_same_question_is_answered(servers: Servers) -> None:
    asked = ask(held(servers[0]), KEY.checks, NONCE)
    demanded, _ = demand(held(servers[0]), KEY.checks, NONCE, servers[1].checked(asked))
    once = servers[1].opened(demanded)
    assert servers[1].opened(demanded) == once
    with pytest.raises(ProtocolError, match="opened already"):
        servers[1].checked(asked)


def test_a_sum_that_was_not_asked_about_is_not_opened(servers: Servers) -> None:
    own = held(servers[0])
    demanded, _ = demand(own, KEY.checks, NONCE, servers[1].checked(ask(own, KEY.checks, NONCE)))
    few = own.of(own.tokens[:3])
    other = ask(few, KEY.checks, NONCE) | {"nonce": NONCE, "accepted": digest({})}
    parts = {name: demanded[name][: 16 * 3] for name in ("masked", "squared", "sums")}
    with pytest.raises(ProtocolError, match="did not ask about"):
        servers[1].opened(other | parts)


def test_a_report_is_checked_under_one_key_ever(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    """Two answers under two keys differ by r_b - r'_b: whoever sees both reads the bucket."""
    answered(servers)
    servers[1].close()
    store = SqliteStore(tmp_path / "second.sqlite")
    with pytest.raises(InputError, match="another key"):
        SecondServer(RULES, store, PeerKey(bytes(32)), clock=clock)
    store.close()


def test_once_a_question_is_noted_no_report_is_added(servers: Servers) -> None:
    """Else the same question would not have the same answer."""
    answered(servers)
    late = servers[1].keep("debt", 100, "f" * 32, bytes(8 * 42)).result(10)
    assert late is ReportOutcome.CLOSED


def test_rules_and_shares_of_the_former_check_are_refused_with_a_sentence(servers: Servers) -> None:
    record = RULES.record()
    assert record["protocol"] == 2
    with pytest.raises(InputError, match="speaks another protocol"):
        Description.from_record(record | {"protocol": 1})
    # The noise mode has the rules that it had, so what was paid for stays paid for.
    assert description("noise").record()["protocol"] == 1
    former = {"topic": "debt", "period": 101, "id": "0" * 32, "description": RULES.version}
    with running(servers[0]) as server, pytest.raises(RefusedError, match="422"):
        server.call("POST", "/shares", former | {"share": "0" * 16 * (NUMBER + 2)})
