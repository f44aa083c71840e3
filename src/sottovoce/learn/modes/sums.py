"""A training's secure sums, what sums over documents satisfy, and telling all parties alike.

Each peer's sums are checked under its masks, and the opened total. A liar who knew the others' sums
could give the difference to any total that passes, if it weighs no more than `SummandWeights` lets
pass. So it can do more than documents of its own would, but not make the total larger than so many
documents can.

**Alike.** Peers reach each other through the coordinator alone, so that it could tell each of them
something else: other terms, another dictionary, another list of kept features. What two of them
then give would not belong together, and the difference would be one peer's own. So before anything
leaves that rests on it, every peer signs a digest of what it was told with its identity, the
coordinator relays all statements to all, and everybody holds each of them against what it was told
itself.

The key holder and the intermediary speak to every party themselves, over a channel that proves who
they are. So they sign nothing: once they have seen all statements, they say the digest directly.
"""

import hashlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, DisagreementError, FalseSummandError
from sottovoce.learn.ridge import ExampleSums, sums_of_labels
from sottovoce.learn.sums.fixed import Among, FixedPoint, SummandWeights
from sottovoce.learn.sums.keys import Identity, MaskedSum, check_signature
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.support import KeptFeatures
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.message import Party
from sottovoce.learn.wire.stages import Listener, PartyMaker, Stage, Teller


@dataclass(frozen=True)
class SumStage:
    """One secure sum among the peers of a training.

    Attributes:
        terms: of the training.
        size: how many values a summand has.
        numbers: their bound and scale.
        peers: who takes part.
        everyone: whether all of ``peers`` must stay, as they must once features were chosen by
            what all of them have.
        told: whether peers are told the sum.
        context: what peers sign with the keys of their masks, besides the sum's session.
        weights: how much each summand may weigh, where that is checked.
    """

    terms: TrainingTerms
    size: int
    numbers: FixedPoint
    peers: tuple[str, ...]
    everyone: bool = True
    told: bool = False
    context: bytes = b""
    weights: SummandWeights | None = None

    def peer(
        self, name: str, identity: Identity, values: ArrayLike, among: Among | None = None
    ) -> PartyMaker:
        """The machine of a peer with these values, or words modulo 2^64 as they are.

        ``among`` is what it makes of who is left.
        """
        given = np.asarray(values)
        summand = given if given.dtype == np.uint64 else self.numbers.encode(given).ravel()
        return lambda session: MaskPeer(
            name, self._masked_sum(session), identity, summand, among=among
        )

    def adder(self) -> PartyMaker:
        """The machine of the coordinator."""
        return lambda session: MaskServer(self._masked_sum(session))

    def _masked_sum(self, session: bytes) -> MaskedSum:
        identities = _choose_identities(self.terms.identities, self.peers)
        return MaskedSum(
            session,
            COORDINATOR,
            identities,
            self.size,
            threshold=len(self.peers) if self.everyone else 0,
            allow_two=self.terms.recipe.allow_two,
            told=self.told,
            context=self.context or self.terms.digest,
            weights=self.weights,
        )


def _choose_identities(identities: Mapping[str, bytes], peers: tuple[str, ...]) -> dict[str, bytes]:
    return {peer: identities[peer] for peer in peers}


_FLOAT = 2.0**-40  # of the largest number, beside what fixed-point numbers round


def weights_of_documents(
    terms: TrainingTerms, kept: KeptFeatures, peers: tuple[str, ...]
) -> SummandWeights | None:
    """How much sums over each peer's documents weigh at most, where rows are of 0 and 1.

    Sums by label are scaled to count for as much as pairs of words. Of one document each number is
    at most 1 in size. Between two documents y and xy move by at most 2, x and xx' by 1, and x
    nowhere where xy moves by 2.
    """
    if not terms.presence:
        return None
    width, labels, step = kept.width, terms.classifiers, terms.numbers().step
    pairs, by_label = width * (width + 1) // 2, labels * (1 + width)
    scale = max(1, round(math.sqrt(pairs / by_label)))
    sizes = (1, 1, width, width, pairs, by_label - 1 - width)
    scales = np.repeat(np.array([1, scale] * 3, np.uint64), sizes)
    norm = math.sqrt(1 + width + pairs + scale**2 * by_label)
    apart = math.sqrt(pairs + 4 * scale**2 * by_label)
    documents = {peer: terms.documents[peer] for peer in peers}
    return SummandWeights(documents, scales, norm / step, apart / step)


def check_total(
    total: Floats, terms: TrainingTerms, kept: KeptFeatures, peers: Sequence[str]
) -> None:
    """Raise FalseSummandError if no documents of the peers' stated number have these sums."""
    if not terms.documents:
        return
    stated = sum(terms.documents[peer] for peer in peers)
    sums = sums_of_labels(total, kept.width, terms.classifiers)
    if sums[0].count != stated:
        raise _false(stated, f"those of {sums[0].count:.12g}")
    rounding = len(peers) * terms.numbers().step / 2
    for each in sums:
        moments = _moments(each)
        room = len(moments) * (rounding + _FLOAT * float(np.abs(moments).max()))
        if np.linalg.eigvalsh(moments)[0] < -room:
            raise _false(stated, "a negative square")
        if terms.presence and not _counts_documents(each):
            raise _false(stated, "numbers that count no documents")


def _moments(sums: ExampleSums) -> Floats:
    """The sum of z z' over all rows, z being 1, y and x."""
    whole = np.empty((sums.width + 2, sums.width + 2))
    whole[0, :2], whole[1, :2] = (sums.count, sums.label_total), (sums.label_total, sums.count)
    whole[:2, 2:] = sums.totals, sums.cross
    whole[2:, :2], whole[2:, 2:] = whole[:2, 2:].T, sums.products
    return whole


def _counts_documents(sums: ExampleSums) -> bool:
    """Whether sums over rows of 0 and 1 are in bounds, for each word and each two words."""
    has, both = sums.totals, sums.products
    whole = all(np.array_equal(each, np.rint(each)) for each in (has, both, sums.cross))
    most, least = np.minimum.outer(has, has), np.add.outer(has, has) - sums.count
    paired = bool((both <= most).all() and (both >= np.maximum(least, 0)).all())
    labelled = np.array([sums.label_total, *sums.cross])
    used = np.array([sums.count, *has])
    even = bool(((used - labelled) % 2 == 0).all() and (np.abs(labelled) <= used).all())
    return whole and paired and even and np.array_equal(np.diag(both), has)


def _false(stated: int, got: str) -> FalseSummandError:
    return FalseSummandError(
        f"the opened sums must be those of the {stated} documents that the peers state, got {got}: "
        "a peer's sums are false; which one, they do not tell, so ask all, and run again."
    )


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
