"""A roster changes by signed steps: none can be left out, put in or made by somebody else."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Self

import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificate
from support.ports import free_ports

from sottovoce.cli.learn.parties import coordinator
from sottovoce.errors import CallRefusedError, InputError, RosterRefusedError
from sottovoce.federation.certificates import (
    Authority,
    Credentials,
    as_pem,
    fingerprint,
    named_party,
    network_name,
)
from sottovoce.federation.config import PartyConfig, PartyFile, Role, load_config
from sottovoce.federation.party import _membership, service
from sottovoce.federation.party._membership import NEWS, Membership
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.party.service import Service
from sottovoce.federation.roster import (
    Member,
    Roster,
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


def test_a_certificate_says_whose_it_is_and_a_key_is_not_shown() -> None:
    issued = AUTHORITY.issue("key-holder")
    held = Credentials(issued.certificate, issued.key, AUTHORITY.certificate)
    assert named_party(held.certificate) == network_name(held.certificate) == "key-holder"
    read = load_pem_x509_certificate(held.certificate).public_bytes(Encoding.DER)
    assert fingerprint(held.certificate) == fingerprint(read) == sha256(read).hexdigest()
    assert as_pem(held.certificate) == held.certificate
    assert "PRIVATE" not in repr(held)
    with pytest.raises(InputError, match="PEM or DER"):
        fingerprint(b"nothing of the kind")


CY = member("cy", "peer", "127.0.0.1:4", "04" * 32, "0c" * 32)


class Others:
    """A node whose calls go to the others' memberships in this process."""

    def __init__(self) -> None:
        self.parties: dict[str, Membership] = {}
        self.slow: dict[str, threading.Event] = {}
        self.refused = 0

    def take_roster(self, roster: Roster) -> None:
        pass

    def ask(self, name: str, method: str, request: bytes, _timeout_s: float) -> bytes:
        if name in self.slow:
            self.slow[name].wait(5)
        if name not in self.parties:
            raise InputError("it does not answer.")
        there = self.parties[name]
        return (
            there.take_news(request) if method == NEWS else there.list_missed(COORDINATOR, request)
        )

    def ask_once(self, party: Member, method: str, request: bytes, timeout_s: float) -> bytes:
        return self.ask(party.name, method, request, timeout_s)


class Refusing(Others):
    """A coordinator that does not know who calls."""

    def ask(self, _name: str, _method: str, _request: bytes, _timeout_s: float) -> bytes:
        self.refused += 1
        raise CallRefusedError("the coordinator refuses.")


def party(
    folder: Path,
    name: str,
    history: RosterHistory,
    node: Others | None,
    events: list[str] | None = None,
) -> Membership:
    def log(event: str, /, **_fields: object) -> None:
        if events is not None:
            events.append(event)

    signs = AUTHORITY if name == "coordinator" else None
    role: Role = "coordinator" if signs else "peer"
    (folder / name).mkdir(parents=True)
    config = PartyConfig(PartyFile(name, role, "127.0.0.1:2", changes="changes"), folder / name)
    made = Membership(config, history, signs, log)
    made.node = node
    return made


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_membership, "_AGAIN_S", 0.02)


def test_a_party_takes_and_shows_signed_changes_and_refuses_others_by_name(tmp_path: Path) -> None:
    base, events = history(("joined", ADA)), list[str]()
    ada = party(tmp_path, "ada", base, None, events)
    ben = base.sign_change("joined", BEN, AUTHORITY)
    ada.take_news(packed_changes(ben.changes))
    assert events == ["roster changed"]
    assert load_history(tmp_path / "ada" / "changes", AUTHORITY.certificate) == ben
    instead = base.sign_change("removed", ADA, AUTHORITY)
    with pytest.raises(RosterRefusedError, match="another one here"):
        ada.take_news(packed_changes(instead.changes))
    false = forged(ben.sign_change("removed", BEN, AUTHORITY).changes[-1])
    with pytest.raises(RosterRefusedError):
        ada.take_news(packed_changes([false]))
    assert events[1:] == ["roster refused", "roster refused"]
    assert ada.history == ben


@pytest.mark.usefixtures("quick")
def test_a_change_is_told_though_another_was_on_its_way_to_somebody_slow(tmp_path: Path) -> None:
    node, known = Others(), history(("joined", ADA), ("joined", BEN), ("joined", CY))
    node.parties["ada"] = party(tmp_path, "ada", known, None)
    node.slow = {"cy": threading.Event()}
    signing = party(tmp_path, "coordinator", known, node)
    signing.remove("ben")
    eventually(lambda: node.parties["ada"].history.number == 5)
    signing.remove("cy")  # while cy is still being told of ben's removal
    node.slow["cy"].set()
    eventually(lambda: node.parties["ada"].history == signing.history)
    assert node.parties["ada"].history.roster.names == ("ada", "coordinator")
    signing.close()


@pytest.mark.usefixtures("quick")
def test_a_coordinator_put_back_from_a_copy_remembers_whom_it_has_removed(tmp_path: Path) -> None:
    node, copy = Others(), history(("joined", ADA), ("joined", BEN), ("joined", CY))
    later = copy.sign_change("removed", CY, AUTHORITY)
    node.parties["ada"] = party(tmp_path, "ada", later, None)
    node.parties["ben"] = party(tmp_path, "ben", copy, None)
    signing = party(tmp_path, "coordinator", copy, node)
    signing.start()
    eventually(lambda: signing.history == later)
    eventually(lambda: node.parties["ben"].history == later)
    signing.close()


@pytest.mark.usefixtures("quick")
def test_a_run_waits_for_parties_that_have_not_heard_of_the_roster_yet(tmp_path: Path) -> None:
    node, known = Others(), history(("joined", ADA), ("joined", BEN))
    node.slow = {"ada": threading.Event()}
    node.parties["ada"] = ada = party(tmp_path, "ada", history(("joined", ADA)), None)
    ada.history = RosterHistory(AUTHORITY.certificate, known.changes[:2])
    node.parties["ben"] = party(tmp_path, "ben", known, None)
    signing = party(tmp_path, "coordinator", known, node)
    signing.start()
    threading.Timer(0.1, node.slow["ada"].set).start()
    signing.await_heard(5)
    assert ada.history == known
    signing.close()


def test_a_party_that_the_coordinator_refuses_tells_its_person_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_membership, "_AGAIN_S", 0.001)
    node, told = Refusing(), list[str]()
    removed = party(tmp_path, "cy", history(("joined", CY)), node)
    removed.on_refusal = told.append
    removed.start()
    eventually(lambda: node.refused >= 4)
    removed.close()
    assert len(told) == 1
    assert "taken off the roster" in told[0]
    assert node.refused < 20, "it asks less and less often"


def test_a_party_stopped_between_its_two_files_starts_by_the_signed_changes(tmp_path: Path) -> None:
    """The changes are written before the roster: a crash in between is nobody's attack."""
    folder = tmp_path / "coordinator"
    history = new_federation(folder, FoundingPlan("127.0.0.1:7443"))
    config = load_config(folder / "party.toml")
    signing = ConfiguredParty(config)
    authority = Authority(signing.authority, (folder / "ca.key").read_bytes())
    history.sign_change("joined", ADA, authority).save(
        folder / "roster-changes.jsonl", tmp_path / "unwritten"
    )
    assert ConfiguredParty(config).roster.names == ("ada", "coordinator")
    assert load_roster(folder / "roster.toml").names == ("ada", "coordinator")
    roster = load_roster(folder / "roster.toml")
    other = tuple(replace(each, address="elsewhere:1") for each in roster)
    save_roster(Roster(other), folder / "roster.toml")
    with pytest.raises(RosterRefusedError, match="behind this party's back"):
        ConfiguredParty(config)


class Telling(Service):
    """A party that hears something new the moment it begins, and stops."""

    def __enter__(self) -> Self:
        made = super().__enter__()
        self.notice("cy was removed")
        self.stopping.set()
        return made


def test_what_a_party_hears_as_it_begins_is_shown_to_its_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (port,) = free_ports(1)
    new_federation(tmp_path / "coordinator", FoundingPlan(f"127.0.0.1:{port}", "127.0.0.1:1"))
    monkeypatch.setattr(service, "Service", Telling)
    coordinator(config=tmp_path / "coordinator" / "party.toml")
    assert "coordinator: cy was removed" in capfd.readouterr().err
