"""An attack: a party's whole store is restored from a backup, and a run goes on a second time.

The data are the same, and so is what the party draws. But it answers questions again that it has
answered otherwise before: to one that asks for the shares of lost peers it gives those of others,
and a helper starts again to count the rows that were asked for. How far its journal has come is
noted outside the store, and a journal that is behind ends its runs by name. So is how often its
memory was added to: a peer's says which documents its trainings opened, a helper's how many rows
were classified by classifiers of the same data.
"""

import shutil
from pathlib import Path

import pytest
from support.federations import JOURNAL_KEY

from sottovoce.errors import ConfigError
from sottovoce.federation._journal import Event, Journal
from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.journal_key import OutsideCount, restored_at, settle_count
from sottovoce.federation.party.memory import MEMORY_FILE
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.files import state_folder
from sottovoce.learn.query_budget import QueryCharge

NAMES = ("ada", "ben", "cy")


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def steps(journal: Journal, session: bytes, *positions: int) -> None:
    for position in positions:
        what = "receive" if position else "start"
        journal.advance(session, Event(position, what, "ben", position, ()), [])


@pytest.mark.parametrize("came_after", ["end", "frame"])
def test_a_copy_without_a_runs_end_or_a_frame_that_came_is_behind_too(
    tmp_path: Path, came_after: str
) -> None:
    """Before, only runs and their steps were counted: a run that had been ended went on."""
    path, copy = tmp_path / "journal", tmp_path / "copy"
    outside = OutsideCount(JOURNAL_KEY)
    journal = Journal(path, JOURNAL_KEY, counted=outside.note)
    journal.add_run(bytes(16), b"terms", NAMES, bytes(32), proposal=("coordinator", 1, 5))
    steps(journal, bytes(16), 0)
    shutil.copy(path, copy)
    if came_after == "end":
        journal.abort(bytes(16), {"by": "ada"}, [])
    else:
        journal.hold(bytes(16), "ben", 1, "message", b"said")
    known = journal.count
    outside.note(known - 1)
    journal.close()
    (count,) = (state_folder() / "journals").iterdir()
    assert count.stat().st_mode & 0o777 == 0o600
    again = Journal(path, JOURNAL_KEY)
    assert again.count == known == outside.read_count()
    again.close()
    restored = Journal(copy, JOURNAL_KEY, counted=outside.note)
    assert restored.count < outside.read_count()
    settle_count(restored, outside)
    assert restored.count == outside.read_count()
    restored.close()


@pytest.fixture
def party(tmp_path: Path) -> ConfiguredParty:
    folder = tmp_path / "all"
    features = FeatureSettings(dictionary="hashed", width=8)
    set_up(folder, SetupPlan(NAMES, TrainingSettings(), features=features))
    return ConfiguredParty(load_config(folder / "ada" / "party.toml"))


def started(party: ConfiguredParty, *queries: int) -> tuple[int, list[str]]:
    """The party starts, counts some queries and stops: when it was restored, and what it logs."""
    events: list[str] = []
    node, maker = party.node(lambda event, /, **_: events.append(event), lambda *_: None)
    for query in queries:
        maker.memory.spend(QueryCharge(bytes([query]), (b"data",), "ben", 1, 10, 10))
    restored: int = node.read_journal(restored_at)
    node.close()
    maker.memory.close()
    return restored, events


def test_a_memory_that_only_grows_is_not_taken_for_a_copy(party: ConfiguredParty) -> None:
    for queries in ((), (1, 2), (), (3,), ()):
        assert started(party, *queries) == (0, [])


@pytest.mark.parametrize("deleted", [False, True], ids=["put back", "deleted"])
def test_a_memory_that_is_behind_its_count_is_noticed(
    party: ConfiguredParty, *, deleted: bool
) -> None:
    """Before, the party went on, and what it had counted since was free again."""
    started(party, 1)
    path = party.store / MEMORY_FILE
    backup = path.read_bytes()
    started(party, 2, 3)
    for each in party.store.glob(f"{MEMORY_FILE}*"):
        each.unlink()
    if not deleted:
        path.write_bytes(backup)
    restored, events = started(party)
    assert restored > 0
    assert events == ["store restored"]
    assert started(party, 4) == (restored, [])  # once, and it counts on from there
    assert started(party) == (restored, [])


def test_a_memory_whose_key_is_gone_with_it_is_missed_too(party: ConfiguredParty) -> None:
    started(party, 1)
    for each in party.store.glob(f"{MEMORY_FILE}*"):
        each.unlink()
    (party.config.folder / "memory.key").unlink()
    again = ConfiguredParty(party.config)
    assert started(again)[1] == ["store restored"]


def test_a_user_without_a_home_folder_is_told_what_to_set(
    party: ConfiguredParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the party ended with a defect."""

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(ConfigError, match="no home folder for that; set XDG_STATE_HOME"):
        OutsideCount(bytes(32))
    with pytest.raises(ConfigError, match="notes outside its store how far it has come"):
        party.node(lambda event, /, **_: None, lambda *_: None)


def test_a_party_that_cannot_note_its_count_says_so(
    party: ConfiguredParty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert party.warnings == []
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    started(party)
    (warning,) = party.warnings
    assert "a restored copy would go unnoticed" in warning
