"""Classification of several labels in the hidden mode: the asking peer learns the label alone.

Scores of all labels stay shared between the coordinator and the key holder. Every label's solve has
the same matrix, so that its scores are det(A) theta_k'x (or theta_k'x, by Chebyshev) on one scale,
and the largest of them can be found: see `_arithmetic.largest`. The coordinator sends the asker an
order of the labels that it has drawn, the key holder a place in it. Neither says anything alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError
from sottovoce.learn.arithmetic.largest import (
    LargestPlan,
    Places,
    answer_largest,
    ask_largest,
    largest_label,
)
from sottovoce.learn.hidden.classify import (
    QueryTerms,
    masked_scores,
    opened_score_bytes,
    query_integers,
)
from sottovoce.learn.hidden.train import HiddenClassifier
from sottovoce.learn.paillier.grid import Grid
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.query_budget import LedgerBudget, QueryBudget
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.script import ScriptedParty
from sottovoce.learn.wire.stages import Listener, Script, Stage, Staged, Teller

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

STAGES = ("scores", "compare", "coordinator's order", "key holder's places")


@dataclass(frozen=True)
class LabelsQuery:
    """One query by the classifiers of several labels; all are of the same run, asker and rows."""

    labels: tuple[QueryTerms, ...]

    @property
    def one(self) -> QueryTerms:
        """What all labels share."""
        return self.labels[0]

    @property
    def plan(self) -> LargestPlan:
        """The comparison of all labels' scores."""
        for each in self.labels:
            each.numbers  # noqa: B018 - refuses shares that would not tell a sign
        return LargestPlan(self.one.rows, tuple(each.modulus for each in self.labels))


class LabelsContributor(Staged):
    """A peer with features of the rows; the asker among them ends with a label's place."""

    def __init__(
        self,
        name: str,
        query: LabelsQuery,
        classifiers: Sequence[HiddenClassifier],
        weights: Sequence[Floats],
    ) -> None:
        self.places: Places | None = None
        self.query = query
        parts: list[Mapping[str, Mapping[str, Value]]] = [
            masked_scores(each, query_integers(row, each.query_bits, len(query.one.contributors)))
            for each, row in zip(classifiers, weights, strict=True)
        ]
        self._pieces: dict[str, Mapping[str, Value]] = {
            helper: {"scores": tuple(part[helper]["scores"] for part in parts)}
            for helper in (COORDINATOR, KEY_HOLDER)
        }
        super().__init__(name, query.one.session, STAGES, self._script())

    def _script(self) -> Script:
        yield Stage("scores", lambda s: Teller(self.name, s, "scores", self._pieces))
        if self.name != self.query.one.asker:
            return
        first = yield Stage(STAGES[2], lambda s: Listener(self.name, s, "order", [COORDINATOR]))
        second = yield Stage(STAGES[3], lambda s: Listener(self.name, s, "places", [KEY_HOLDER]))
        order = told_order(first.heard[COORDINATOR], self.query)
        places = told_places(second.heard[KEY_HOLDER], self.query)
        self.places = largest_label(order, places)


class LabelsScorer(Staged):
    """Coordinator or key holder: opens masked scores, compares, and tells the asker its half."""

    def __init__(self, name: str, query: LabelsQuery, key: PrivateKey, other: PublicKey,
                 budgets: Sequence[QueryBudget | LedgerBudget]) -> None:  # fmt: skip
        super().__init__(name, query.one.session, STAGES, self._script())
        self.query, self._key, self._other, self._budgets = query, key, other, budgets

    def _script(self) -> Script:
        one = self.query.one
        heard = yield Stage("scores", lambda s: Listener(self.name, s, "scores", one.contributors))
        for budget in self._budgets:
            budget.spend(one.asker, one.rows)
        share = self._share(heard.heard)
        compared = yield Stage("compare", lambda s: self._comparing(s, share))
        found = np.asarray(compared.result, np.uint8)
        if self.name == COORDINATOR:
            piece: dict[str, Value] = {"order": found}
            yield Stage(STAGES[2], lambda s: Teller(self.name, s, "order", {one.asker: piece}))
        else:
            place: dict[str, Value] = {"places": found}
            yield Stage(STAGES[3], lambda s: Teller(self.name, s, "places", {one.asker: place}))

    def _share(self, heard: Mapping[str, Message]) -> Grid:
        """This party's share of every row's scores, a column for each label."""
        labels = self.query.labels
        parts = [told_scores(message, len(labels)) for message in heard.values()]
        columns = [
            opened_score_bytes([part[k] for part in parts], each, self._key)
            for k, each in enumerate(labels)
        ]
        return np.column_stack(columns)

    def _comparing(self, session: bytes, share: Grid) -> ScriptedParty[NDArray[np.int64]]:
        plan = self.query.plan
        if self.name == COORDINATOR:
            script = ask_largest(share, plan, self._other)
            return ScriptedParty(self.name, KEY_HOLDER, session, script)
        script = answer_largest(share, plan, self._key)
        return ScriptedParty(self.name, COORDINATOR, session, script)


def told_scores(message: Message, labels: int) -> tuple[bytes, ...]:
    """A contributor's masked scores of every label."""
    parts = message.item("scores", tuple)
    found = tuple(part for part in parts if isinstance(part, bytes))
    if len(parts) != labels or len(found) != labels:
        raise DamagedMessageError(f"masked scores of {labels} labels must come.")
    return found


def told_order(message: Message, query: LabelsQuery) -> Places:
    """The coordinator's half: an order of all labels for each row."""
    rows, labels = query.one.rows, len(query.labels)
    order = message.array("order", "|u1", ndim=2)
    if order.shape != (rows, labels) or (np.sort(order, axis=1) != np.arange(labels)).any():
        raise DamagedMessageError(f"an order of {labels} labels must come for {rows} rows.")
    return order.astype(np.int64)


def told_places(message: Message, query: LabelsQuery) -> Places:
    """The key holder's half: a place for each row."""
    places = message.array("places", "|u1")
    if places.size != query.one.rows or places.max(initial=0) >= len(query.labels):
        raise DamagedMessageError(f"a place must come for each of {query.one.rows} rows.")
    return places.astype(np.int64)
