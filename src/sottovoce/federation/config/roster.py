"""The roster's file: the same at every party, read, checked and written."""

from pathlib import Path

import msgspec

from sottovoce.errors import ParameterError
from sottovoce.federation.config.party import ConfigError, Role, read_table, read_toml
from sottovoce.federation.transport.roster import Member, Roster
from sottovoce.files import whole_file
from sottovoce.toml_text import toml_table

# As the protocols call it, whose import takes seconds; a test holds the two together.
KEY_HOLDER = "key holder"
_IDENTITY_BYTES = 32


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
    spoken = KEY_HOLDER if role == "keyholder" else role
    return Member(protocol_name(name, role), spoken, address, fingerprint, identity)


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
