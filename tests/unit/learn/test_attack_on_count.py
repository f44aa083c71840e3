"""Who lies about a count, or brings others to it, opens nothing."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.changed_parties import Change, Changing
from support.counts import counting

from sottovoce.arrays import Integers
from sottovoce.errors import DataError, DisagreementError, ParameterError, TooFewPartiesError
from sottovoce.learn.run.party import make_party
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import Message
from sottovoce.privacy.shares import NoiseShare

if TYPE_CHECKING:
    from sottovoce.learn.wire.message import Party


def survivors_told(lists: Mapping[str, tuple[str, ...]]) -> Change:
    """Each peer hears its list, and the signatures of those who heard the same one."""

    def change(message: Message) -> Message:
        own = lists.get(message.receiver, ())
        if message.kind == "survivors":
            return replace(message, payload={**message.payload, "names": own})
        if message.kind == "agreement":
            signed = message.payload["signatures"]
            assert isinstance(signed, Mapping)
            same = {name: each for name, each in signed.items() if lists[name] == own}
            return replace(message, payload={"signatures": same})
        return message

    return change


def test_a_coordinator_that_names_too_few_survivors_opens_nothing() -> None:
    run = counting(4, drop=1)
    pairs = (("peer0", "peer1"), ("peer2", "peer3"))
    lists = {name: pair for pair in pairs for name in pair}
    lying = Changing(run.party(COORDINATOR), survivors_told(lists))
    with pytest.raises(TooFewPartiesError):
        Exchange([lying, *(run.party(name) for name in run.peers)]).run()
    assert "agreed" not in lying.heard


def test_a_coordinator_that_shows_two_lists_of_survivors_opens_one_sum_at_most() -> None:
    run = counting(5, drop=2)
    one, other = ("peer0", "peer1", "peer2"), ("peer2", "peer3", "peer4")
    lists = {name: one if name in one else other for name in run.peers}
    lying = Changing(run.party(COORDINATOR), survivors_told(lists))
    # Of those who heard the second list one has signed the first: two signatures are too few.
    with pytest.raises(TooFewPartiesError, match="3 peers must agree on the survivors, got 2"):
        Exchange([lying, *(run.party(name) for name in run.peers)]).run()
    assert "opened" not in lying.heard


def test_a_coordinator_that_shows_peers_different_terms_opens_nothing() -> None:
    run = counting(3)
    weaker = replace(run, recipe=replace(run.recipe, epsilon=Fraction(50)))
    lying = Changing(run.party(COORDINATOR), lambda message: message)
    parties: list[Party] = [lying, run.party("peer0"), weaker.party("peer1"), weaker.party("peer2")]
    with pytest.raises(DisagreementError, match="a signature for keys does not hold"):
        Exchange(parties).run()
    assert "masked" not in lying.heard


def test_a_peer_takes_no_part_with_peers_that_it_has_not_named() -> None:
    run = counting(3)
    fake = replace(run.terms, identities={**run.terms.identities, "eve": Identity().public})
    with pytest.raises(ParameterError, match="has not named eve; leave them out"):
        make_party(fake, "peer0", run.holdings("peer0"))


@pytest.mark.parametrize(("drop", "collude"), [(0, 1), (0, 0), (1, 1)])
def test_a_peer_takes_no_part_in_terms_with_another_h(drop: int, collude: int) -> None:
    run = counting(5, drop=1, collude=0)
    terms = replace(run.terms, count=replace(run.recipe, drop=drop, collude=collude))
    with pytest.raises(ParameterError, match=r"counts on the noise of 4 of 5 peers"):
        make_party(terms, "peer0", run.holdings("peer0"))


def test_a_peer_without_a_ledger_or_without_names_takes_no_part() -> None:
    run = counting(3)
    own = run.holdings("peer0")
    for lacking in (replace(own, spending=None), replace(own, trust=None)):
        with pytest.raises(DataError, match="must bring a ledger and name the peers"):
            make_party(run.terms, "peer0", lacking)


def test_what_a_peer_gives_is_drawn_once_however_often_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, drawn = counting(3), []
    draw = NoiseShare.draw

    def counted(share: NoiseShare, number: int) -> Integers:
        drawn.append((share.rate, share.among))
        return draw(share, number)

    monkeypatch.setattr(NoiseShare, "draw", counted)
    run.run()
    run.run()  # the same session: found again, not drawn
    assert drawn == [(Fraction(1, 3), 3)] * 3


def test_numbers_are_never_refused_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from sottovoce.learn.run import count  # noqa: PLC0415 - one test's

    run = counting(3)
    plain = count.VotePlan.sum_votes
    monkeypatch.setattr(
        count.VotePlan, "sum_votes", lambda *given: plain(*given) + ((1 << 62) + (1 << 61))
    )
    total = run.run().totals
    # Three times 2^62 + 2^61 is 2^61 modulo 2^64.
    assert np.abs(total - (1 << 61)).max() < 1 << 10
