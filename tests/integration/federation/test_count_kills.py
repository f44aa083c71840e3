"""Peers of a count, killed while they count and started again: each pays once, and goes on."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.federation.config import TrainingSettings, load_config
from sottovoce.federation.party.control import PartyProcesses, prepare, running_parties
from sottovoce.federation.party.history import RunHistory, journal_history
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.documents import Documents
from sottovoce.privacy import Ledger

PEERS = ("ada", "ben", "cy")
KILLS = 12
LIMITS = {"budget": 9900, "most_epsilon": 99}
WORDS = [f"word{at:03}" for at in range(200)]
NAMED = ("LostPartyError", "TooFewPartiesError", "RunRefusedError")


def counted_with_a_kill(parties: PartyProcesses, seed: int, words: Path) -> str:
    """How a count ends in which some peer is killed at some moment, and comes back."""
    chance = np.random.default_rng(seed)
    victim = PEERS[int(chance.integers(len(PEERS)))]
    asked = {"do": "count", "words_file": str(words), "what": "pairs", "epsilon": "99", "votes": 3}
    with ThreadPoolExecutor(1) as other:
        counting = other.submit(parties.ask, "coordinator", **asked)
        time.sleep(float(chance.uniform(0, 0.8)))
        parties.processes[victim].kill()
        parties.processes[victim].wait()
        parties.start(victim)
        parties.wait([victim])
        try:
            return str(counting.result(120)["status"])
        except SottovoceError as error:
            return next((each for each in NAMED if each in str(error)), str(error))


def runs_of(folder: Path, name: str) -> list[RunHistory]:
    party = ConfiguredParty(load_config(folder / name / "party.toml"), strict=False)
    with party.journal() as journal:
        return journal_history(journal)


@pytest.mark.long
def test_killed_peers_pay_once_for_a_run_and_open_the_true_sum(tmp_path: Path) -> None:
    folder, words = tmp_path / "all", tmp_path / "words.txt"
    words.write_text("\n".join(WORDS), encoding="utf-8")
    documents = Documents(tuple(f"{WORDS[at]} {WORDS[at + 1]}" for at in range(150)))
    prepare(
        folder,
        dict.fromkeys(PEERS, documents),
        SetupPlan(PEERS, TrainingSettings(), count_with=LIMITS),
    )
    for path in folder.glob("*/party.toml"):
        text = path.read_text().replace("[secrets]", "deadline_s = 60\n[secrets]", 1)
        path.write_text(text)
    with running_parties(folder) as parties:
        ends = [counted_with_a_kill(parties, seed, words) for seed in range(KILLS)]
        parties.settle()
    assert set(ends) <= {"finished", *NAMED}
    assert ends.count("finished") > KILLS // 2
    for name in PEERS:
        runs = runs_of(folder, name)
        done = [run for run in runs if run.status == "finished"]
        for run in done:
            # At this epsilon no cell has noise: every sum is that of all votes, each once.
            counted = TogetherCounts.from_record(run.result or {})
            assert counted.totals.sum() == 3 * 3 * 150
        ledger = Ledger(folder / "state" / name / "sottovoce" / "ledger")
        (account,) = ledger.accounts()
        spent = account.spent / 198
        assert len(done) <= spent <= len(runs)
        assert len(ledger.spends(account.corpus)) == spent
