"""Rows classified by a classifier that the asking peer cannot read, as part of a run.

Private Text Classification, Protocol 3.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import StalledError
from sottovoce.learn.modes.queries import (
    LABELS_STAGES,
    STAGES,
    HiddenContributor,
    HiddenScorer,
    QueryTerms,
)
from sottovoce.learn.paillier.key_files import public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.query_budget import LedgerBudget
from sottovoce.learn.run.records import (
    KeptHelper,
    KeptHidden,
    Record,
    Trained,
    read_hidden,
)
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value, from_value, to_value
from sottovoce.learn.wire.stages import Stage, stage_session

Querying = Generator[Stage, Any, tuple[str, ...]]
Scoring = Generator[Stage, Any, Record]


def query_plan(asker: str) -> tuple[str, ...]:
    """The stages of one peer's query, for two labels and for more."""
    of_two = tuple(_prefix(asker, 0) + stage for stage in STAGES)
    return (*of_two, *(_labels_prefix(asker) + stage for stage in LABELS_STAGES))


@dataclass(frozen=True, repr=False)
class PeerScorePart:
    """What one peer adds to the scores of a query.

    Attributes:
        asker: whose query it is.
        rows: the peer's rows over the training's columns; None: a rado in their place.
        own: which columns are its to add.
    """

    asker: str
    rows: Floats | None
    own: NDArray[np.bool_]


def adding(name: str, terms: RunTerms, trained: Trained, part: PeerScorePart) -> Querying:
    """A contributor's part; the asker ends with the label of each row."""
    kept = [read_hidden(each) for each in trained.classifiers]
    query = [_query(terms, part.asker, each) for each in kept]
    weights = [_weights(name, terms, each, part) for each in kept]
    party = HiddenContributor(name, query, [each.classifier() for each in kept], weights)
    yield from party.nest(_prefix_of(part.asker, len(kept)))
    if name != part.asker:
        return ()
    if party.places is None:
        raise StalledError("a query ended without an answer.")
    return tuple(trained.labels[at] for at in party.places)


def scoring(
    name: str, terms: RunTerms, asker: str, holdings: Holdings, record: Mapping[str, Value]
) -> Scoring:
    """A helper's part: its record of the training, with what is left of the budget."""
    key = holdings.wanted_key(name)
    helpers = [from_value(each, KeptHelper) for each in codec.parts(record, "helpers")]
    queries = [_query(terms, asker, kept) for kept in helpers]
    counted = [
        LedgerBudget(kept.budget, holdings.ledger, kept.charge(_charge_name(terms, asker, k), k))
        for k, kept in enumerate(helpers)
    ]
    other = _other(name, key, helpers[0])
    scorer = HiddenScorer(name, queries, key, other, counted)
    yield from scorer.nest(_prefix_of(asker, len(helpers)))
    return {**record, "helpers": to_value(helpers)}


def _prefix(asker: str, classifier: int) -> str:
    return f"{asker}'s query {classifier}: "


def _labels_prefix(asker: str) -> str:
    return f"{asker}'s query of labels: "


def _prefix_of(asker: str, classifiers: int) -> str:
    return _prefix(asker, 0) if classifiers == 1 else _labels_prefix(asker)


def _charge_name(terms: RunTerms, asker: str, classifier: int) -> bytes:
    """By which name a query is counted once: a row costs a row of each label's budget."""
    return stage_session(terms.session, _prefix(asker, classifier))


def _query(terms: RunTerms, asker: str, kept: KeptHidden | KeptHelper) -> QueryTerms:
    order, bounds = _order(terms, asker), (kept.modulus, kept.score_bound, kept.peers)
    return QueryTerms(terms.session, asker, order, terms.rows, *bounds)


def _weights(name: str, terms: RunTerms, kept: KeptHidden, part: PeerScorePart) -> Floats:
    """A peer's part of the rows, standardised; the asker adds the intercept."""
    standard = kept.standard
    if part.rows is None:
        rows = np.tile(kept.mean_row, (terms.rows, 1))
    else:
        rows = standard.apply(part.rows)
    mask = np.append(part.own[standard.kept.kept], name == part.asker)
    masked: Floats = rows * mask
    return masked


def _order(terms: RunTerms, asker: str) -> tuple[str, ...]:
    """Whose parts a query adds up: an evaluation's queries have their asker's only."""
    return terms.order if asker == terms.asker else (asker,)


def _other(name: str, key: PrivateKey, kept: KeptHelper) -> PublicKey:
    """The key holder compares under its own key, the coordinator under the key holder's."""
    return public_key_from_text(kept.other) if name == COORDINATOR else key.public
