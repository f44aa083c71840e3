"""Classification as the paper has it: the coordinator opens every score, and tells its sign.

Private Text Classification, Protocol 3.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    array_from_bytes,
    decrypt,
)
from sottovoce.learn.party import DamagedMessageError, Value
from sottovoce.learn.protocols.cipher_ring import CipherRingPeer
from sottovoce.learn.protocols.paper_training import (
    LARGEST_ROW,
    ROW_BITS,
    PaperClassifier,
    RingEnd,
    theta_slots,
)
from sottovoce.learn.protocols.stages import Script, Stage, Staged
from sottovoce.learn.protocols.telling import Listener, Teller
from sottovoce.learn.protocols.terms import COORDINATOR

STAGES = ("scores", "signs")
Offset: TypeAlias = Literal["print", "mean"]


@dataclass(frozen=True)
class PaperQuery:
    """One query: who asks, who contributes in which order (the asker first), how many rows."""

    session: bytes
    order: tuple[str, ...]
    rows: int
    peers: int
    width: int

    @property
    def asker(self) -> str:
        """Who learns the signs."""
        return self.order[0]


class PaperContributor(Staged):
    """A peer that adds its part of the scores; the first of the order ends with the signs."""

    signs: NDArray[np.int64] | None = None

    def __init__(
        self, name: str, query: PaperQuery, classifier: PaperClassifier, weights: Floats
    ) -> None:
        self.query = query
        self._scores = encrypted_scores(classifier, weights)
        super().__init__(name, query.session, STAGES, self._script())

    def _script(self) -> Script:
        query = self.query
        yield Stage(
            "scores",
            lambda s: CipherRingPeer(self.name, s, query.order, COORDINATOR, self._scores),
        )
        if self.name == query.asker:
            told = yield Stage("signs", lambda s: Listener(self.name, s, "signs", [COORDINATOR]))
            signs = told.heard[COORDINATOR].array("signs", "|i1")
            if signs.size != query.rows or not np.isin(signs, (-1, 1)).all():
                raise DamagedMessageError(f"{query.rows} signs must come.")
            self.signs = signs.astype(np.int64)


class PaperScorer(Staged):
    """The coordinator: opens the scores, which it keeps, and tells their signs."""

    def __init__(self, query: PaperQuery, key: PrivateKey) -> None:
        super().__init__(COORDINATOR, query.session, STAGES, self._script())
        self.query, self._key = query, key
        self.scores: Floats | None = None

    def _script(self) -> Script:
        query, public = self.query, self._key.public
        last = query.order[-1]
        heard = yield Stage("scores", lambda s: RingEnd(s, last, len(query.order)))
        plan = theta_slots(public.bits, query.peers, query.width)
        data = heard.heard[last].item("array", bytes)
        array = array_from_bytes(data, public, plan=plan)
        if array.shape != (query.rows,):
            raise DamagedMessageError(f"{query.rows} scores must come, got {array.shape}.")
        self.scores = decrypt(array, self._key)
        signs: dict[str, Value] = {"signs": np.where(self.scores > 0, 1, -1).astype(np.int8)}
        yield Stage("signs", lambda s: Teller(self.name, s, "signs", {query.asker: signs}))


def encrypted_scores(classifier: PaperClassifier, weights: Floats) -> EncryptedArray:
    """A peer's local scores under the coordinator's key.

    Private Text Classification, Protocol 3 (eq. 22): S.LOCALINNERPROD.
    """
    if weights.size and np.abs(weights).max() > LARGEST_ROW:
        raise InputError(f"rows and rados must lie within +-{LARGEST_ROW:g} when standardised.")
    heaviest = int(LARGEST_ROW * (1 << ROW_BITS)) * classifier.theta.shape[0]
    return classifier.theta.combined(weights, fraction_bits=ROW_BITS, weight=heaviest)


def offset_weights(classifier: PaperClassifier, offset: Offset, rows: int) -> Floats:
    """What a peer that does not know the entity contributes: its rado in place of the entity.

    Private Text Classification, Protocol 3 (eq. 25). As printed the rado is a *sum* of rows, and
    its score drowns every local one; the correction divides it by the number of rows.
    """
    scale = 1.0 if offset == "print" else 1.0 / max(classifier.rado_rows, 1)
    return np.tile(classifier.rado * scale, (rows, 1))
