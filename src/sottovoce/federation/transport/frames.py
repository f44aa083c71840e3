"""What travels between parties: a header that says what comes, and a body that nobody reads here.

The header is checked before a byte of the body is taken. Every header and every answer says its
version first; another version is refused by name.
"""

import hashlib
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from sottovoce.errors import MissingExtraError
from sottovoce.federation.transport.refusals import BadFrameError, WrongVersionError
from sottovoce.learn.party.message import SESSION_BYTES

try:
    import msgspec
except ImportError as error:
    raise MissingExtraError("msgspec", "federation") from error

VERSION = 1
LARGEST_HEADER = 4096
_DIGEST_BYTES = 32

Kind: TypeAlias = Literal["propose", "message", "refusal", "abort"]
Outcome: TypeAlias = Literal["taken", "later", "refused", "ended"]
State: TypeAlias = Literal["busy", "idle", "finished", "aborted", "unknown"]


class Header(msgspec.Struct, frozen=True):
    """Which frame this is.

    Attributes:
        version: of this format.
        kind: what the body is.
        session: the run that it belongs to.
        sender: who sends it; the transport proves it.
        receiver: whom it is for.
        sequence: its place among the sender's frames to this receiver in this run, from 1; an
            abort stands outside, at 0.
        size: how many bytes the body has.
        digest: the body's SHA-256.
    """

    version: int
    kind: Kind
    session: bytes
    sender: str
    receiver: str
    sequence: int
    size: int
    digest: bytes


class Answer(msgspec.Struct, frozen=True):
    """What became of a frame: taken (and journalled), to be sent later, refused, run ended."""

    version: int
    outcome: Outcome
    error: str = ""
    sentence: str = ""


class Proposal(msgspec.Struct, frozen=True):
    """A run that the coordinator would like to make."""

    terms: bytes
    participants: list[str]

    @property
    def session(self) -> bytes:
        """The run's name: the same terms are never run twice."""
        content = msgspec.msgpack.encode(("sottovoce run", self.terms, sorted(self.participants)))
        return hashlib.sha256(content).digest()[:SESSION_BYTES]


class Complaint(msgspec.Struct, frozen=True):
    """The body of an abort or a refusal: an error's name, a sentence, and who is missing."""

    error: str
    sentence: str
    missing: list[str] = []


class Beat(msgspec.Struct, frozen=True):
    """How a party's runs stand; the answer says the same of the other side."""

    version: int
    sender: str
    states: dict[bytes, State]


class _Versioned(msgspec.Struct):
    version: int


class Frame(NamedTuple):
    """A header and its body."""

    header: Header
    body: bytes

    @classmethod
    def of(
        cls, kind: Kind, session: bytes, sender: str, receiver: str, sequence: int, body: bytes
    ) -> "Frame":
        """A frame of the present version."""
        digest = hashlib.sha256(body).digest()
        header = Header(VERSION, kind, session, sender, receiver, sequence, len(body), digest)
        return cls(header, body)

    def check_body(self) -> None:
        """Refuse a body that is not what the header says."""
        if len(self.body) != self.header.size:
            raise BadFrameError(f"a body of {self.header.size} bytes was declared, not this one.")
        if hashlib.sha256(self.body).digest() != self.header.digest:
            raise BadFrameError("a body's bytes must match its digest; send it again.")


_Struct = TypeVar("_Struct", Header, Answer, Beat, Proposal, Complaint)


def packed(value: msgspec.Struct) -> bytes:
    """A header, an answer or a body's content as bytes."""
    return msgspec.msgpack.encode(value)


def unpacked(data: bytes, kind: type[_Struct]) -> _Struct:
    """What the bytes hold; WrongVersionError or BadFrameError where it cannot be used."""
    try:
        if kind in (Header, Answer, Beat):
            _check_version(msgspec.msgpack.decode(data, type=_Versioned).version)
        found = msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrameError(f"a {kind.__name__.lower()} must have the fields of its type.") from (
            error
        )
    if isinstance(found, Header):
        _check_header(found)
    return found


def _check_version(version: int) -> None:
    if version != VERSION:
        raise WrongVersionError(
            f"frames must be of version {VERSION}, got version {version}; "
            "all parties must run the same release."
        )


def _check_header(header: Header) -> None:
    if len(header.session) != SESSION_BYTES or len(header.digest) != _DIGEST_BYTES:
        raise BadFrameError("a header must name a run and the digest of its body.")
    if header.size < 0 or header.sequence < 0 or (header.sequence == 0) != (header.kind == "abort"):
        raise BadFrameError("a header's size and place must be possible.")
