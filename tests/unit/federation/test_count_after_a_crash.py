"""A peer of a count that comes back from a crash says the same bytes, and pays once."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from support.counts import Counting, counting

from sottovoce.arrays import Integers
from sottovoce.errors import BudgetError
from sottovoce.federation._node.state import begin_party, bound_after, first_bound, receive_message
from sottovoce.learn.count.spend import CountSpend, LedgerSpending, PaidBefore, Spending
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.count import NoisedSum, find_voter
from sottovoce.learn.run.party import make_party
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import Message, Party, new_session
from sottovoce.privacy import Ledger
from sottovoce.privacy.ledger.chosen_ledger import LedgerPlace
from sottovoce.privacy.shares import NoiseShare

SEED = bytes(range(32))


class Journalled:
    """A party that draws as a node's does, and writes down what it hears and says."""

    def __init__(self, make: Callable[[], Party], terms: bytes) -> None:
        self._terms, self.name = terms, "peer0"
        self._party, self._first = begin_party(lambda *_: make(), terms, self.name, SEED)
        self._bound = first_bound(self._party, terms, SEED)
        self._position = 0
        self.heard: list[Message] = []
        self.said: list[bytes] = [message.to_bytes() for message in self._first]

    @property
    def has_finished(self) -> bool:
        return self._party.has_finished

    def start(self) -> list[Message]:
        return self._first

    def receive(self, message: Message) -> list[Message]:
        self._position += 1
        self._bound = bound_after(self._bound, "receive", message.sender, message.to_bytes())
        said = receive_message(self._party, message, SEED, self._position, self._bound)
        self.heard.append(message)
        self.said += [each.to_bytes() for each in said]
        return said

    def time_out(self) -> list[Message]:
        return []


@pytest.fixture
def own(tmp_path: Path) -> LedgerSpending:
    return LedgerSpending(LedgerPlace(tmp_path / "ledger", named=True))


def test_a_rebuilt_peer_says_the_same_byte_for_byte(own: LedgerSpending) -> None:
    run = counting(3, epsilon=Fraction(1))
    places = {name: own.place.path.with_name(name) for name in run.peers}
    spendings: dict[str, Spending] = {
        name: LedgerSpending(LedgerPlace(path, named=True)) for name, path in places.items()
    }

    def made(name: str) -> Party:
        run.spending = spendings[name]
        return make_party(run.terms, name, run.holdings(name))

    terms = run.terms.to_bytes()
    first = Journalled(lambda: made("peer0"), terms)
    Exchange([first, run.party(COORDINATOR), made("peer1"), made("peer2")]).run()
    second = Journalled(lambda: made("peer0"), terms)
    for message in first.heard:
        second.receive(message)
    assert second.said == first.said
    assert [str(each.spent) for each in Ledger(places["peer0"]).accounts()] == ["2"]
    # The planted fault: a peer that keeps nothing draws other noise under the same masks.
    spendings["peer0"] = PaidBefore()
    third = Journalled(lambda: made("peer0"), terms)
    for message in first.heard:
        third.receive(message)
    assert third.said != first.said


def test_another_run_pays_again(own: LedgerSpending) -> None:
    run = counting(3)
    run.spending = own
    party = make_party(run.terms, "peer0", run.holdings("peer0"))
    assert party.name == "peer0"
    own.draw_once(spend(run), lambda: NoiseShare(epsilon=1, norm=3, among=2).draw(4))
    make_party(run.terms, "peer0", run.holdings("peer0"))  # the same run: paid for
    run.session = new_session()
    with pytest.raises(BudgetError, match="the count needs epsilon=2 at N=1"):
        make_party(run.terms, "peer0", run.holdings("peer0"))


def test_a_crash_after_the_spend_and_before_the_draw_costs_nothing_more(
    own: LedgerSpending,
) -> None:
    run = counting(3)

    def crash() -> Integers:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own.draw_once(spend(run), crash)
    assert str(Ledger(own.place.path).accounts()[0].spent) == "2"
    drawn = own.draw_once(spend(run), lambda: NoiseShare(epsilon=1, norm=3, among=2).draw(4))
    assert (own.draw_once(spend(run), crash) == drawn).all()
    assert str(Ledger(own.place.path).accounts()[0].spent) == "2"


def spend(run: Counting) -> CountSpend:
    return find_voter("peer0", NoisedSum(run.terms), run.holdings("peer0")).spend


def test_a_peer_without_documents_pays_for_itself_alone(own: LedgerSpending) -> None:
    run, share = counting(3), NoiseShare(epsilon=1, norm=3, among=2)
    own.draw_once(spend(run), lambda: share.draw(4))
    run.peers = {**run.peers, "peer0": Documents(())}
    for _ in range(2):
        run.session = new_session()
        drawn = own.draw_once(spend(run), lambda: share.draw(4))
        assert (own.draw_once(spend(run), lambda: share.draw(4)) == drawn).all()
