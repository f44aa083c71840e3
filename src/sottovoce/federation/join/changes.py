"""The roster as a chain of signed changes: nobody joins, changes or leaves behind another's back.

Every change has a number, the digest of the one before, and a signature of the federation's
authority, whose key the coordinator has. The roster is what the changes come to. A party that has
changes 1 to n takes n + 1 only if it stands on exactly these: another past, a gap, an older list
and an unsigned line are refused by name. What this does not show is a coordinator that signs two
different changes for two parties: they find out when they compare digests (`learn status`).
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from sottovoce.errors import ConfigError, RosterRefusedError, SottovoceError
from sottovoce.federation.certificates import Authority, check_authority_signature
from sottovoce.federation.config import Role
from sottovoce.federation.roster import Member, Roster, configured_role, member
from sottovoce.files import small_text, whole_file
from sottovoce.learn.wire.codec import encode_value

What: TypeAlias = Literal["founded", "joined", "renewed", "rotated", "removed"]
_PURPOSE = "sottovoce roster change"
_LARGEST_FILE = 1 << 26
_SHOWN = 16


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
        ends = range(1, self.number + 1)
        return any(RosterHistory(b"", self.changes[:end]).roster == roster for end in ends)

    def list_after(self, number: int) -> tuple[RosterChange, ...]:
        """The changes after so many."""
        return self.changes[max(0, number) :]

    def sign_change(self, what: What, party: Member, authority: Authority) -> "RosterHistory":
        """With one change more, made now by whoever has the authority's key."""
        change = RosterChange(
            self.number + 1,
            what,
            party.certificate_name,
            datetime.now(UTC).isoformat(timespec="seconds"),
            self.digest,
        )
        if what != "removed":
            change = msgspec.structs.replace(
                change,
                role=configured_role(party),
                address=party.address,
                fingerprint=party.fingerprint,
                identity=party.identity,
            )
        signature = authority.signature(change.message).hex()
        return self.extend([msgspec.structs.replace(change, signature=signature)])

    def extend(self, more: Iterable[RosterChange]) -> "RosterHistory":
        """With further changes, each of which must stand on the one before and be signed."""
        found = self
        for change in more:
            _check_place(change, found)
            _check_signed(change, self.authority)
            found = RosterHistory(self.authority, (*found.changes, change))
            _check_roster(found, change)
        return found

    def save(self, path: Path) -> None:
        """A line of JSON for each change."""
        lines = [msgspec.json.encode(change) + b"\n" for change in self.changes]
        with whole_file(path) as part:
            part.write_bytes(b"".join(lines))


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


def _check_signed(change: RosterChange, authority: bytes) -> None:
    try:
        check_authority_signature(authority, bytes.fromhex(change.signature), change.message)
    except (SottovoceError, ValueError):
        raise RosterRefusedError(
            f"change {change.number} of the roster must be signed by the federation's authority; "
            "it is not."
        ) from None


def _check_roster(after: RosterHistory, change: RosterChange) -> None:
    """Refuse what makes no roster: even who signs may not do that."""
    before = {each.certificate_name: each for each in RosterHistory(b"", after.changes[:-1]).roster}
    known = before.get(change.party)
    first = change.number == 1
    sound = {
        "founded": first and change.role == "coordinator",
        "joined": not first and known is None and change.role in get_args(Role)[1:],
        "renewed": known is not None and _same(known, change, identity=True),
        "rotated": known is not None and _same(known, change, identity=False),
        "removed": known is not None and known.role != "coordinator",
    }[change.what]
    try:
        if sound and after.roster.of_role("coordinator"):
            return
    except (SottovoceError, ValueError):
        pass
    raise RosterRefusedError(f"change {change.number} of the roster makes no roster of it.")


def _same(known: Member, change: RosterChange, *, identity: bool) -> bool:
    kept = configured_role(known) == change.role and known.address == change.address
    return kept and (not identity or known.identity == change.identity)
