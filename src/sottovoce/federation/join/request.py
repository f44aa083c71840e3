"""What passes between a coordinator and whoever joins: a token, a request, a comparison string.

The token comes from the coordinator's person by a channel of their own. It names the party, says
where the coordinator listens and by which certificate it is known, and holds a secret that proves
the joiner's requests. Whoever has seen it can try to join once; whoever has replaced it stands
between the two. Against both there is the comparison string: eight letters and digits over both
sides' certificates, the request and a nonce of each, which two people read to each other. The
joiner commits itself to its request and nonce before it hears the coordinator's nonce, and has
heard all that the coordinator adds to the string before it shows them. So neither side, nor anybody
who plays both, chooses anything that the string is of after the other side's nonce is known, and
nobody can try until the strings of two different conversations are the same: each attempt succeeds
with probability 2^-40 (as with short authentication strings in RFC 6189, section 4.4.1.1).
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import msgspec

from sottovoce.errors import InputError, ParameterError, RosterRefusedError
from sottovoce.federation.certificates import check_name, requested_key
from sottovoce.federation.config import Role, check_address
from sottovoce.learn.sums.keys import Identity, check_signature
from sottovoce.learn.wire.codec import encode_value
from sottovoce.privacy.randomness import random_bytes

VERSION = 2
PREFIX = "svjoin1-"
SECRET_BYTES, ID_BYTES, NONCE_BYTES = 16, 8, 32
_IDENTITY_PURPOSE = "sottovoce join"
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no letter is read as another
_READ_AS = str.maketrans("oil", "011")
_STRING_LETTERS = 8
_JOINERS: dict[str, Role] = {
    "peer": "peer",
    "keyholder": "keyholder",
    "intermediary": "intermediary",
}
_Content: TypeAlias = tuple[str, Role, str, bytes, bytes, bytes]
_SIZES = (32, ID_BYTES, SECRET_BYTES)
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


@dataclass(frozen=True)
class JoinToken:
    """What the coordinator's person gives to whoever may join, once.

    Attributes:
        name: of the party that may join.
        role: what it may be.
        address: where the coordinator takes requests.
        fingerprint: of the coordinator's certificate; no other answers for it.
        number: which invitation this is.
        secret: what proves that a request comes from who got the token.
    """

    name: str
    role: Role
    address: str
    fingerprint: str
    number: bytes
    secret: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """To be copied and pasted."""
        known = bytes.fromhex(self.fingerprint)
        content = (self.name, self.role, self.address, known, self.number, self.secret)
        written = base64.urlsafe_b64encode(msgspec.msgpack.encode(content))
        return PREFIX + written.decode().rstrip("=")

    @classmethod
    def read(cls, text: str) -> "JoinToken":
        """The token that somebody pasted."""
        body = "".join(text.split()).removeprefix(PREFIX)
        try:
            content = base64.b64decode(body + "=" * (-len(body) % 4), b"-_", validate=True)
            name, role, address, *known = msgspec.msgpack.decode(content, type=_Content)
            if tuple(map(len, known)) == _SIZES:
                return cls(check_name(name), role, address, known[0].hex(), known[1], known[2])
        except (ValueError, msgspec.DecodeError):
            pass
        raise InputError(
            f"a token must be what learn invite printed, all of it, from {PREFIX} on; this is not "
            "one."
        )

    def proof(self, what: str, content: bytes) -> bytes:
        """That a message comes from who has the token."""
        return hmac.digest(self.secret, encode_value((what, self.number, content)), "sha256")


class JoinRequest(msgspec.Struct, frozen=True):
    """What a party asks to be known by; none of it is secret.

    Attributes:
        name: of the party.
        address: where it will listen.
        certificate_request: PKCS #10, signed with its own TLS key.
        identity: a peer's public signing key; empty for others.
        signature: of the certificate request by that identity.
    """

    name: str
    address: str
    certificate_request: bytes
    identity: bytes = b""
    signature: bytes = b""

    @classmethod
    def make(
        cls, name: str, address: str, certificate_request: bytes, identity: Identity | None
    ) -> "JoinRequest":
        """A party's own, with a proof that it has the identity."""
        if identity is None:
            return cls(name, address, certificate_request)
        signature = identity.sign(_IDENTITY_PURPOSE, name, certificate_request)
        return cls(name, address, certificate_request, identity.public, signature)

    def check(self, name: str, role: Role) -> None:
        """Refuse a request for another party, or by somebody who has not the keys."""
        check_address(self.address)
        if self.name != name or (role == "peer") != bool(self.identity):
            raise RosterRefusedError(f"the request must be that of {name}, as {role}.")
        requested_key(self.certificate_request, name)
        if role == "peer":
            check_signature(
                self.identity, self.signature, _IDENTITY_PURPOSE, name, self.certificate_request
            )


class Ask(msgspec.Struct, frozen=True):
    """First: which invitation, and the digest of what will be asked for."""

    version: int
    number: bytes
    commitment: bytes
    proof: bytes


class Reveal(msgspec.Struct, frozen=True):
    """Second: the request itself, and the joiner's nonce."""

    version: int
    number: bytes
    request: bytes
    nonce: bytes


class Collect(msgspec.Struct, frozen=True):
    """Third, again and again: the strings were the same; is there a certificate?"""

    version: int
    number: bytes
    proof: bytes


class JoinReply(msgspec.Struct, frozen=True):
    """What the coordinator answers to each of the three; or why not, by an error's name.

    Attributes:
        version: of this format.
        nonce: to an `Ask`.
        authority: the federation's certificate, to an `Ask` too: what the string is of must be
            told before the joiner shows its nonce.
        mode: of the trainings that the coordinator proposes, to a `Reveal`.
        columns: what peers' rows are of, where they hold no texts.
        certificate: to a `Collect`, once both persons have confirmed.
        changes: all changes of the roster, with it.
        why_not: a sentence.
    """

    version: int
    nonce: bytes = b""
    authority: bytes = b""
    mode: str = ""
    columns: list[str] = []
    certificate: bytes = b""
    changes: bytes = b""
    why_not: str = ""


def joiner_role(role: str) -> Role:
    """What whoever joins may be."""
    if role not in _JOINERS:
        raise ParameterError(f"a role must be one of {', '.join(_JOINERS)}, got {role[:80]!r}.")
    return _JOINERS[role]


def new_nonce() -> bytes:
    """Of either side."""
    return random_bytes(NONCE_BYTES)


def commitment(request: bytes, nonce: bytes) -> bytes:
    """What binds the joiner to its request before it hears the coordinator's nonce."""
    return hashlib.sha256(encode_value(("sottovoce join commitment", request, nonce))).digest()


def comparison_string(
    coordinator: str, authority: str, request: bytes, nonces: tuple[bytes, bytes]
) -> str:
    """What both sides show: of both certificates' fingerprints, the request, and both nonces."""
    content = encode_value(("sottovoce join string", coordinator, authority, request, *nonces))
    number = int.from_bytes(hashlib.sha256(content).digest())
    letters = [_ALPHABET[number >> 5 * at & 31] for at in range(_STRING_LETTERS)]
    return "".join(letters[:4]) + "-" + "".join(letters[4:])


def as_compared(text: str) -> str:
    """A comparison string as people type it: blanks, dashes, capitals, and O for 0 or L for 1."""
    plain = "".join(text.lower().replace("-", " ").split()).translate(_READ_AS)
    return f"{plain[:4]}-{plain[4:]}"


def pack_message(message: msgspec.Struct) -> bytes:
    """A message as bytes."""
    return msgspec.msgpack.encode(message)


def unpack_message(data: bytes, kind: type[_Struct]) -> _Struct:
    """The message, or RosterRefusedError."""
    try:
        found = msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RosterRefusedError("a message to join must have the fields of its type.") from None
    if getattr(found, "version", VERSION) != VERSION:
        raise RosterRefusedError(f"messages to join must be of version {VERSION}.")
    return found
