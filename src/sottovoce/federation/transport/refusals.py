"""The ways in which a federation refuses a caller, a frame or a run.

    ProtocolError
    ├── StrangerError          the caller's certificate is nobody's on the roster
    ├── ImpostorError          the caller speaks in another party's name
    ├── WeakTransportError     the connection is not TLS 1.3
    ├── WrongVersionError      a frame of another version of this format
    ├── BadFrameError          a frame that is none
    ├── TooLargeError          a frame declares more bytes than are taken
    ├── RunRefusedError        a party declines a proposed run
    ├── MessageRefusedError    a party refuses what this one has said
    ├── LostPartyError         a party has fallen silent, and the run cannot go on without it
    ├── RunAbortedError        another party has ended the run
    ├── ReplayMismatchError    a rebuilt party says something else than before the crash
    └── DefectError            a party failed in a way that nobody planned

JournalError, an InputError, is for a journal that cannot be used.
"""

from collections.abc import Iterable

from sottovoce.errors import InputError, ProtocolError


class StrangerError(ProtocolError):
    """The caller's certificate is nobody's on the roster."""


class ImpostorError(ProtocolError):
    """The caller speaks in another party's name."""


class WeakTransportError(ProtocolError):
    """The connection is not TLS 1.3."""


class WrongVersionError(ProtocolError):
    """A frame of another version of this format."""


class BadFrameError(ProtocolError):
    """A frame that is none."""


class TooLargeError(ProtocolError):
    """A frame declares more bytes than are taken."""


class RunRefusedError(ProtocolError):
    """A party declines a proposed run."""


class MessageRefusedError(ProtocolError):
    """A party refuses what this one has said."""


class LostPartyError(ProtocolError):
    """A party has fallen silent, and the run cannot go on without it."""

    def __init__(self, sentence: str, missing: Iterable[str] = ()) -> None:
        super().__init__(sentence)
        self.missing = tuple(sorted(missing))


class RunAbortedError(ProtocolError):
    """The run has ended with an error, here or at another party.

    Attributes:
        by: who ended it.
        error: the name of its error.
        missing: whom it missed.
    """

    def __init__(self, sentence: str, *, by: str, error: str, missing: Iterable[str] = ()) -> None:
        super().__init__(sentence)
        self.by, self.error, self.missing = by, error, tuple(missing)


class ReplayMismatchError(ProtocolError):
    """A rebuilt party says something else than it did before the crash."""


class DefectError(ProtocolError):
    """A party failed in a way that nobody planned."""


class JournalError(InputError):
    """A journal cannot be used."""
