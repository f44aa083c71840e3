"""A coordinator's process lies to one peer of four; a peer's process finds out, and says so."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.federated_folders import prepare_poisson, prepare_rows, split
from support.warm_python import FIRST

from sottovoce.errors import SottovoceError
from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.party.control import running_parties

PREPARED = """
from support.lying_coordinator import lie
lie("{what}")
"""
GIVING = {"masked", "summand"}


@pytest.mark.parametrize("what", ["terms", "kept features"])
def test_a_peer_that_was_told_something_else_ends_the_run_in_one_sentence(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it ran to its end: each compared its digest with the coordinator's alone."""
    folder = tmp_path / "all"
    prepare_poisson(folder)
    monkeypatch.setenv(FIRST, PREPARED.format(what=what))
    with running_parties(folder) as parties:
        with pytest.raises(SottovoceError) as caught:
            parties.ask("coordinator", do="train")
        lines = parties.ask("ben", do="transcript")
    sentence = str(caught.value)
    assert "DisagreementError" in sentence
    assert f"must have the same {what} in this run, and have not" in sentence
    sums = [line for line in lines if line["sender"] == "ben" and line["kind"] in GIVING]
    assert len(sums) == (0 if what == "terms" else 1), "the support's, and no statistics"


GREEDY = """
from sottovoce.learn.modes import guard
guard._fewest = lambda own, told: own
"""


@pytest.mark.parametrize("greedy", [False, True])
def test_a_coordinator_that_opens_more_words_than_a_peers_file_allows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, greedy: bool
) -> None:
    """One that keeps to it opens fewer, and says so."""
    chance = np.random.default_rng(3)
    rows = (chance.random((240, 6)) < np.linspace(0.5, 0.3, 6)).astype(float)
    flipped = chance.random(240) < 0.2
    given = split(rows, np.where((rows[:, 0] > 0) ^ flipped, "more", "less"))
    folder = tmp_path / "all"
    prepare_rows(folder, given, TrainingSettings(penalty=0.1))
    strict = folder / "ada" / "party.toml"
    usual = "most_opened_share = 0.5"
    assert usual in strict.read_text()
    strict.write_text(strict.read_text().replace(usual, "most_opened_share = 0.15"))
    if greedy:
        monkeypatch.setenv(FIRST, GREEDY)
    with running_parties(folder) as parties:
        if not greedy:
            done = parties.ask("coordinator", do="train")
            assert re.match("sums of [1-5] of 6 features", done["opened"])
            return
        with pytest.raises(SottovoceError) as caught:
            parties.ask("coordinator", do="train")
    assert re.search(
        "ada lets the sums of at most [1-5] columns be opened, got 6", str(caught.value)
    )
