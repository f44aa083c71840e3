"""Frames, and the settings of whoever sends and takes them.

A frame is a header that says what comes, and a body that nobody reads here. The header is checked
before a byte of the body is taken. Every header and every answer says its version first; another
version is refused by name.

`Settings` say how patient a node is, and how much it takes; a `Log` takes events without content.
"""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from sottovoce.errors import BadFrameError, MissingExtraError, ParameterError, WrongVersionError
from sottovoce.learn.wire.message import SESSION_BYTES

try:
    import msgspec
except ImportError as error:
    raise MissingExtraError("msgspec", "federation") from error


VERSION = 1
LARGEST_HEADER = 4096
_DIGEST_BYTES = 32
_LARGEST_KEPT = 999_999_000  # SQLite keeps no more in one place

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
    def make(
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


class OutgoingFrame(NamedTuple):
    """One frame to send: to whom, its place, what it is, what may be shown of it, and its body."""

    receiver: str
    sequence: int
    frame: Kind
    shown: Mapping[str, Any]
    body: bytes


_Struct = TypeVar("_Struct", Header, Answer, Beat, Proposal, Complaint)


def pack_frame(value: msgspec.Struct) -> bytes:
    """A header, an answer or a body's content as bytes."""
    return msgspec.msgpack.encode(value)


def unpack_frame(data: bytes, kind: type[_Struct]) -> _Struct:
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


@dataclass(frozen=True)
class Settings:
    """How patient a node is, and how much it takes. All times in seconds, all sizes in bytes.

    Attributes:
        deadline_s: after so long a silence a party counts as lost.
        beat_s: how often a party says that it is alive.
        retry_s: the wait before a frame is sent again, doubled each time up to ``retry_most_s``.
        retry_most_s: the longest such wait.
        call_s: how long sending one frame may take, besides its size over ``slowest_rate``.
        slowest_rate: bytes per second that a connection must manage.
        give_up_s: how long a frame of an ended run is still sent again.
        largest_body: bodies that declare more are refused before they are read.
        longest_run_s: a run that lasts longer is ended, whatever it still waits for.
        most_held: how many frames of one sender wait for a party; more are put off.
        most_bodies: how many bodies are read at a time.
        retry_without_lost: whether the coordinator begins again without those who were lost.
        most_attempts: how often it does.
    """

    deadline_s: float = 12.0
    beat_s: float = 1.0
    retry_s: float = 0.05
    retry_most_s: float = 1.0
    call_s: float = 10.0
    slowest_rate: float = 1e6
    give_up_s: float = 60.0
    largest_body: int = 1 << 29
    longest_run_s: float = 86400.0
    most_held: int = 64
    most_bodies: int = 4
    retry_without_lost: bool = False
    most_attempts: int = 3

    def __post_init__(self) -> None:
        times = (self.deadline_s, self.beat_s, self.retry_s, self.retry_most_s, self.call_s)
        if min(times) <= 0:
            raise ParameterError("deadlines, beats and waits must be > 0 seconds.")
        if not 0 < self.largest_body <= _LARGEST_KEPT:
            raise ParameterError(f"largest_body must be 1 to {_LARGEST_KEPT} bytes.")
        if self.deadline_s < 2 * self.beat_s:
            raise ParameterError("deadline_s must be at least twice beat_s.")

    def call_limit(self, size: int) -> float:
        """How long sending a body of ``size`` bytes may take."""
        return self.call_s + size / self.slowest_rate

    def wait(self, failures: int) -> float:
        """How long to wait after so many failures."""
        return min(self.retry_most_s, self.retry_s * 2.0 ** min(failures, 30))


LOGGER = logging.getLogger("sottovoce.federation")


class Log(Protocol):
    """Where events go: a name and fields, never content."""

    def __call__(self, event: str, /, **fields: object) -> None:
        """Note one event."""


def to_logger(event: str, /, **fields: object) -> None:
    """An event as a record of the logger ``sottovoce.federation``; its fields are in ``fields``."""
    details = " ".join(f"{name}={value}" for name, value in fields.items())
    LOGGER.info("%s %s", event, details, extra={"event": event, "fields": fields})
