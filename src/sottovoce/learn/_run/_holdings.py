"""What a party brings to a run of its own, and shows to nobody."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sottovoce.errors import InputError
from sottovoce.learn._sums.keys import Identity
from sottovoce.learn._wire.codec import Value
from sottovoce.learn.documents import Examples

if TYPE_CHECKING:
    from sottovoce.learn._paillier.keys import PrivateKey


class MissingHoldingError(InputError):
    """A party lacks what its part in a run needs."""


@dataclass(frozen=True, repr=False)
class Holdings:
    """A party's own.

    Attributes:
        identity: who it is, if it is a peer.
        examples: its documents or rows.
        key: its Paillier key, if the mode gives it one.
        earlier: the result of an earlier run of its own: the training whose classifier is used.
    """

    identity: Identity | None = None
    examples: Examples | None = None
    key: "PrivateKey | None" = None
    earlier: Mapping[str, Value] | None = None

    def wanted_identity(self, name: str) -> Identity:
        """Who the peer is."""
        if self.identity is None:
            raise MissingHoldingError(f"{name} must bring its identity.")
        return self.identity

    def wanted_examples(self, name: str) -> Examples:
        """Its documents or rows."""
        if self.examples is None or not len(self.examples):
            raise MissingHoldingError(f"{name} must bring at least 1 document or row, got none.")
        return self.examples

    def wanted_key(self, name: str) -> "PrivateKey":
        """Its Paillier key."""
        if self.key is None:
            raise MissingHoldingError(f"the {name} must bring a Paillier key of its own.")
        return self.key

    def wanted_earlier(self, name: str) -> Mapping[str, Value]:
        """What it kept of the training."""
        if self.earlier is None:
            raise MissingHoldingError(f"{name} must bring its result of the training; train first.")
        return self.earlier
