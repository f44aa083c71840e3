"""What the noise of a count costs between processes, beside the same sum without any."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.party.control import PartyProcesses, prepare, running_parties
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.documents import Documents

Run = Callable[..., tuple[int, str, str]]
PEERS = ("ada", "ben", "cy", "dee")
WORDS = [f"word{at:04}" for at in range(1000)]
# A peer that gives its votes as they are: no ledger, no noise, and no product has such a switch.
UNNOISED = """
import runpy, sys
from sottovoce.learn.run.count import Voter
Voter.check = lambda self: None
Voter.summand = lambda self: self.count.plan.sum_votes(self.key, self.documents).view("uint64")
sys.argv = ["sottovoce", *sys.argv[sys.argv.index("sottovoce.cli") + 1 :]]
runpy.run_module("sottovoce.cli", run_name="__main__")
"""
MOST_TIMES = 1.5


def documents(seed: int, number: int) -> Documents:
    chance = np.random.default_rng(seed)
    rows = chance.integers(len(WORDS), size=(number, 11))
    return Documents(tuple(" ".join(WORDS[at] for at in row) for row in rows.tolist()))


def processor_s(parties: PartyProcesses) -> float:
    """Of all parties' processes so far."""
    ticks = 0
    for process in parties.processes.values():
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def cost(folder: Path, run: Run, within: dict[str, list[str]]) -> tuple[float, int]:
    """Processor seconds and bytes of one count of pairs, once all parties have warmed up."""
    command = ["learn", "count", "--config", folder / "coordinator" / "party.toml", "--pairs"]
    command += ["--words", folder / "words.txt", "--epsilon", "1", "--json"]
    with running_parties(folder, within=within) as parties:
        seen = []
        for _ in range(2):
            before = processor_s(parties)
            code, out, err = run(*command)
            assert (code, err) == (0, "")
            parties.settle()
            done = json.loads(out)
            sent = done["bytes_sent"] + done["bytes_received"]
            seen.append((processor_s(parties) - before, sent))
    return seen[-1]


@pytest.mark.long
def test_the_noise_of_half_a_million_cells_costs_less_than_half_of_the_sum(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "all"
    peers = {name: documents(at, 25_000) for at, name in enumerate(PEERS)}
    prepare(folder, peers, SetupPlan(PEERS, TrainingSettings(), count_with={"budget": 9}))
    (folder / "words.txt").write_text("\n".join(WORDS), encoding="utf-8")
    wrapper = tmp_path / "unnoised.py"
    wrapper.write_text(UNNOISED, encoding="utf-8")
    noised = cost(folder, run, {})
    plain = cost(folder, run, {name: [sys.executable, str(wrapper)] for name in PEERS})
    print(f"noised {noised}, plain {plain}")  # noqa: T201 - the figures of the page
    assert noised[0] < MOST_TIMES * plain[0]
    assert noised[1] == pytest.approx(plain[1], rel=0.001)
