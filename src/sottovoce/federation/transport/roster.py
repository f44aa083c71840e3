"""Who takes part: the parties of a federation, as every one of them knows them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sottovoce.errors import ParameterError

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

    def named(self, certificate_name: str) -> Member:
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
