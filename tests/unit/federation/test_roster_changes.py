"""A roster changes by signed steps: none can be left out, put in or made by somebody else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from sottovoce.errors import RosterRefusedError
from sottovoce.federation.certificates import Authority
from sottovoce.federation.config import PartyConfig, PartyFile, load_config
from sottovoce.federation.party._membership import Membership, RosterStanding
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.roster import (
    RosterChange,
    RosterHistory,
    load_history,
    load_roster,
    member,
    packed_changes,
    save_roster,
)
from sottovoce.federation.setup import FoundingPlan, new_federation

AUTHORITY = Authority.new("authority")[0]
OTHER = Authority.new("authority")[0]
COORDINATOR = member("coordinator", "coordinator", "127.0.0.1:1", "01" * 32)
ADA = member("ada", "peer", "127.0.0.1:2", "02" * 32, "0a" * 32)
BEN = member("ben", "peer", "127.0.0.1:3", "03" * 32, "0b" * 32)


def history(*changes: tuple[str, object]) -> RosterHistory:
    """Founded, and what was done since."""
    found = RosterHistory(AUTHORITY.certificate).sign_change("founded", COORDINATOR, AUTHORITY)
    for what, party in changes:
        found = found.sign_change(what, party, AUTHORITY)  # type: ignore[arg-type] # as a test says it
    return found


TWO = history(("joined", ADA), ("joined", BEN))


def test_the_roster_is_what_the_changes_come_to() -> None:
    found = history(
        ("joined", ADA),
        ("joined", BEN),
        ("rotated", replace(ADA, fingerprint="04" * 32, identity="0c" * 32)),
        ("removed", BEN),
    )
    names = {each.name: each.fingerprint[:2] for each in found.roster}
    assert names == {"coordinator": "01", "ada": "04"}
    assert found.number == 5
    assert [each.in_words().split(":")[1][:12] for each in found.list_after(4)] == [" ben was rem"]


def forged(change: RosterChange) -> RosterChange:
    signature = OTHER.signature(change.message).hex()
    return msgspec.structs.replace(change, signature=signature)


BEHIND_ONES_BACK: dict[str, Callable[[RosterChange], RosterChange]] = {
    "unsigned": lambda change: msgspec.structs.replace(change, signature=""),
    "signed by another": forged,
    "another address": lambda change: msgspec.structs.replace(change, address="evil:1"),
    "another number": lambda change: msgspec.structs.replace(change, number=4),
}


@pytest.mark.parametrize("how", BEHIND_ONES_BACK)
def test_a_change_that_the_authority_did_not_sign_so_is_refused(how: str) -> None:
    *before, last = TWO.changes
    known = RosterHistory(AUTHORITY.certificate).extend(before)
    with pytest.raises(RosterRefusedError):
        known.extend([BEHIND_ONES_BACK[how](last)])
    assert known.extend([last]).digest == TWO.digest


def test_a_change_that_stands_on_another_past_is_refused() -> None:
    other_past = history(("joined", BEN), ("joined", ADA))
    known = RosterHistory(AUTHORITY.certificate).extend(TWO.changes[:2])
    with pytest.raises(RosterRefusedError, match="another past"):
        known.extend(other_past.changes[2:])
    with pytest.raises(RosterRefusedError, match="another past"):
        RosterHistory(AUTHORITY.certificate).extend(TWO.changes[1:])


@pytest.mark.parametrize(
    ("what", "party"),
    [
        ("joined", ADA),
        ("joined", replace(BEN, name="eve", fingerprint=ADA.fingerprint)),
        ("joined", member("second", "coordinator", "127.0.0.1:9", "09" * 32)),
        ("removed", COORDINATOR),
        ("removed", member("nobody", "peer", "127.0.0.1:9", "09" * 32)),
        ("renewed", replace(ADA, identity="0d" * 32)),
        ("rotated", replace(ADA, address="elsewhere:1")),
        ("founded", COORDINATOR),
    ],
)
def test_even_who_signs_cannot_make_what_is_no_roster(what: str, party: object) -> None:
    with pytest.raises(RosterRefusedError, match="makes no roster"):
        TWO.sign_change(what, party, AUTHORITY)  # type: ignore[arg-type] # as a test says it


def test_changes_are_read_again_as_they_were_written(tmp_path: Path) -> None:
    TWO.save(tmp_path / "changes", tmp_path / "roster")
    assert load_history(tmp_path / "changes", AUTHORITY.certificate) == TWO
    with pytest.raises(RosterRefusedError, match="signed"):
        load_history(tmp_path / "changes", OTHER.certificate)
    lines = (tmp_path / "changes").read_text().splitlines(keepends=True)
    (tmp_path / "changes").write_text(lines[0] + lines[2])
    with pytest.raises(RosterRefusedError, match="another past"):
        load_history(tmp_path / "changes", AUTHORITY.certificate)


class Told:
    """Ada's membership, with a note of what was logged."""

    def __init__(self, folder: Path, known: RosterHistory) -> None:
        self.events: list[str] = []
        config = PartyConfig(PartyFile("ada", "peer", "127.0.0.1:2", changes="changes"), folder)
        self.membership = Membership(config, known, None, self.log)

    def log(self, event: str, /, **_fields: object) -> None:
        self.events.append(event)

    def take_news(self, *changes: RosterChange) -> int:
        answer = self.membership.take_news(packed_changes(changes))
        return msgspec.msgpack.decode(answer, type=RosterStanding).number


def test_a_party_takes_and_shows_signed_changes_and_refuses_others_by_name(tmp_path: Path) -> None:
    one = Told(tmp_path, history(("joined", ADA)))
    base = one.membership.history
    ben = base.sign_change("joined", BEN, AUTHORITY)
    assert one.take_news() == 2
    assert one.take_news(*ben.changes) == 3
    assert one.events == ["roster changed"]
    assert load_history(tmp_path / "changes", AUTHORITY.certificate) == ben
    instead = base.sign_change("removed", ADA, AUTHORITY)
    with pytest.raises(RosterRefusedError, match="another one here"):
        one.take_news(*instead.changes)
    with pytest.raises(RosterRefusedError):
        one.take_news(forged(ben.sign_change("removed", BEN, AUTHORITY).changes[-1]))
    assert one.events[1:] == ["roster refused", "roster refused"]
    assert one.membership.history == ben


def test_a_roster_that_was_changed_on_disk_is_refused_at_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "coordinator"
    new_federation(folder, FoundingPlan("127.0.0.1:7443"))
    config = load_config(folder / "party.toml")
    assert ConfiguredParty(config).roster.names == ("coordinator",)
    roster = load_roster(folder / "roster.toml")
    save_roster(replace(roster, members=(*roster.members, ADA)), folder / "roster.toml")
    with pytest.raises(RosterRefusedError, match="behind this party's back"):
        ConfiguredParty(config)
