"""An attack: a party's store is put back from a backup, and its processes are started again.

However often it is started and killed, each run that the store holds as under way is ended before
the party says anything.
"""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.federated_folders import (
    NAMES,
    change_files,
    copied,
    deadline,
    logged_events,
    prepare_poisson,
)
from support.warm_python import FIRST

from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.party.control import LOG_FILE, PartyProcesses, prepare, running_parties
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.documents import Documents
from sottovoce.privacy.ledger.ledger import Ledger

Run = Callable[..., tuple[int, str, str]]
VICTIM, AT = "dee", 3
# Before a party begins: the victim is killed when it is about to send so manieth a message.
KILLED = f"""
from support.killed_parties import kill
kill("{VICTIM}", at={AT})
"""
# While the victim begins: it is killed where it would call this.
KILLED_IN = """
import os, signal
from sottovoce.federation._journal import Journal
from sottovoce.federation.party import party
from sottovoce.federation.party.journal_key import OutsideCount
def end(*_args, **_options):
    os.kill(os.getpid(), signal.SIGKILL)
{place} = end
"""
FIRST_STARTS: dict[str, str | None] = {
    "whole": None,
    "killed before it ends the run": "Journal.abort",
    "killed after it has ended the run": "party.settle_count",
    "killed before it notes its count outside": "OutsideCount.note",
}


@contextmanager
def interrupted(
    folder: Path, patch: pytest.MonkeyPatch, **request: object
) -> Iterator[tuple[PartyProcesses, "Future[Any]"]]:
    """Parties of whom the victim was killed in the middle of a run, and how that run will end."""
    change_files(folder, deadline(30))
    patch.setenv(FIRST, KILLED)
    with running_parties(folder) as parties, ThreadPoolExecutor(1) as pool:
        ending = pool.submit(lambda: parties.ask("coordinator", **request))
        assert parties.processes[VICTIM].wait(60) == -signal.SIGKILL
        patch.delenv(FIRST)
        yield parties, ending


def gone_on(parties: PartyProcesses, ending: "Future[Any]") -> None:
    """The victim is started again, and the run goes on to its end."""
    start(parties)
    assert ending.result(60)["status"] == "finished"
    parties.settle()
    parties.stop([VICTIM])


def check_ended(parties: PartyProcesses, folder: Path) -> None:
    """The victim runs, and has ended the run that was under way in its store, and said so."""
    (run,) = parties.ask(VICTIM, do="status")["runs"]
    assert (run["status"], run["ended"]["error"]) == ("aborted", "RestoredCopyError")
    assert "was restored from a copy of earlier" in run["ended"]["sentence"]
    assert "store restored" in logged_events(folder)


def start_killed(parties: PartyProcesses, patch: pytest.MonkeyPatch, place: str) -> None:
    patch.setenv(FIRST, KILLED_IN.format(place=place))
    parties.start(VICTIM)
    assert parties.processes[VICTIM].wait(60) == -signal.SIGKILL
    patch.delenv(FIRST)


def start(parties: PartyProcesses) -> None:
    parties.start(VICTIM)
    parties.wait([VICTIM])


@pytest.mark.parametrize("first", FIRST_STARTS)
def test_a_restored_store_ends_its_run_whatever_its_first_start_came_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Before, the first start crashed, and the second went on with the run."""
    folder, backup = tmp_path / "all", tmp_path / "backup"
    prepare_poisson(folder)
    store = folder / VICTIM / "store"
    with interrupted(folder, monkeypatch, do="train") as (parties, ending):
        copied(store, backup)
        gone_on(parties, ending)
        copied(backup, store)
        if (place := FIRST_STARTS[first]) is not None:
            start_killed(parties, monkeypatch, place)
        start(parties)
        check_ended(parties, folder / VICTIM)


def test_a_folder_from_before_its_journal_key_was_rotated_is_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Before, nothing was noted any more under the old key, and the run went on."""
    folder, backup = tmp_path / "all", tmp_path / "backup"
    prepare_poisson(folder)
    own = folder / VICTIM
    with interrupted(folder, monkeypatch, do="train") as (parties, ending):
        copied(own, backup)
        with monkeypatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(folder / "state" / VICTIM))
            assert run("learn", "rotate", "journal", "--config", own / "party.toml")[0] == 0
        gone_on(parties, ending)
        rotated = tmp_path / "rotated"
        copied(own, rotated)
        copied(backup, own)
        start(parties)
        check_ended(parties, own)
        # What was rotated is no copy: its run has ended, and it says nothing of a restored store.
        parties.stop([VICTIM])
        copied(rotated, own)
        start(parties)
        (ended,) = parties.ask(VICTIM, do="status")["runs"]
        assert ended["status"] == "finished"
        assert "store restored" not in (own / LOG_FILE).read_text()


def test_a_copy_of_a_peer_on_the_same_machine_ends_its_count_and_pays_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, backup = tmp_path / "all", tmp_path / "copy"
    (words := tmp_path / "words.txt").write_text("debt\nloan\nsea\n", encoding="utf-8")
    texts = {name: Documents((f"a debt of {name}", "a loan")) for name in NAMES}
    prepare(folder, texts, SetupPlan(NAMES, TrainingSettings()))
    own, asked = folder / VICTIM, {"do": "count", "words_file": str(words), "votes": 3}
    with interrupted(folder, monkeypatch, **asked) as (parties, ending):
        copied(own, backup)
        gone_on(parties, ending)
        own.rename(tmp_path / "original")
        copied(backup, own)
        start(parties)
        check_ended(parties, own)
    (account,) = Ledger(folder / "state" / VICTIM / "sottovoce" / "ledger").accounts()
    assert account.spent == 2  # of one count: a ledger has twice its epsilon
