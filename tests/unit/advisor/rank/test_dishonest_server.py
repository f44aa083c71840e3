"""One dishonest server of two: what it tries, and that it learns no bucket by it.

The first check of reports that there was is kept here as a planted fault: the same attempt, a
constant added to what a server tells, read every bucket off the other's answer.
"""

import operator
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rank_reports import Servers, report_all, token
from support.rank_servers import KEY, Clock, description, pair

from sottovoce.advisor.rank.shares import ServerSide, ask_shares
from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf.field import FIELD128

NUMBER, PEOPLE = 6, 60
RULES = description("shares", epsilon="200", buckets=NUMBER)
BUCKETS = np.random.default_rng(0).integers(0, NUMBER, PEOPLE)
TOKENS = [token(place) for place in range(PEOPLE)]
PRIME = (1 << 61) - 1


class FirstCheck:
    """One server's side of the check as it first was: z - a is opened, then a verdict computed."""

    def __init__(self, share: list[int], r: list[int], *, first: bool) -> None:
        *vector, self._a, self._c = share
        self._first = first
        self._w = sum(factor * factor * entry for factor, entry in zip(r, vector, strict=True))
        self.masked = sum(map(operator.mul, r, vector)) - self._a

    def verdict(self, masked: int) -> int:
        """This server's part, 0 together with the other's for an honest report."""
        share = 2 * masked * self._a + self._c - self._w
        return share + masked * masked if self._first else share


def test_by_the_first_check_a_server_that_adds_one_reads_every_bucket() -> None:
    """2 d z + d^2 with d = 1; the planted fault that the other tests here stand against."""
    chance, found = random.Random(0), []
    for bucket in BUCKETS:
        r = [chance.randrange(PRIME) for _ in range(NUMBER)]
        a = chance.randrange(PRIME)
        secret = [*(int(place == bucket) for place in range(NUMBER)), a, a * a]
        one = [chance.randrange(PRIME) for _ in secret]
        liar = FirstCheck(one, r, first=True)
        honest = FirstCheck(list(map(operator.sub, secret, one)), r, first=False)
        true = liar.masked + honest.masked
        assert (liar.verdict(true) + honest.verdict(true)) % PRIME == 0, "the check itself is right"
        verdict = liar.verdict(true + 1) + honest.verdict(true + 1)
        found.append(r.index((verdict - 1) * pow(2, -1, PRIME) % PRIME))
    assert found == BUCKETS.tolist()


@pytest.fixture
def servers(tmp_path: Path, clock: Clock) -> Servers:
    """Two servers that hold everybody's reports."""
    both = pair(tmp_path, clock, RULES)
    report_all(both, BUCKETS.tolist())
    return both


def honest_question(servers: Servers) -> dict[str, Any]:
    """What a first server asks that follows the protocol."""
    held = servers[0].use_store(lambda store: store.list_waiting("debt", 100, "", PEOPLE))
    side = ServerSide(RULES, "debt", 100, KEY.verify, 0)
    return ask_shares(side, side.begin(held))


def shifted(share: str) -> str:
    """A verifier share with one added to every element of it."""
    verifier, part = bytes.fromhex(share)[:-32], bytes.fromhex(share)[-32:]
    elements = FIELD128.decode(verifier)
    return (
        FIELD128.encode(FIELD128.plus(elements, FIELD128.elements([1] * len(elements)))) + part
    ).hex()


def test_a_server_that_adds_one_gets_the_same_answer_whatever_the_buckets_are(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    """The attempt of above: the answer is what it would have been, and the reports are refused."""
    asked = honest_question(servers)
    told = servers[1].answer_verify(asked | {"shares": list(map(shifted, asked["shares"]))})
    assert servers[1].telemetry.value_of("refused") == PEOPLE
    (tmp_path / "again").mkdir()
    again = pair(tmp_path / "again", clock, RULES)
    kept = servers[1].use_store(lambda store: store.find_reports("debt", 100, TOKENS))
    for name, payload in kept.items():
        again[1].keep("debt", 100, name, payload).result(10)
    assert again[1].answer_verify(asked) == told
    assert again[1].telemetry.value_of("verified") == PEOPLE


def test_asking_again_also_after_a_restart_gets_the_same_bytes_and_the_first_verdict_stands(
    servers: Servers, tmp_path: Path, clock: Clock
) -> None:
    asked = honest_question(servers)
    told = servers[1].answer_verify(asked | {"shares": ["00"] * PEOPLE})
    servers[1].close()
    again = pair(tmp_path, clock, RULES)
    assert again[1].answer_verify(asked) == told
    decided = again[1].use_store(lambda store: store.list_outputs("debt", 100))
    assert set(decided.values()) == {b""}


def test_reports_that_a_server_makes_up_or_withholds_leave_one_sum_of_enough_reports(
    servers: Servers, clock: Clock
) -> None:
    """It may have one sum over some; nobody's is then isolated by a second one, or by too few."""
    servers[0].verify()
    clock.day += 1
    about = {"topic": "debt", "period": 100, "description": RULES.version}
    made_up = [token(1000 + place) for place in range(5)]
    told = servers[1].answer_open(about | {"tokens": [TOKENS[0], *made_up]})
    assert told == {"sum": "", "dropped": made_up}
    with pytest.raises(ProtocolError, match="another sum"):
        servers[1].answer_open(about | {"tokens": TOKENS})


def test_no_file_of_a_server_holds_anothers_share(servers: Servers, tmp_path: Path) -> None:
    """Nor does verifying leave any of it behind: what crosses is verifier shares alone."""
    servers[0].verify()
    payloads = [
        server.use_store(lambda store: store.find_reports("debt", 100, TOKENS))
        for server in servers
    ]
    for server in servers:
        server.close()
    for own, name in ((0, "first"), (1, "second")):
        written = b"".join(path.read_bytes() for path in tmp_path.glob(f"{name}.sqlite*"))
        assert payloads[own][TOKENS[0]][64:] in written
        assert payloads[1 - own][TOKENS[0]][64:96] not in written
