"""Whatever goes wrong, a run ends in the right result or by a named error, and soon."""

from collections.abc import Iterator
from functools import cache

import pytest
from support.chance import drawn_once
from support.federations import ToyTraining, in_process
from support.hidden_systems import small_keys_allowed
from support.rehearsal import Crash, Faults, Outcome, Rehearsal, changed

from sottovoce.federation._node.dispatcher import Machines
from sottovoce.federation.transport.frames import Settings
from sottovoce.learn.training_terms import COORDINATOR

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


def rehearsed(
    training: ToyTraining,
    *crashes: Crash,
    faults: Faults | None = None,
    settings: Settings | None = None,
) -> Outcome:
    machines = Machines(training.made, training.result, terms_without=training.without)
    rehearsal = Rehearsal(
        training.names,
        machines,
        faults=faults,
        crashes=crashes,
        settings=settings or changed(),
    )
    return rehearsal.run(COORDINATOR, training.terms())


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
def test_a_wire_that_loses_doubles_shuffles_and_damages_changes_no_result(
    seeds: range,
) -> None:
    training, expected = undisturbed()
    ended = [
        check(rehearsed(training, faults=Faults(0.01, 0.01, 0.01, 0.01, seed)), expected)
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
    reached = rehearsed(undisturbed()[0]).reached
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
    assert all(check(rehearsed(training, crash), expected) for crash in crashes[::26])


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS)
def test_no_place_of_a_crash_changes_a_result(point: str) -> None:
    training, expected = undisturbed()
    crashes = [crash for crash in places() if crash.point == point]
    assert all(check(rehearsed(training, crash), expected) for crash in crashes)
