"""What protocol parties are made of: messages, inboxes, leakage, and a way to run them."""

from sottovoce.learn.party.contract import Party
from sottovoce.learn.party.encoding import Value, decoded, encoded
from sottovoce.learn.party.exchange import Exchange, Said, Traffic
from sottovoce.learn.party.faults import Faults
from sottovoce.learn.party.inbox import Inbox
from sottovoce.learn.party.leakage import Leakage, Learns
from sottovoce.learn.party.message import Message, new_session
from sottovoce.learn.party.refusals import (
    CorruptShareError,
    DamagedMessageError,
    DisagreementError,
    EarlyMessageError,
    ForeignMessageError,
    LateMessageError,
    OutOfOrderError,
    ReplayedMessageError,
    StalledError,
    TooFewPartiesError,
    UnexpectedMessageError,
)

__all__ = [
    "CorruptShareError",
    "DamagedMessageError",
    "DisagreementError",
    "EarlyMessageError",
    "Exchange",
    "Faults",
    "ForeignMessageError",
    "Inbox",
    "LateMessageError",
    "Leakage",
    "Learns",
    "Message",
    "OutOfOrderError",
    "Party",
    "ReplayedMessageError",
    "Said",
    "StalledError",
    "TooFewPartiesError",
    "Traffic",
    "UnexpectedMessageError",
    "Value",
    "decoded",
    "encoded",
    "new_session",
]
