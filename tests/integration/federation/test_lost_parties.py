"""Parties that fall silent for good: the sum recovers without them, or the run ends by name."""

from itertools import combinations
from typing import Any

import pytest
from support.federations import ToySum, ToyTraining, in_process
from support.rehearsal import Crash, Outcome, Rehearsal, changed

from sottovoce.errors import LostPartyError
from sottovoce.federation._node.dispatcher import Machines
from sottovoce.federation.transport.frames import Complaint, Frame, Settings, pack_frame
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.codec import decode_value

SIX = tuple("abcdef")
FOUR = ("ann", "bob", "cy", "dee")


def lost(name: str, point: str, turn: int) -> Crash:
    return Crash(name, point, turn, again_s=None)


def summed(*crashes: Crash) -> Outcome:
    toy = ToySum(SIX)
    rehearsal = Rehearsal(toy.names, Machines(toy.made, toy.result), crashes=crashes)
    return rehearsal.run(COORDINATOR, toy.terms())


def trained(*crashes: Crash, settings: Settings | None = None) -> Outcome:
    toy = ToyTraining(FOUR)
    machines = Machines(toy.made, toy.result, terms_without=toy.without)
    rehearsal = Rehearsal(toy.names, machines, crashes=crashes, settings=settings or changed())
    return rehearsal.run(COORDINATOR, toy.terms())


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("turn", range(1, 6))
@pytest.mark.parametrize("point", ["before commit", "before send", "after send"])
def test_a_third_of_the_peers_lost_in_the_middle_leaves_the_exact_sum_of_the_others(
    point: str, turn: int, every: int
) -> None:
    toy = ToySum(SIX)
    pairs = list(combinations(SIX, 2))
    for pair in pairs[turn % every :: every]:
        ends = summed(*(lost(name, point, turn) for name in pair)).ends
        found = ends[COORDINATOR]
        assert isinstance(found, bytes), found
        survivors: Any = decode_value(found)[1]  # type: ignore[index] # a pair, or it fails
        assert set(SIX) - set(pair) <= set(survivors)
        expected = toy.expected(survivors)
        assert set(ends.values()) == {expected}


def test_more_lost_than_the_sum_can_bear_ends_it_by_name_everywhere() -> None:
    outcome = summed(*(lost(name, "before commit", 2) for name in "abc"))
    assert set(outcome.ends.values()) == {"TooFewPartiesError"}
    assert outcome.lasted_s <= 30


def test_the_coordinator_lost_ends_the_run_by_name_everywhere() -> None:
    outcome = summed(lost(COORDINATOR, "before send", 4))
    assert set(outcome.ends.values()) == {"LostPartyError"}
    assert outcome.lasted_s <= 30


def test_a_peer_that_is_lost_before_features_are_chosen_is_left_out() -> None:
    outcome = trained(lost("cy", "before commit", 3))
    expected = in_process(ToyTraining(FOUR), ("ann", "bob", "dee"))
    assert set(outcome.ends.values()) == {expected}


def test_a_peer_that_is_lost_later_ends_the_run_by_name() -> None:
    outcome = trained(lost("cy", "before commit", 9))
    assert set(outcome.ends.values()) == {"TooFewPartiesError"}
    assert outcome.lasted_s <= 30


def test_the_coordinator_begins_again_without_the_lost_where_it_may() -> None:
    settings = changed(retry_without_lost=True)
    outcome = trained(lost("cy", "before commit", 9), settings=settings)
    expected = in_process(ToyTraining(FOUR), ("ann", "bob", "dee"))
    assert set(outcome.ends.values()) == {expected}
    dispatcher = outcome.dispatchers[COORDINATOR]
    assert dispatcher is not None
    first, second = dispatcher.state.runs.values()
    assert first.ended["missing"] == ["cy"]
    assert first.followed_by == second.session


def test_it_does_not_begin_again_when_too_few_are_left() -> None:
    settings = changed(retry_without_lost=True)
    crashes = [lost(name, "before commit", 9) for name in ("cy", "dee")]
    outcome = trained(*crashes, settings=settings)
    assert set(outcome.ends.values()) == {"TooFewPartiesError"}


def test_who_comes_back_too_late_ends_alone() -> None:
    toy = ToySum(SIX)
    late = Crash("a", "before commit", 3, again_s=25.0)
    rehearsal = Rehearsal(toy.names, Machines(toy.made, toy.result), crashes=[late])
    ends = rehearsal.run(COORDINATOR, toy.terms()).ends
    assert ends.pop("a") in {"LostPartyError", "StalledError"}
    assert set(ends.values()) == {toy.expected(SIX[1:])}


def test_who_was_lost_cannot_end_the_run_of_the_others() -> None:
    toy = ToySum(SIX)
    dispatcher = Rehearsal(toy.names, Machines(toy.made, toy.result)).dispatchers[COORDINATOR]
    assert dispatcher is not None
    session = dispatcher.propose(toy.terms(), toy.names, 0.0)
    dispatcher.state.runs[session].lost.add("a")
    body = pack_frame(Complaint("LostPartyError", "where is everybody?"))
    for name, status in (("a", "running"), ("b", "aborted")):
        frame = Frame.make("abort", session, name, COORDINATOR, 0, body)
        assert dispatcher.inbox.take(frame, 1.0).outcome == "taken"
        assert dispatcher.state.runs[session].status == status


def test_a_peer_cannot_vote_another_out() -> None:
    toy = ToyTraining(FOUR)

    def made(terms: bytes, name: str) -> Any:  # noqa: ANN401 - a party
        if name == "ann":
            raise LostPartyError("ann would rather be without dee.", ["dee"])
        return toy.made(terms, name)

    machines = Machines(made, toy.result, terms_without=toy.without)
    settings = changed(retry_without_lost=True)
    rehearsal = Rehearsal(toy.names, machines, settings=settings)
    outcome = rehearsal.run(COORDINATOR, toy.terms())
    assert set(outcome.ends.values()) == {"LostPartyError"}
    dispatcher = rehearsal.dispatchers[COORDINATOR]
    assert dispatcher is not None
    assert len(dispatcher.state.runs) == 1


def test_a_run_that_lasts_too_long_is_ended() -> None:
    coordinator = Rehearsal(
        ToySum(SIX).names, Machines(ToySum(SIX).made, ToySum(SIX).result)
    ).dispatchers[COORDINATOR]
    assert coordinator is not None
    session = coordinator.propose(ToySum(SIX).terms(), (COORDINATOR, *SIX), 0.0)
    coordinator.heartbeat.tick(86399.0)
    assert coordinator.error(session) is None
    coordinator.heartbeat.tick(86401.0)
    error = coordinator.error(session)
    assert error is not None
    assert error.error == "StalledError"
