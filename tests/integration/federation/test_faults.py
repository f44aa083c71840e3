"""Whatever goes wrong, a run ends in the right result or by a named error, and soon."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from support.chance import drawn_once
from support.federations import ToySum, ToyTraining, in_process
from support.hidden_systems import small_keys_allowed
from support.rehearsal import Crash, Faults, Outcome, Rehearsal, changed, rehearse

from sottovoce.errors import LostPartyError
from sottovoce.federation._node.dispatcher import Dispatcher, Machines
from sottovoce.federation.transport.frames import Complaint, Frame, Settings, pack_frame
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.codec import decode_value

PEERS = ("ann", "bob", "cy")
POINTS = (
    "before hold",
    "after hold",
    "before commit",
    "before send",
    "after send",
    "after acknowledgement",
)
NAMED = {"LostPartyError", "TooFewPartiesError", "StalledError"}
SEEDS_A_TEST = 25
FEW_SEEDS = 12


@pytest.fixture(autouse=True)
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


def check(outcome: Outcome, expected: bytes) -> bool:
    """Whether everybody has the right result; all others must have a named error."""
    ends = set(outcome.ends.values()) - {b"no model"}
    assert outcome.lasted_s <= 30
    assert ends == {expected} or ends <= {expected, *NAMED}, ends
    return ends == {expected}


@pytest.mark.parametrize(
    "seeds",
    [
        range(FEW_SEEDS),
        *(
            pytest.param(range(first, first + SEEDS_A_TEST), marks=pytest.mark.long)
            for first in range(0, 10 * SEEDS_A_TEST, SEEDS_A_TEST)
        ),
    ],
    ids=str,
)
def test_a_wire_that_loses_doubles_shuffles_and_damages_changes_no_result(seeds: range) -> None:
    training, expected = undisturbed()
    ended = [
        check(rehearse(training, faults=Faults(0.01, 0.01, 0.01, 0.01, seed))[1], expected)
        for seed in seeds
    ]
    assert sum(ended) >= 0.9 * len(seeds)


@drawn_once
def undisturbed() -> tuple[ToyTraining, bytes]:
    """A training, and what it comes to."""
    training = ToyTraining(PEERS)
    return training, in_process(training)


@cache
def places() -> list[Crash]:
    """Every time that any party of an undisturbed run reaches any point."""
    reached = rehearse(undisturbed()[0])[1].reached
    return [
        Crash(name, point, turn)
        for (name, point), times in sorted(reached.items())
        for turn in range(1, times + 1)
    ]


@pytest.mark.parametrize("point", POINTS)
def test_a_party_that_crashes_and_comes_back_changes_no_result(point: str) -> None:
    training, expected = undisturbed()
    crashes = [crash for crash in places() if crash.point == point]
    # The long run below tries every place.
    assert all(check(rehearse(training, crash)[1], expected) for crash in crashes[::26])


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS)
def test_no_place_of_a_crash_changes_a_result(point: str) -> None:
    training, expected = undisturbed()
    crashes = [crash for crash in places() if crash.point == point]
    assert all(check(rehearse(training, crash)[1], expected) for crash in crashes)


# Parties that fall silent for good: the sum recovers without them, or the run ends by name.

SIX = tuple("abcdef")
SUM_OF_SIX = ToySum(SIX)
FOUR_TRAIN = ToyTraining((*PEERS, "dee"))
RETRYING = changed(retry_without_lost=True)


def proposing() -> tuple[Dispatcher, bytes]:
    """A coordinator that has just proposed a sum."""
    machines = Machines(SUM_OF_SIX.made, SUM_OF_SIX.result)
    dispatcher = Rehearsal(SUM_OF_SIX.names, machines).dispatchers[COORDINATOR]
    assert dispatcher is not None
    return dispatcher, dispatcher.propose(SUM_OF_SIX.terms(), SUM_OF_SIX.names, 0.0)


def lost(name: str, point: str, turn: int) -> Crash:
    return Crash(name, point, turn, again_s=None)


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("turn", range(1, 6))
@pytest.mark.parametrize("point", ["before commit", "before send", "after send"])
def test_a_third_of_the_peers_lost_in_the_middle_leaves_the_exact_sum_of_the_others(
    point: str, turn: int, every: int
) -> None:
    pairs = list(combinations(SIX, 2))
    for pair in pairs[turn % every :: every]:
        ends = rehearse(SUM_OF_SIX, *(lost(name, point, turn) for name in pair))[1].ends
        found = ends[COORDINATOR]
        assert isinstance(found, bytes), found
        survivors: Any = decode_value(found)[1]  # type: ignore[index] # a pair, or it fails
        assert set(SIX) - set(pair) <= set(survivors)
        expected = SUM_OF_SIX.expected(survivors)
        assert set(ends.values()) == {expected}


@pytest.mark.parametrize(
    ("toy", "gone", "turn", "settings", "error"),
    [
        (SUM_OF_SIX, "abc", 2, changed(), "TooFewPartiesError"),
        (SUM_OF_SIX, [COORDINATOR], 4, changed(), "LostPartyError"),
        (FOUR_TRAIN, ["cy"], 9, changed(), "TooFewPartiesError"),
        (FOUR_TRAIN, ["cy", "dee"], 9, RETRYING, "TooFewPartiesError"),
    ],
    ids=["more than a sum bears", "the coordinator", "after the features", "too few are left"],
)
def test_who_is_lost_and_cannot_be_left_out_ends_the_run_by_name_everywhere(
    toy: ToySum | ToyTraining, gone: Iterable[str], turn: int, settings: Settings, error: str
) -> None:
    point = "before send" if COORDINATOR in gone else "before commit"
    _, outcome = rehearse(toy, *(lost(name, point, turn) for name in gone), settings=settings)
    assert set(outcome.ends.values()) == {error}
    assert outcome.lasted_s <= 30


def test_a_peer_that_is_lost_before_features_are_chosen_is_left_out() -> None:
    _, outcome = rehearse(FOUR_TRAIN, lost("cy", "before commit", 3))
    expected = in_process(FOUR_TRAIN, ("ann", "bob", "dee"))
    assert set(outcome.ends.values()) == {expected}


def test_the_coordinator_begins_again_without_the_lost_where_it_may() -> None:
    _, outcome = rehearse(FOUR_TRAIN, lost("cy", "before commit", 9), settings=RETRYING)
    expected = in_process(FOUR_TRAIN, ("ann", "bob", "dee"))
    assert set(outcome.ends.values()) == {expected}
    dispatcher = outcome.dispatchers[COORDINATOR]
    assert dispatcher is not None
    first, second = dispatcher.state.runs.values()
    assert first.ended["missing"] == ["cy"]
    assert first.followed_by == second.session


def test_who_comes_back_too_late_ends_alone() -> None:
    late = Crash("a", "before commit", 3, again_s=25.0)
    ends = rehearse(SUM_OF_SIX, late)[1].ends
    assert ends.pop("a") in {"LostPartyError", "StalledError"}
    assert set(ends.values()) == {SUM_OF_SIX.expected(SIX[1:])}


def test_who_was_lost_cannot_end_the_run_of_the_others() -> None:
    dispatcher, session = proposing()
    dispatcher.state.runs[session].lost.add("a")
    body = pack_frame(Complaint("LostPartyError", "where is everybody?"))
    for name, status in (("a", "running"), ("b", "aborted")):
        frame = Frame.make("abort", session, name, COORDINATOR, 0, body)
        assert dispatcher.inbox.take(frame, 1.0).outcome == "taken"
        assert dispatcher.state.runs[session].status == status


def test_a_peer_cannot_vote_another_out() -> None:
    def made(terms: bytes, name: str) -> Any:  # noqa: ANN401 - a party
        if name == "ann":
            raise LostPartyError("ann would rather be without dee.", ["dee"])
        return FOUR_TRAIN.made(terms, name)

    machines = Machines(made, FOUR_TRAIN.result, terms_without=FOUR_TRAIN.without)
    rehearsal, outcome = rehearse(FOUR_TRAIN, settings=RETRYING, machines=machines)
    assert set(outcome.ends.values()) == {"LostPartyError"}
    dispatcher = rehearsal.dispatchers[COORDINATOR]
    assert dispatcher is not None
    assert len(dispatcher.state.runs) == 1


def test_a_run_that_lasts_too_long_is_ended() -> None:
    coordinator, session = proposing()
    coordinator.heartbeat.tick(86399.0)
    assert coordinator.error(session) is None
    coordinator.heartbeat.tick(86401.0)
    error = coordinator.error(session)
    assert error is not None
    assert error.error == "StalledError"
