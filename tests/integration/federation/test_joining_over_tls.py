"""Joining over real TLS: keys are made where they stay, and the coordinator must be the token's."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from support.ports import free_ports

from sottovoce.errors import InputError, RosterRefusedError, StrangerError
from sottovoce.federation._keys import load_key
from sottovoce.federation.certificates import Authority, fingerprint
from sottovoce.federation.config import load_config
from sottovoce.federation.join.folders import PendingJoin, begin_join, finish_join
from sottovoce.federation.join.request import JoinToken
from sottovoce.federation.party import party as party_module
from sottovoce.federation.party._proposals import Joins, membership_of
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.party.renewal import renew_joined
from sottovoce.federation.setup import FoundingPlan, new_federation


def no_log(_event: str, /, **_fields: object) -> None:
    pass


@dataclass
class Coordinator:
    """The part of a running coordinator that people join by."""

    folder: Path
    events: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        (port,) = free_ports(1)
        plan = FoundingPlan("127.0.0.1:7443", f"127.0.0.1:{port}")
        new_federation(self.folder, plan)
        self.party = ConfiguredParty(load_config(self.folder / "party.toml"))
        found = membership_of(self.party, self.log)
        assert found is not None
        self.membership = found
        self.joins = Joins(self.party, found, self.log)

    def log(self, event: str, /, **fields: object) -> None:
        self.events.append((event, fields))

    def token(self, name: str) -> JoinToken:
        answer = self.joins.invite({"name": name})
        return JoinToken.read(answer["token"])

    def begin(self, folder: Path, port: int = 7450) -> PendingJoin:
        """Somebody asks to join as ada."""
        return begin_join(folder, self.token("ada"), f"127.0.0.1:{port}", "none", no_log)

    def join(self, folder: Path, port: int = 7450) -> None:
        """Ada joins, and both have confirmed it."""
        pending = self.begin(folder, port)
        self.joins.admit({"name": "ada", "string": pending.string})
        finish_join(folder, pending.string, 0, no_log)


@pytest.fixture
def coordinator(tmp_path: Path) -> Iterator[Coordinator]:
    made = Coordinator(tmp_path / "coordinator")
    yield made
    made.joins.close()
    made.membership.close()


def test_a_party_joins_by_one_string_with_keys_that_nobody_else_has(
    tmp_path: Path, coordinator: Coordinator
) -> None:
    folder = tmp_path / "ada"
    pending = coordinator.begin(folder)
    with pytest.raises(InputError, match="somebody stands between you"):
        finish_join(folder, "0000-0000", 0, no_log)
    assert not (folder / "certificate.pem").exists()
    assert finish_join(folder, pending.string, 0, no_log) is None, "not admitted yet"
    coordinator.joins.admit({"name": "ada", "string": pending.string})
    history = finish_join(folder, pending.string, 0, no_log)
    assert history is not None
    assert history == coordinator.membership.history
    party = ConfiguredParty(load_config(folder / "party.toml"), "peer")
    assert party.entry.fingerprint == fingerprint(party.certificate)
    limits = party.config.party.count_with
    assert limits is not None
    assert (limits.peers, limits.most_epsilon, limits.budget) == ([], 1, 2)
    secrets = [folder / name for name in ("tls.key", "identity.key", "journal.key", "memory.key")]
    for secret in secrets:
        assert secret.stat().st_mode & 0o77 == 0
        told = secret.read_text()
        there = [path for path in coordinator.folder.rglob("*") if path.is_file()]
        assert not any(told.encode() in path.read_bytes() for path in there)


def test_a_coordinator_with_another_key_is_told_nothing(
    tmp_path: Path, coordinator: Coordinator
) -> None:
    other, _ = Authority.new("authority")
    false = fingerprint(other.issue("coordinator", ["127.0.0.1"]).certificate)
    token = replace(coordinator.token("ada"), fingerprint=false)
    events: list[tuple[str, object]] = []

    def log(event: str, /, **fields: object) -> None:
        events.append((event, fields["error"]))

    with pytest.raises(StrangerError, match="nothing was said to it"):
        begin_join(tmp_path / "ada", token, "127.0.0.1:7450", "none", log)
    assert events == [("join refused", "StrangerError")]
    assert not (tmp_path / "ada").exists()
    assert [event for event, _ in coordinator.events] == ["joining opened", "invited"]


def test_a_token_that_was_used_leaves_no_folder_behind(
    tmp_path: Path, coordinator: Coordinator
) -> None:
    token = coordinator.token("ada")
    begin_join(tmp_path / "ada", token, "127.0.0.1:7450", "none", no_log)
    with pytest.raises(RosterRefusedError, match="used before"):
        begin_join(tmp_path / "again", token, "127.0.0.1:7450", "none", no_log)
    assert not (tmp_path / "again").exists()


def test_a_removed_party_is_off_the_roster_and_may_join_again(
    tmp_path: Path, coordinator: Coordinator
) -> None:
    for at, folder in enumerate((tmp_path / "first", tmp_path / "second")):
        coordinator.join(folder, 7450 + at)
        with pytest.raises(InputError, match="there is a party ada already"):
            coordinator.token("ada")
        coordinator.joins.remove({"name": "ada"})
    words = [change.what for change in coordinator.membership.history.changes]
    assert words == ["founded", "joined", "removed", "joined", "removed"]
    assert load_key(folder / "tls.key", passphrase=None)


def test_a_party_with_an_ended_certificate_or_with_changes_cut_short_is_refused(
    tmp_path: Path, coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ada"
    coordinator.join(folder)
    with monkeypatch.context() as patch:
        patch.setattr(party_module, "days_left", lambda _certificate: -1.0)
        with pytest.raises(InputError, match="remove this party and invite it again"):
            renew_joined(load_config(folder / "party.toml"))
    changes = folder / "roster-changes.jsonl"
    changes.write_text(changes.read_text().splitlines(keepends=True)[0])
    with pytest.raises(RosterRefusedError, match="behind this party's back"):
        ConfiguredParty(load_config(folder / "party.toml"), "peer")
