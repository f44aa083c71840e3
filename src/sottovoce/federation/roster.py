"""The roster: who takes part in a federation; and the signed changes that it comes from.

Where parties join and leave, the roster is what a chain of signed changes comes to: each has a
number, the digest of the one before, and a signature of the federation's authority, whose key the
coordinator has. A party that has changes 1 to n takes n + 1 only if it stands on exactly these.
A coordinator that signs two different changes for two parties is found out when they compare
digests (`learn status`).
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, assert_never, get_args

import msgspec

from sottovoce.errors import ConfigError, ParameterError, RosterRefusedError, SottovoceError
from sottovoce.federation.certificates import Authority, check_authority_signature
from sottovoce.federation.config import Role, read_table, read_toml
from sottovoce.files import small_text, whole_file
from sottovoce.learn.wire.codec import encode_value
from sottovoce.parsing import toml_table

# As the protocols call it, whose import takes seconds; a test holds the two together.
KEY_HOLDER = "key holder"
What: TypeAlias = Literal["founded", "joined", "renewed", "rotated", "removed"]
_PURPOSE = "sottovoce roster change"
_LARGEST_FILE = 1 << 26
_SHOWN = 16
_DIGITS = 64  # of a fingerprint, and of an identity


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
        if not _is_number(plain):
            raise ParameterError(
                f"the fingerprint of {self.name} must be {_DIGITS} hexadecimal digits."
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
        found = (member for member in self.members if member.fingerprint == fingerprint)
        return next(found, None)

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
    tables = isinstance(entries, list) and all(isinstance(each, dict) for each in entries)
    if set(found) != {"party"} or not tables or not entries:
        raise ConfigError(f"{path} must hold [[party]] tables, and nothing else.")
    read = [read_table(entry, _Entry, f"{path}, [[party]]") for entry in entries]
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
        if not _is_number(peer.identity.lower()):
            raise ConfigError(
                f"{path}: the identity of {peer.name} must be {_DIGITS} hexadecimal digits."
            )


def _is_number(text: str) -> bool:
    return len(text) == _DIGITS and not set(text) - set("0123456789abcdef")


class RosterChange(msgspec.Struct, frozen=True):
    """One change: what became of which party, and what it is known by from now on.

    Attributes:
        number: 1 for the first, and so on.
        what: founded, joined, renewed (a certificate's new end), rotated (a new key) or removed.
        party: as its certificate names it.
        time: when it was signed.
        previous: the digest of the change before; empty for the first.
        role: of the party; this and what follows is empty where it was removed.
        address: where it listens.
        fingerprint: of its certificate.
        identity: of a peer.
        signature: the authority's, in hexadecimal.
    """

    number: int
    what: What
    party: str
    time: str
    previous: str
    role: Role | Literal[""] = ""
    address: str = ""
    fingerprint: str = ""
    identity: str = ""
    signature: str = ""

    @property
    def message(self) -> bytes:
        """What is signed."""
        fields = msgspec.structs.astuple(self)[:-1]
        return encode_value(
            (_PURPOSE, *(each if isinstance(each, int) else str(each) for each in fields))
        )

    @property
    def digest(self) -> str:
        """By which the next change names this one."""
        return hashlib.sha256(self.message).hexdigest()

    @property
    def member(self) -> Member:
        """The party as the roster has it."""
        role: Role = self.role or "peer"
        return member(self.party, role, self.address, self.fingerprint, self.identity)

    def in_words(self) -> str:
        """For people: what happened, and by what the party is known now."""
        known = f", known by the certificate {self.fingerprint[:_SHOWN]}..." if self.role else ""
        return f"change {self.number}: {self.party} {_WORDS[self.what]}{known}"


_WORDS: dict[What, str] = {
    "founded": "founded the federation",
    "joined": "joined",
    "renewed": "has a certificate with a new end",
    "rotated": "has a new key",
    "removed": "was removed",
}


@dataclass(frozen=True)
class RosterHistory:
    """All changes so far, each of them checked."""

    authority: bytes
    changes: tuple[RosterChange, ...] = ()

    @property
    def number(self) -> int:
        """Of the last change."""
        return len(self.changes)

    @property
    def digest(self) -> str:
        """Of the last change, and so of all of them: the same at every party."""
        return self.changes[-1].digest if self.changes else ""

    @cached_property
    def roster(self) -> Roster:
        """What the changes come to."""
        found: dict[str, Member] = {}
        for change in self.changes:
            if change.what == "removed":
                del found[change.party]
            else:
                found[change.party] = change.member
        return Roster(tuple(found.values()))

    def has_been(self, roster: Roster) -> bool:
        """Whether the changes came to this roster at some time."""
        befores = (RosterHistory(b"", self.changes[:end]) for end in range(1, self.number + 1))
        return any(before.roster == roster for before in befores)

    def list_after(self, number: int) -> tuple[RosterChange, ...]:
        """The changes after so many."""
        return self.changes[max(0, number) :]

    def sign_change(self, what: What, party: Member, authority: Authority) -> "RosterHistory":
        """With one change more, made now by whoever has the authority's key."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        role = configured_role(party)
        known: Any = (role, party.address, party.fingerprint, party.identity)
        change = RosterChange(
            self.number + 1,
            what,
            party.certificate_name,
            now,
            self.digest,
            *(() if what == "removed" else known),
        )
        signature = authority.signature(change.message).hex()
        return self.extend([msgspec.structs.replace(change, signature=signature)])

    def extend(self, more: Iterable[RosterChange]) -> "RosterHistory":
        """With further changes, each of which must stand on the one before and be signed."""
        found = self
        for change in more:
            _check_place(change, found)
            _check_signature(change, self.authority)
            following = RosterHistory(self.authority, (*found.changes, change))
            _check_members(found, change, following)
            found = following
        return found

    def save(self, changes: Path, roster: Path) -> None:
        """A line of JSON for each change; the roster that they come to after them."""
        lines = [msgspec.json.encode(change) + b"\n" for change in self.changes]
        with whole_file(changes) as part:
            part.write_bytes(b"".join(lines))
        save_roster(self.roster, roster)


def load_history(path: Path, authority: bytes) -> RosterHistory:
    """Read all changes, and check every signature and step."""
    try:
        lines = small_text(path, _LARGEST_FILE, "the roster's changes", ConfigError).splitlines()
        changes = [msgspec.json.decode(line, type=RosterChange) for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RosterRefusedError(f"{path} must hold a signed change a line.") from None
    if not changes:
        raise RosterRefusedError(f"{path} must hold at least 1 signed change, got none.")
    return RosterHistory(authority).extend(changes)


def packed_changes(changes: Sequence[RosterChange]) -> bytes:
    """Changes as a message carries them."""
    return msgspec.msgpack.encode(list(changes))


def read_changes(data: bytes) -> list[RosterChange]:
    """What a message carried; nothing of it is checked yet."""
    try:
        return msgspec.msgpack.decode(data, type=list[RosterChange])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RosterRefusedError("changes of the roster must have the fields of one.") from None


def _check_place(change: RosterChange, before: RosterHistory) -> None:
    if change.number != before.number + 1 or change.previous != before.digest:
        raise RosterRefusedError(
            f"change {change.number} of the roster must stand on the {before.number} changes that "
            "are known here; it has another past. Compare the digests that learn status shows."
        )


def _check_signature(change: RosterChange, authority: bytes) -> None:
    try:
        check_authority_signature(authority, bytes.fromhex(change.signature), change.message)
    except (SottovoceError, ValueError):
        raise RosterRefusedError(
            f"change {change.number} of the roster must be signed by the federation's authority; "
            "it is not."
        ) from None


def _check_members(before: RosterHistory, change: RosterChange, after: RosterHistory) -> None:
    """Refuse what makes no roster: even who signs may not do that."""
    known = next((each for each in before.roster if each.certificate_name == change.party), None)
    match change.what:
        case "founded":
            sound = change.number == 1 and change.role == "coordinator"
        case "joined":
            new = change.number > 1 and known is None
            sound = new and change.role in get_args(Role)[1:]
        case "renewed" | "rotated":
            identity = change.what == "renewed"
            sound = known is not None and _is_alike(known, change, identity=identity)
        case "removed":
            sound = known is not None and known.role != "coordinator"
        case _:
            assert_never(change.what)
    with suppress(SottovoceError, ValueError):
        if sound and after.roster.of_role("coordinator"):
            return
    raise RosterRefusedError(f"change {change.number} of the roster makes no roster of it.")


def _is_alike(known: Member, change: RosterChange, *, identity: bool) -> bool:
    kept = configured_role(known) == change.role and known.address == change.address
    return kept and (not identity or known.identity == change.identity)
