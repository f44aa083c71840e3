"""The roster: who takes part in a federation. Every party has the same file of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from sottovoce._toml import toml_table
from sottovoce.errors import ConfigError, ParameterError
from sottovoce.federation.config import Role, read_table, read_toml
from sottovoce.files import whole_file

# As the protocols call it, whose import takes seconds; a test holds the two together.
KEY_HOLDER = "key holder"
_IDENTITY_BYTES = 32
_FINGERPRINT_DIGITS = 64


@dataclass(frozen=True)
class Member:
    """One party.

    Attributes:
        name: as protocols and messages call it.
        role: what it does.
        address: host:port at which it listens.
        fingerprint: the SHA-256 of its certificate (DER), in hexadecimal; no other is let in under
            this name.
        identity: a peer's public signing key, in hexadecimal.
    """

    name: str
    role: str
    address: str
    fingerprint: str
    identity: str = ""

    def __post_init__(self) -> None:
        plain = self.fingerprint.replace(":", "").lower()
        if len(plain) != _FINGERPRINT_DIGITS or set(plain) - set("0123456789abcdef"):
            raise ParameterError(
                f"the fingerprint of {self.name} must be {_FINGERPRINT_DIGITS} hexadecimal digits."
            )
        object.__setattr__(self, "fingerprint", plain)

    @property
    def certificate_name(self) -> str:
        """The name that its certificate must bear, and files call it by: without spaces."""
        return self.name.replace(" ", "-")


@dataclass(frozen=True)
class Roster:
    """All parties of a federation; no two share a name or a certificate."""

    members: tuple[Member, ...]

    def __post_init__(self) -> None:
        for what in ("name", "certificate_name", "fingerprint"):
            if len({getattr(member, what) for member in self.members}) != len(self.members):
                raise ParameterError(f"every party of a roster must have a {what} of its own.")

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Member:
        if name not in self._by_name:
            raise ParameterError(f"the roster has no party of the name {name[:80]!r}.")
        return self._by_name[name]

    def with_fingerprint(self, fingerprint: str) -> Member | None:
        """Whose certificate this is."""
        return self._by_fingerprint.get(fingerprint)

    def find_party(self, certificate_name: str) -> Member:
        """The party whose certificate bears that name."""
        for member in self.members:
            if member.certificate_name == certificate_name:
                return member
        known = ", ".join(member.certificate_name for member in self.members)
        raise ParameterError(f"the roster has no party {certificate_name!r}; it has {known}.")

    def of_role(self, role: str) -> list[Member]:
        """All parties of that role."""
        return [member for member in self.members if member.role == role]

    @property
    def identities(self) -> dict[str, bytes]:
        """Every peer's public identity."""
        return {peer.name: bytes.fromhex(peer.identity) for peer in self.of_role("peer")}

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._by_name))

    @cached_property
    def _by_name(self) -> dict[str, Member]:
        return {member.name: member for member in self.members}

    @cached_property
    def _by_fingerprint(self) -> dict[str, Member]:
        return {member.fingerprint: member for member in self.members}


class _Entry(msgspec.Struct, frozen=True):
    """A member as the file spells it: names and roles have no spaces there."""

    name: str
    role: Role
    address: str
    fingerprint: str
    identity: str = ""


def protocol_name(name: str, role: Role) -> str:
    """What protocols call a party; certificates and folders have no spaces."""
    return KEY_HOLDER if role == "keyholder" else name


def configured_role(member: Member) -> str:
    """A member's role as configurations spell it."""
    return "keyholder" if member.role == KEY_HOLDER else member.role


def member(name: str, role: Role, address: str, fingerprint: str, identity: str = "") -> Member:
    """A member by its name and role in a configuration."""
    protocol_role = KEY_HOLDER if role == "keyholder" else role
    return Member(protocol_name(name, role), protocol_role, address, fingerprint, identity)


def load_roster(path: Path) -> Roster:
    """Read and check a roster."""
    found = read_toml(path)
    entries = found.get("party")
    if set(found) != {"party"} or not isinstance(entries, list) or not entries:
        raise ConfigError(f"{path} must hold [[party]] tables, and nothing else.")
    where = f"{path}, [[party]]"
    for entry in entries:
        if not isinstance(entry, dict):
            raise ConfigError(f"{path} must hold [[party]] tables, and nothing else.")
    read = [read_table(entry, _Entry, where) for entry in entries]
    if len({entry.name for entry in read}) != len(read):
        raise ConfigError(f"{path}: every party must have a name of its own.")
    try:
        roster = Roster(tuple(member(*msgspec.structs.astuple(entry)) for entry in read))
    except ParameterError as error:
        raise ConfigError(f"{path}: {error}") from None
    _check_roles(roster, path)
    return roster


def save_roster(roster: Roster, path: Path) -> None:
    """Write a roster."""
    parts = ["# Who takes part. The same file at every party; compare its hash with the others.\n"]
    for each in roster:
        values = {
            "name": each.certificate_name,
            "role": configured_role(each),
            "address": each.address,
            "fingerprint": each.fingerprint,
            "identity": each.identity or None,
        }
        parts.append(toml_table("[[party]]", values))
    with whole_file(path) as part:
        part.write_text("\n".join(parts), encoding="utf-8")


def _check_roles(roster: Roster, path: Path) -> None:
    if len(roster.of_role("coordinator")) != 1:
        raise ConfigError(f"{path}: there must be exactly one coordinator.")
    for peer in roster.of_role("peer"):
        if not _is_identity(peer.identity):
            raise ConfigError(
                f"{path}: the identity of {peer.name} must be {2 * _IDENTITY_BYTES} hexadecimal "
                "digits."
            )


def _is_identity(text: str) -> bool:
    try:
        return len(bytes.fromhex(text)) == _IDENTITY_BYTES
    except ValueError:
        return False
