"""Rows classified by a classifier that the asking peer cannot read, as part of a run.

Private Text Classification, Protocol 3.
"""

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.examples import Floats
from sottovoce.learn.paillier import PrivateKey, PublicKey, public_key_from_text
from sottovoce.learn.party import StalledError, Value
from sottovoce.learn.protocols import hidden_classify, paper_classify
from sottovoce.learn.protocols.hidden_classify import HiddenContributor, HiddenScorer, QueryTerms
from sottovoce.learn.protocols.paper_classify import PaperContributor, PaperQuery, PaperScorer
from sottovoce.learn.protocols.stages import Stage
from sottovoce.learn.protocols.terms import COORDINATOR
from sottovoce.learn.runs import values
from sottovoce.learn.runs.classifiers import read_hidden, read_paper
from sottovoce.learn.runs.records import Record, Trained, budget_part, read_budget
from sottovoce.learn.runs.terms import RunTerms

Signs = NDArray[np.int64]
Querying = Generator[Stage, Any, Signs]
Scoring = Generator[Stage, Any, Record]


def query_plan(terms: RunTerms, asker: str) -> tuple[str, ...]:
    """The stages of one peer's query, for every classifier that there may be."""
    stages = hidden_classify.STAGES if terms.mode == "hidden" else paper_classify.STAGES
    return tuple(_prefix(asker, k) + stage for k in range(terms.most_trainings) for stage in stages)


def asking(name: str, terms: RunTerms, trained: Trained, rows: Floats) -> Querying:
    """The asking peer's part: a sign for each row and classifier."""
    signs = []
    for k, kept in enumerate(trained.classifiers):
        made = _hidden_asker if terms.mode == "hidden" else _paper_asker
        party = yield from made(name, terms, kept, rows).within(_prefix(name, k))
        if party.signs is None:
            raise StalledError("a query ended without an answer.")
        signs.append(party.signs)
    return np.column_stack(signs)


def scoring(
    name: str, terms: RunTerms, asker: str, key: PrivateKey, record: Mapping[str, Value]
) -> Scoring:
    """A helper's part: its record of the training, with what is left of the budget."""
    if terms.mode == "paper":
        for k in range(len(values.parts(record, "classifiers"))):
            query = _paper_query(terms, asker, len(values.texts(record, "peers")), record)
            yield from PaperScorer(query, key).within(_prefix(asker, k))
        return dict(record)
    helpers = []
    for k, kept in enumerate(values.parts(record, "helpers")):
        budget = read_budget(kept)
        query_terms = _query(terms, asker, kept)
        party = HiddenScorer(name, query_terms, key, _other(name, key, kept), budget)
        yield from party.within(_prefix(asker, k))
        helpers.append({**kept, "budget": budget_part(budget)})
    return {**record, "helpers": tuple(helpers)}


def _prefix(asker: str, classifier: int) -> str:
    return f"{asker}'s query {classifier}: "


def _query(terms: RunTerms, asker: str, kept: Mapping[str, Value]) -> QueryTerms:
    return QueryTerms(
        terms.session,
        asker,
        (asker,),
        terms.rows,
        values.item(kept, "modulus", int),
        values.item(kept, "score bound", int),
        values.item(kept, "peers", int),
    )


def _hidden_asker(
    name: str, terms: RunTerms, kept: Mapping[str, Value], rows: Floats
) -> HiddenContributor:
    classifier = read_hidden(kept)
    weights = classifier.standard.applied(rows)
    return HiddenContributor(name, _query(terms, name, kept), classifier, weights)


def _paper_asker(
    name: str, terms: RunTerms, kept: Mapping[str, Value], rows: Floats
) -> PaperContributor:
    classifier = read_paper(kept)
    width, peers = values.item(kept, "width", int), values.item(kept, "peers", int)
    query = PaperQuery(terms.session, (name,), terms.rows, peers, width)
    weights = classifier.standard.applied(rows)[:, np.asarray(classifier.has, bool)]
    return PaperContributor(name, query, classifier, weights)


def _paper_query(
    terms: RunTerms, asker: str, peers: int, record: Mapping[str, Value]
) -> PaperQuery:
    width = len(values.texts(record, "features")) + 1
    return PaperQuery(terms.session, (asker,), terms.rows, peers, width)


def _other(name: str, key: PrivateKey, kept: Mapping[str, Value]) -> PublicKey:
    """The key holder compares under its own key, the coordinator under the key holder's."""
    if name != COORDINATOR:
        return key.public
    return public_key_from_text(values.item(kept, "other", str))
