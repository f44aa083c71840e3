"""A peer is killed for good in the middle of a step: the others go on, or the run ends by name."""

import time
from pathlib import Path
from typing import Any

import pytest
from support.federated_folders import change_files, deadline, kept, prepare_poisson
from support.warm_python import FIRST

from sottovoce import learn
from sottovoce.errors import SottovoceError
from sottovoce.federation.party.control import running_parties

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


def trained_until_killed(
    folder: Path, way: str, at: int, patch: pytest.MonkeyPatch
) -> tuple[str, float]:
    """How a training ends in which dee is killed, and when; what is left must be right."""
    given = prepare_poisson(folder, **WAYS[way])
    change_files(folder, deadline(DEADLINE_S))
    patch.setenv(FIRST, PREPARED.format(at=at))
    with running_parties(folder) as parties:
        begun = time.monotonic()
        try:
            done = parties.ask("coordinator", do="train")
        except SottovoceError as error:
            done = {"error": str(error)}
        took_s = time.monotonic() - begun
        if "error" in done:
            assert "dee" in done["error"], done["error"]
            return next(name for name in NAMED if name in done["error"]), took_s
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


def test_who_is_killed_before_anybody_gave_anything_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it ended the run: sums survived the loss of a peer, and runs did not."""
    ended, _ = trained_until_killed(tmp_path / "all", "masks", 2, monkeypatch)
    assert ended == "finished among 3"


@pytest.mark.long
@pytest.mark.parametrize(
    ("way", "at"),
    [("masks", at) for at in range(1, 14)] + [(way, at) for way in WAYS for at in (2, 4, 6, 8)],
)
def test_a_peer_killed_at_any_message_leaves_the_right_result_or_a_named_end(
    tmp_path: Path, way: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, took_s = trained_until_killed(tmp_path / "all", way, at, monkeypatch)
    assert took_s < LONGEST_S
