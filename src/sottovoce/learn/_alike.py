"""What the coordinator tells the parties it must tell all alike: they sign what they have heard.

Peers reach each other through the coordinator alone, so that it could tell each of them something
else: other terms, another dictionary, another list of kept features. What two of them then give
would not belong together, and the difference would be one peer's own. So before anything leaves
that rests on it, every peer signs a digest of what it was told with its identity, the coordinator
relays all statements to all, and everybody holds each of them against what it was told itself.

The key holder and the intermediary speak to every party themselves, over a channel that proves who
they are. So they sign nothing: once they have seen all statements, they say the digest directly.
"""

import hashlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import DamagedMessageError, DisagreementError
from sottovoce.learn.sums.keys import Identity, check_signature
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.message import Party
from sottovoce.learn.wire.stages import Listener, Stage, Teller

_MOST = 1 << 40


def alike_stages(what: str) -> tuple[str, str, str]:
    """The stages of one exchange: peers state, all statements are told, helpers confirm."""
    return f"{what} signed", f"same {what}", f"same {what} at helpers"


@dataclass(frozen=True)
class Alike:
    """One exchange of statements.

    Attributes:
        what: the parties have been told, in a word or two.
        session: of the run.
        told: the very thing, whole, as bytes; their SHA-256 is signed.
        identities: of the peers, each of which states something.
        helpers: who must have been told the same, besides them and the coordinator.
    """

    what: str
    session: bytes
    told: bytes
    identities: Mapping[str, bytes]
    helpers: tuple[str, ...] = ()

    @property
    def digest(self) -> bytes:
        """What is compared."""
        return hashlib.sha256(self.told).digest()

    def party(
        self, name: str, identity: Identity | None = None, documents: int = 0
    ) -> Generator[Stage, Any, dict[str, int]]:
        """A party's part, a peer's with its ``identity``: how many documents each peer states."""
        stating, telling, helping = alike_stages(self.what)
        if identity is not None:
            signature = identity.sign("statement", *self._statement_parts(name, documents))
            own: dict[str, Value] = {"documents": documents, "signature": signature}
            yield Stage(stating, lambda s: Teller(name, s, "statement", {COORDINATOR: own}))
        if name == COORDINATOR:
            stated = yield from self._relaying(stating, telling)
        else:
            told = yield Stage(telling, lambda s: Listener(name, s, "statements", [COORDINATOR]))
            stated = self._read_statements(name, told.heard[COORDINATOR].payload.get("statements"))
        if self.helpers:
            heard = yield Stage(helping, lambda s: self._at_helpers(name, s))
            for helper, said in getattr(heard, "heard", {}).items():
                if said.item("digest", bytes) != self.digest:
                    raise self._different(name, helper)
        return stated

    def _at_helpers(self, name: str, session: bytes) -> Party:
        if name not in self.helpers:
            return Listener(name, session, "same", self.helpers)
        piece: dict[str, Value] = {"digest": self.digest}
        others = (COORDINATOR, *self.identities)
        return Teller(name, session, "same", dict.fromkeys(others, piece))

    def _relaying(self, stating: str, telling: str) -> Generator[Stage, Any, dict[str, int]]:
        peers = tuple(self.identities)
        heard = yield Stage(stating, lambda s: Listener(COORDINATOR, s, "statement", peers))
        statements: Value = {peer: dict(said.payload) for peer, said in heard.heard.items()}
        stated = self._read_statements(COORDINATOR, statements)
        piece: dict[str, Value] = {"statements": statements}
        pieces = dict.fromkeys((*self.helpers, *peers), piece)
        yield Stage(telling, lambda s: Teller(COORDINATOR, s, "statements", pieces))
        return stated

    def _read_statements(self, name: str, statements: Value | None) -> dict[str, int]:
        if not isinstance(statements, dict) or set(statements) != set(self.identities):
            raise DisagreementError(
                f"{_name_party(name)} must be shown a statement of the {self.what} by each of "
                f"{len(self.identities)} peers; one is missing, or a stranger's is among them."
            )
        return {
            peer: self._check_statement(name, peer, entry) for peer, entry in statements.items()
        }

    def _check_statement(self, name: str, peer: str, entry: Value) -> int:
        """A peer's number of documents, if it signed what this party was told."""
        match entry:
            case {"documents": int(number), "signature": bytes(by)} if 0 <= number <= _MOST:
                parts = self._statement_parts(peer, number)
            case _:
                raise DamagedMessageError("a statement must be a number and a signature.")
        try:
            check_signature(self.identities[peer], by, "statement", *parts)
        except DisagreementError:
            raise self._different(name, peer) from None
        return number

    def _different(self, name: str, other: str) -> DisagreementError:
        return DisagreementError(
            f"{other} and {_name_party(name)} must have the same {self.what} in this run, and have "
            "not: their files differ, or the coordinator told them different things."
        )

    def _statement_parts(self, name: str, documents: int) -> tuple[bytes | str, ...]:
        return self.session, self.what, name, self.digest, str(documents)


def told_alike(terms: TrainingTerms, what: str, peers: tuple[str, ...], told: Value) -> Alike:
    """An exchange in which ``peers`` sign what they were told in a training.

    Its features, recipe and everybody's number of documents are part of it.
    """
    stated = tuple(terms.stated_documents(peers).items())
    identities = {peer: terms.identities[peer] for peer in peers}
    return Alike(what, terms.session, encode_value((terms.digest, stated, told)), identities)


def _name_party(name: str) -> str:
    return f"the {name}" if name == COORDINATOR else name
