"""A peer is killed for good in the middle of a step: the others go on, or the run ends by name."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.federated_folders import change_files, deadline, kept, prepare_rows, split
from support.warm_python import FIRST

from sottovoce import learn
from sottovoce.errors import SottovoceError
from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.party.control import PartyProcesses, running_parties

LONGEST_S = 30.0
DEADLINE_S = 2.5
NAMED = ("LostPartyError", "TooFewPartiesError", "RunRefusedError")
WAYS: dict[str, dict[str, Any]] = {
    "masks": {"penalty": 0.1},
    "hidden": {"penalty": 0.1, "mode": "hidden", "key_bits": 2048, "fraction_bits": 14},
}
# Before a party begins; dee is killed when it is about to send so manieth a message.
PREPARED = """
from support.killed_parties import kill
kill("dee", at={at})
"""


@pytest.fixture
def given() -> dict[str, Any]:
    chance = np.random.default_rng(3)
    rows = chance.poisson(0.9, (120, 4)).astype(float)
    return split(rows, np.where(rows[:, 0] > rows[:, 1], "more", "less"))


def trained_until_killed(
    folder: Path, given: dict[str, Any], way: str, at: int, patch: pytest.MonkeyPatch
) -> tuple[str, float]:
    """How a training ends in which dee is killed, and when; what is left must be right."""
    prepare_rows(folder, given, TrainingSettings(**WAYS[way]))
    change_files(folder, deadline(DEADLINE_S))
    patch.setenv(FIRST, PREPARED.format(at=at))
    with running_parties(folder) as parties:
        begun = time.monotonic()
        done = asked_to_train(parties)
        took_s = time.monotonic() - begun
        if "error" in done:
            (name,) = [each for each in NAMED if each in done["error"]][:1]
            assert "dee" in done["error"], done["error"]
            return name, took_s
        lost = parties.processes.pop("dee")
        lost.kill()
        lost.wait()
        parties.settle()
    left = [name for name in done["peers"] if name not in done["lost"]]
    if way != "hidden":
        alone = learn.train({name: given[name] for name in left}, **WAYS[way])
        found = kept(folder, "ada")["classifiers"][0]["coefficients"]
        assert found.tobytes() == alone.coef_[0].tobytes()
    return f"finished among {len(left)}", took_s


def asked_to_train(parties: PartyProcesses) -> dict[str, Any]:
    """The summary, or how the run was ended."""
    try:
        return dict(parties.ask("coordinator", do="train"))
    except SottovoceError as error:
        return {"error": str(error)}


def test_who_is_killed_before_anybody_gave_anything_is_left_out(
    tmp_path: Path, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it ended the run: sums survived the loss of a peer, and runs did not."""
    ended, _ = trained_until_killed(tmp_path / "all", given, "masks", 2, monkeypatch)
    assert ended == "finished among 3"


@pytest.mark.long
@pytest.mark.parametrize(
    ("way", "at"),
    [("masks", at) for at in range(1, 14)] + [(way, at) for way in WAYS for at in (2, 4, 6, 8)],
)
def test_a_peer_killed_at_any_message_leaves_the_right_result_or_a_named_end(
    tmp_path: Path, given: dict[str, Any], way: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, took_s = trained_until_killed(tmp_path / "all", given, way, at, monkeypatch)
    assert took_s < LONGEST_S
