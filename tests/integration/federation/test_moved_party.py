"""A party goes to another machine: it runs there at once, and not where it was, nor as a copy.

Another machine is another folder of state. Each call that reaches a disk fails in turn.
"""

import gc
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.failing_calls import LOST_ANSWERS, ONCE_AND_LASTING, fail_each
from support.federated_folders import copied, logged_events, prepare_poisson

from sottovoce.errors import InputError, SottovoceError
from sottovoce.federation.config import load_config
from sottovoce.federation.party.control import STATE_FOLDER, PartyProcesses, running_parties
from sottovoce.federation.party.party import ConfiguredParty, move_party

Run = Callable[..., tuple[int, str, str]]
SAMPLES = [4, pytest.param(40, marks=pytest.mark.long)]
KINDS = (*ONCE_AND_LASTING, *LOST_ANSWERS)


def start(parties: PartyProcesses, name: str) -> None:
    parties.start(name)
    parties.wait([name])


def test_a_moved_party_trains_on_and_its_old_place_and_copies_do_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, backup, archive = tmp_path / "all", tmp_path / "backup", tmp_path / "carried.zip"
    prepare_poisson(folder)
    own, state = folder / "dee", folder / STATE_FOLDER / "dee"
    with running_parties(folder) as parties:
        first = parties.ask("coordinator", do="train")
        assert first["status"] == "finished"
        monkeypatch.setenv("XDG_STATE_HOME", str(state))
        refused = run("learn", "move", own, archive)
        assert refused[0] == 2
        assert "runs already" in refused[2]
        parties.settle()
        parties.stop(["dee"])
        copied(own, backup)
        code, _, err = run("learn", "move", own, archive)
        assert code == 0, err
        assert archive.stat().st_mode & 0o777 == 0o600
        check_left(run, own)
        # Somebody brings the folder back where it was.
        shutil.rmtree(own)
        copied(backup, own)
        with pytest.raises(SottovoceError, match="was moved from this machine on"):
            start(parties, "dee")
        # From now on it is the new machine.
        shutil.rmtree(own)
        state.rename(tmp_path / "of-the-old-machine")
        code, _, err = run("learn", "move", archive, own)
        assert code == 0, err
        assert all(not file.stat().st_mode & 0o077 for file in own.rglob("*") if file.is_file())
        start(parties, "dee")
        assert parties.ask("coordinator", do="train")["status"] == "finished"
        assert "store restored" not in logged_events(own)
        parties.settle()
        parties.stop(["dee"])
        # What was put back there is a copy of earlier, as ever.
        copied(backup / "store", own / "store")
        start(parties, "dee")
        assert "store restored" in logged_events(own)


def check_left(run: Run, own: Path) -> None:
    """Neither a key nor a text is left, and every command says why."""
    assert [file.name for file in own.rglob("*") if file.is_file()] == ["party.toml"]
    for command in (("peer",), ("status",), ("rotate", "journal")):
        code, _, err = run("learn", *command, "--config", own / "party.toml")
        assert code == 2
        assert "this party was moved from this machine on 20" in err


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("federation")
    prepare_poisson(folder)
    return folder


def on(machine: Path, work: Callable[[], object]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(machine / "home"))
        work()


def begin(machine: Path) -> None:
    """What a start does before anything is sent."""
    party = ConfiguredParty(load_config(machine / "dee" / "party.toml"))
    node, maker = party.node(lambda *_what, **_fields: None, party.find_refusal)
    node.close()
    maker.memory.close()


def works(machine: Path) -> bool:
    if not (machine / "dee" / "party.toml").exists():
        return False
    with suppress(InputError):
        on(machine, lambda: begin(machine))
        return True
    # A process that is refused ends, and lets go of its journal.
    gc.collect()
    return False


def pack(folder: Path) -> None:
    on(folder / "old", lambda: move_party(folder / "old" / "dee", folder / "new" / "a.zip"))


def arrive(folder: Path) -> None:
    on(folder / "new", lambda: move_party(folder / "new" / "a.zip", folder / "new" / "dee"))


def check_one_place(folder: Path) -> None:
    old, new, archive = folder / "old", folder / "new", folder / "new" / "a.zip"
    assert works(old) + (works(new) or archive.exists()) <= 1, "two places"
    if not (archive.exists() or works(new)):
        pack(folder)
    if not works(new):
        arrive(folder)
    assert works(new), "it works nowhere"
    assert not works(old), "two places"


@pytest.mark.parametrize("most", SAMPLES)
@pytest.mark.parametrize("step", [pack, arrive])
def test_a_move_that_fails_anywhere_leaves_one_place_or_none(
    federation: Path, tmp_path: Path, step: Callable[[Path], None], most: int
) -> None:
    def prepare(folder: Path) -> None:
        shutil.copytree(federation / "dee", folder / "old" / "dee")
        (folder / "new").mkdir()
        on(folder / "old", lambda: begin(folder / "old"))
        if step is arrive:
            pack(folder)

    outcomes = fail_each(prepare, step, check_one_place, tmp_path / "trials", KINDS, most=most)
    print(outcomes)  # noqa: T201 - shown by -s: how many failures there were
    assert outcomes.failed
    assert not outcomes.wrong + outcomes.unnamed, outcomes.report()
