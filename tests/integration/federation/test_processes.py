"""Parties as processes of their own, killed and started again."""

import time
from pathlib import Path

import numpy as np
import pytest
from support.federation_processes import Processes, processes
from support.federations import ToyDocuments, ToyTraining, in_process
from support.hidden_systems import small_keys_allowed

PEERS = ("ann", "bob", "cy")
POINTS = (
    "before hold",
    "after hold",
    "before commit",
    "before send",
    "after send",
    "after acknowledgement",
)
NAMED = {"LostPartyError", "TooFewPartiesError"}


def killed_and_restarted(running: Processes, seed: int, expected: str) -> tuple[bool, float]:
    """Kill a party at a place drawn from a seed; whether all got the result, and how soon."""
    chance = np.random.default_rng(seed)
    names, begun, before = running.training.names, time.monotonic(), running.restarts
    while running.restarts == before:  # a place that a run does not reach is no kill
        victim = names[chance.integers(len(names))]
        point, turn = POINTS[chance.integers(len(POINTS))], int(chance.integers(1, 9))
        running.order(victim, "kill", point, turn)
        begun = time.monotonic()
        ends = running.trained(60)
        assert set(ends) == set(names), f"a party has not ended: {victim}, {point}, {turn}"
        words = {end.split()[0] for end in ends.values()} - {b"no model".hex()}
        assert words == {expected} or words <= {expected, *NAMED}, words
        running.order(victim, "kill", "", 0)
    return words == {expected}, time.monotonic() - begun


def kills(folder: Path, seeds: range, *, weighed: bool = False) -> list[tuple[bool, float]]:
    training = ToyDocuments(PEERS) if weighed else ToyTraining(PEERS)
    with small_keys_allowed():
        expected = in_process(training).hex()
    with processes(training, folder) as running:
        return [killed_and_restarted(running, seed, expected) for seed in seeds]


@pytest.mark.parametrize("weighed", [False, True])
def test_parties_killed_at_any_place_come_back_to_the_right_result(
    tmp_path: Path, *, weighed: bool
) -> None:
    ends = kills(tmp_path, range(2), weighed=weighed)
    assert any(right for right, _ in ends)
    assert all(lasted <= 30 for _, lasted in ends)


def test_a_peer_with_sums_of_documents_that_it_has_not_is_named_to_everybody(
    tmp_path: Path,
) -> None:
    training = ToyDocuments(PEERS, liar="bob")
    with processes(training, tmp_path) as running:
        ends = running.trained(60)
    assert set(ends) == set(training.names)
    for end in ends.values():
        assert end.startswith("FalseSummandError coordinator: ")
        assert "bob's sums must weigh no more than sums over its 30 documents, got" in end
        assert "run again without bob." in end


@pytest.mark.long
def test_fifty_kills_end_in_the_right_result_or_by_name(tmp_path: Path) -> None:
    ends = kills(tmp_path, range(100, 125))
    lasted = sorted(seconds for _, seconds in ends)
    right = sum(each for each, _ in ends)
    figures = f"{right} of {len(ends)} right, median {lasted[12]:.1f} s, most {lasted[-1]:.1f} s"
    print(figures)  # noqa: T201 - for whoever asks with -s
    assert right >= 20
    assert lasted[-1] <= 30
