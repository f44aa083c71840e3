"""The messages of two servers: what each checks for itself, whatever the other sends."""

from collections.abc import Callable
from typing import Any

import pytest
from support.rank_reports import flipped, forged, shared, token
from support.rank_servers import description

from sottovoce.advisor.rank.shares import (
    BegunReport,
    Message,
    ServerSide,
    SharedReport,
    answer_shares,
    ask_shares,
    decide_reports,
    demand_sum,
    input_share_bytes,
    join_sums,
    list_accepted,
    prio3,
    yield_sum,
)
from sottovoce.errors import ProtocolError

RULES = description("shares", epsilon="200", buckets=4)
"""So little noise that sums are exact, but for a chance of e^-100."""
KEY = bytes(32)
BUCKETS = [0, 1, 1, 3, 3, 3]
FIRST, SECOND = (ServerSide(RULES, "debt", 100, KEY, place) for place in range(2))
REPORTS = [shared(RULES, place, bucket) for place, bucket in enumerate(BUCKETS)]
TOKENS = [report.token for report in REPORTS]
Outputs = dict[str, bytes]


def begun(side: ServerSide, reports: list[SharedReport]) -> dict[str, BegunReport]:
    return side.begin({report.token: report.payload(side.server) for report in reports})


def verified(reports: list[SharedReport]) -> tuple[Outputs, Outputs]:
    """What both servers decide about reports that both hold."""
    one, two = (begun(side, reports) for side in (FIRST, SECOND))
    answered, second = answer_shares(SECOND, two, ask_shares(FIRST, one))
    return decide_reports(FIRST, one, answered), second


@pytest.mark.parametrize(
    "bad",
    [
        forged(RULES, 9, [0, 0, 0, 0]),
        forged(RULES, 9, [1, 0, 1, 0]),
        forged(RULES, 9, [2, -1, 0, 0]),
        forged(RULES, 9, [1000, -999, 0, 0]),
        flipped(shared(RULES, 9, 2), 0),
        flipped(shared(RULES, 9, 2), 1),
        SharedReport(token(9), bytes(64), shared(RULES, 9, 2).input_shares),
        SharedReport(token(9), bytes(64), (b"\xff" * input_share_bytes(RULES, "debt", 0), b"")),
    ],
)
def test_a_report_that_is_not_one_valid_bucket_is_refused_by_both(bad: SharedReport) -> None:
    first, second = verified([*REPORTS, bad])
    assert list_accepted(first) == list_accepted(second) == TOKENS
    assert first[bad.token] == second[bad.token] == b""


@pytest.mark.parametrize(
    ("rules", "topic", "period"),
    [
        (RULES, "debt", 101),
        (RULES, "debt", 99),
        (description("shares", epsilon="100", buckets=4), "debt", 100),
        (description("shares", epsilon="200", buckets=4, minimum=4), "debt", 100),
        (description("shares", epsilon="200", buckets=4, topics=2), "illness", 100),
    ],
)
def test_a_report_for_another_period_topic_or_other_rules_is_valid_nowhere_else(
    rules: Any,  # noqa: ANN401 - a description
    topic: str,
    period: int,
) -> None:
    elsewhere = SharedReport.of_bucket(rules, topic, period, token(9), 2)
    first, second = verified([elsewhere])
    assert first == second == {elsewhere.token: b""}


def test_a_report_of_which_the_servers_were_told_otherwise_by_the_client_is_refused() -> None:
    """A client that shows the two servers two public shares."""
    good = shared(RULES, 9, 2)
    other = SharedReport(good.token, shared(RULES, 9, 2).public_share, good.input_shares)
    one, two = begun(FIRST, [good]), begun(SECOND, [other])
    answered, second = answer_shares(SECOND, two, ask_shares(FIRST, one))
    assert decide_reports(FIRST, one, answered) == second == {good.token: b""}


@pytest.mark.parametrize(("side", "other"), [(FIRST, SECOND), (SECOND, FIRST)])
def test_a_report_whose_joint_randomness_is_not_that_of_its_shares_is_refused_by_either_server(
    side: ServerSide, other: ServerSide
) -> None:
    """The proof holds; that it was made under the right randomness shows in the last step alone."""
    own = begun(side, REPORTS)[TOKENS[0]]
    share = begun(other, REPORTS)[TOKENS[0]].share
    turned = share[:-1] + bytes([share[-1] ^ 1])
    assert side.output(own, share)
    in_order = (own.share, turned) if side is FIRST else (turned, own.share)
    assert side.prio3.verifier_message(in_order)
    assert side.output(own, turned) == b""


Change = Callable[[Message], Message]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda told: told | {"sum": ""}, "enough reports"),
        (lambda told: told | {"sum": told["sum"][:32]}, "must have 64 bytes"),
        (lambda told: told | {"dropped": ["f" * 32]}, "not asked about"),
        (lambda told: told | {"dropped": TOKENS}, "enough reports"),
        (lambda told: told | {"dropped": TOKENS[1:]}, "enough reports"),
    ],
)
def test_the_first_server_checks_what_the_second_opens(change: Change, why: str) -> None:
    first, second = verified(REPORTS)
    told = yield_sum(SECOND, second, demand_sum(FIRST, first))
    with pytest.raises(ProtocolError, match=why):
        join_sums(FIRST, first, change(told))


def test_a_message_has_one_share_for_each_report_and_names_none_twice() -> None:
    one, two = begun(FIRST, REPORTS), begun(SECOND, REPORTS)
    asked = ask_shares(FIRST, one)
    for change in ({"shares": asked["shares"][1:]}, {"tokens": [TOKENS[0], *TOKENS[:-1]]}):
        with pytest.raises(ProtocolError, match="6 reports and shares"):
            answer_shares(SECOND, two, asked | change)
    with pytest.raises(ProtocolError, match="6 reports and shares"):
        decide_reports(FIRST, one, {"shares": []})
    _, second = verified(REPORTS)
    with pytest.raises(ProtocolError, match="twice"):
        yield_sum(SECOND, second, {"tokens": [TOKENS[0], *TOKENS]})


def test_each_server_draws_noise_of_its_own_for_every_sum() -> None:
    rules = description("shares", epsilon="1/10", buckets=4)
    side = ServerSide(rules, "debt", 100, KEY, 0)
    zero = prio3(rules, "debt", 100).aggregate([])
    assert len({side.noised_sum([zero]) for _ in range(8)}) == 8


def test_a_report_of_20_buckets_has_the_bytes_of_the_formula() -> None:
    rules = description("shares")
    report = shared(rules, 0, 3)
    assert len(report.public_share) + sum(map(len, report.input_shares)) == 848
    assert [len(share) for share in report.input_shares] == [
        input_share_bytes(rules, "debt", place) for place in range(2)
    ]
    assert SharedReport.from_text(report.text()) == report
