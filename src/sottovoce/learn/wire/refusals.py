"""The ways in which a message or a run is refused.

    ProtocolError
    ├── DamagedMessageError      its bytes are not what its sender wrote
    ├── ForeignMessageError      another session, or another receiver
    ├── UnexpectedMessageError   a sender or a kind that this step does not await
    ├── ReplayedMessageError     this sender's message of this step was already taken
    ├── OutOfOrderError
    │   ├── EarlyMessageError    of a step that is yet to come: deliver it again later
    │   └── LateMessageError     of a step that is over: drop it
    ├── TooFewPartiesError       fewer took part than the protocol needs
    ├── DisagreementError        the parties were told different things
    ├── CorruptShareError        shares do not give back what was shared
    ├── FalseSummandError        a peer gives sums of documents that it has not
    └── StalledError             nobody has anything left to say, and somebody still waits

A refused message leaves its receiver as it was, so that the true one can still come.
"""

from sottovoce.errors import ProtocolError


class DamagedMessageError(ProtocolError):
    """The bytes of a message are not what its sender wrote."""


class ForeignMessageError(ProtocolError):
    """A message of another session, or for another receiver."""


class UnexpectedMessageError(ProtocolError):
    """A sender or a kind that the current step does not await."""


class ReplayedMessageError(ProtocolError):
    """This sender's message of this step was already taken."""


class OutOfOrderError(ProtocolError):
    """A message of another step than the current one."""


class EarlyMessageError(OutOfOrderError):
    """A message of a step that is yet to come; deliver it again later."""


class LateMessageError(OutOfOrderError):
    """A message of a step that is over."""


class TooFewPartiesError(ProtocolError):
    """Fewer parties took part than the protocol needs.

    Example:
        >>> from sottovoce.learn import TooFewPartiesError, train
        >>> holder = ([[0.0, 1.0], [1.0, 0.0]] * 12, [0, 1] * 12)
        >>> try:
        ...     train([holder, holder])
        ... except TooFewPartiesError:
        ...     print("two alone would learn each other's sums")
        two alone would learn each other's sums
    """


class DisagreementError(ProtocolError):
    """The parties were told different things."""


class CorruptShareError(ProtocolError):
    """Shares do not give back what was shared."""


class FalseSummandError(ProtocolError):
    """A peer gives sums of documents that it does not have."""


class StalledError(ProtocolError):
    """Nobody has anything left to say, and somebody still waits."""
