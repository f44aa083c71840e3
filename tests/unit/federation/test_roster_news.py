"""Every party hears of every change, whoever is away, slow or put back from a copy meanwhile."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

import msgspec
import pytest
from support.ports import free_ports

from sottovoce.cli.learn.parties import coordinator
from sottovoce.errors import CallRefusedError, InputError, RosterRefusedError
from sottovoce.federation.certificates import Authority
from sottovoce.federation.config import PartyConfig, PartyFile, Role, load_config
from sottovoce.federation.party import _membership, service
from sottovoce.federation.party._membership import NEWS, Membership, RosterStanding
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.party.service import Service
from sottovoce.federation.roster import (
    Member,
    Roster,
    RosterHistory,
    load_roster,
    member,
    packed_changes,
    save_roster,
)
from sottovoce.federation.setup import FoundingPlan, new_federation

AUTHORITY = Authority.new("authority")[0]
OWN = member("coordinator", "coordinator", "127.0.0.1:1", "01" * 32)
ADA = member("ada", "peer", "127.0.0.1:2", "02" * 32, "0a" * 32)
BEN = member("ben", "peer", "127.0.0.1:3", "03" * 32, "0b" * 32)
CY = member("cy", "peer", "127.0.0.1:4", "04" * 32, "0c" * 32)
FOUNDED = RosterHistory(AUTHORITY.certificate).sign_change("founded", OWN, AUTHORITY)


def with_peers(*peers: Member) -> RosterHistory:
    found = FOUNDED
    for each in peers:
        found = found.sign_change("joined", each, AUTHORITY)
    return found


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
        return there.take_news(request) if method == NEWS else there.list_missed(OWN, request)

    def ask_once(self, party: Member, method: str, request: bytes, timeout_s: float) -> bytes:
        return self.ask(party.name, method, request, timeout_s)


class Refusing(Others):
    """A coordinator that does not know who calls."""

    def ask(self, _name: str, _method: str, _request: bytes, _timeout_s: float) -> bytes:
        self.refused += 1
        raise CallRefusedError("the coordinator refuses.")


def no_log(_event: str, /, **_fields: object) -> None:
    pass


def party(folder: Path, name: str, history: RosterHistory, node: Others | None) -> Membership:
    signs = AUTHORITY if name == "coordinator" else None
    role: Role = "coordinator" if signs else "peer"
    (folder / name).mkdir(parents=True)
    config = PartyConfig(PartyFile(name, role, "127.0.0.1:2", changes="changes"), folder / name)
    made = Membership(config, history, signs, no_log)
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


@pytest.mark.usefixtures("quick")
def test_a_change_is_told_though_another_was_on_its_way_to_somebody_slow(tmp_path: Path) -> None:
    node, known = Others(), with_peers(ADA, BEN, CY)
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
    node, copy = Others(), with_peers(ADA, BEN, CY)
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
    node, known = Others(), with_peers(ADA, BEN)
    node.slow = {"ada": threading.Event()}
    node.parties["ada"] = ada = party(tmp_path, "ada", with_peers(ADA), None)
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
    removed = party(tmp_path, "cy", with_peers(CY), node)
    removed.on_refusal = told.append
    removed.start()
    eventually(lambda: node.refused >= 4)
    removed.close()
    assert len(told) == 1
    assert "taken off the roster" in told[0]
    assert node.refused < 20, "it asks less and less often"


def test_who_asks_for_changes_says_how_many_it_has(tmp_path: Path) -> None:
    ada = party(tmp_path, "ada", with_peers(ADA), None)
    assert ada.list_missed(OWN, msgspec.msgpack.encode(1)) == packed_changes(
        ada.history.changes[1:]
    )
    with pytest.raises(RosterRefusedError, match="must say how many"):
        ada.list_missed(OWN, b"\xff\xff")
    assert (
        msgspec.msgpack.decode(ada.take_news(packed_changes([])), type=RosterStanding).number == 2
    )


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
