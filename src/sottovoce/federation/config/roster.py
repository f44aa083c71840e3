"""The roster: who takes part, where, and by which certificate and identity; the same everywhere."""

from pathlib import Path

import msgspec

from sottovoce.federation.config.party import ConfigError, Role, read_table, read_toml
from sottovoce.files import whole_file
from sottovoce.toml_text import toml_table

_IDENTITY_BYTES = 32


class Entry(msgspec.Struct, frozen=True):
    """One party as all others know it.

    Attributes:
        name: as messages and certificates call it.
        role: what it does.
        address: host and port at which it listens.
        fingerprint: of its certificate; no other is let in under this name.
        identity: a peer's public signing key, in hexadecimal.
    """

    name: str
    role: Role
    address: str
    fingerprint: str
    identity: str = ""


class RosterFile(msgspec.Struct, frozen=True):
    """All parties of a federation."""

    party: list[Entry]

    @property
    def identities(self) -> dict[str, bytes]:
        """Every peer's public identity."""
        return {e.name: bytes.fromhex(e.identity) for e in self.party if e.role == "peer"}

    def named(self, name: str) -> Entry:
        """The party of that name."""
        for entry in self.party:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in self.party)
        raise ConfigError(f"the roster has no party {name!r}; it has {known}.")

    def of_role(self, role: Role) -> list[Entry]:
        """All parties of that role."""
        return [entry for entry in self.party if entry.role == role]


def load_roster(path: Path) -> RosterFile:
    """Read and check a roster."""
    found = read_toml(path)
    entries = found.get("party")
    if set(found) != {"party"} or not isinstance(entries, list) or not entries:
        raise ConfigError(f"{path} must hold [[party]] tables, and nothing else.")
    where = f"{path}, [[party]]"
    for entry in entries:
        if not isinstance(entry, dict):
            raise ConfigError(f"{path} must hold [[party]] tables, and nothing else.")
    roster = RosterFile([read_table(entry, Entry, where) for entry in entries])
    _check_entries(roster, path)
    return roster


def save_roster(roster: RosterFile, path: Path) -> None:
    """Write a roster."""
    parts = ["# Who takes part. The same file at every party; compare its hash with the others.\n"]
    for entry in roster.party:
        values = {k: v for k, v in msgspec.structs.asdict(entry).items() if v != ""}
        parts.append(toml_table("[[party]]", values))
    with whole_file(path) as part:
        part.write_text("\n".join(parts), encoding="utf-8")


def _check_entries(roster: RosterFile, path: Path) -> None:
    names = [entry.name for entry in roster.party]
    if len(set(names)) != len(names):
        raise ConfigError(f"{path}: every party must have a name of its own.")
    if len(roster.of_role("coordinator")) != 1:
        raise ConfigError(f"{path}: there must be exactly one coordinator.")
    for entry in roster.of_role("peer"):
        if not _is_identity(entry.identity):
            raise ConfigError(
                f"{path}: the identity of {entry.name} must be {2 * _IDENTITY_BYTES} hexadecimal "
                "digits."
            )


def _is_identity(text: str) -> bool:
    try:
        return len(bytes.fromhex(text)) == _IDENTITY_BYTES
    except ValueError:
        return False
