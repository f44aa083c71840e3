"""A run that classifies one peer's rows, by itself or with other peers' parts of them.

Private Text Classification, Protocol 3.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from sottovoce.learn.examples import Floats
from sottovoce.learn.protocols.stages import Stage
from sottovoce.learn.protocols.summing import SumStage
from sottovoce.learn.protocols.terms import COORDINATOR, TrainingTerms
from sottovoce.learn.runs import values
from sottovoce.learn.runs.agreeing import WrongExamplesError
from sottovoce.learn.runs.calling import (
    check_training,
    labels_from_scores,
    labels_from_signs,
    models,
    trained_rows,
)
from sottovoce.learn.runs.claiming import CLAIMS, Mask, claiming_coordinator, claiming_peer
from sottovoce.learn.runs.holdings import Holdings
from sottovoce.learn.runs.records import VERSION, Record, Trained, check_version, read_trained
from sottovoce.learn.runs.terms import RunTerms
from sottovoce.learn.runs.training import RunScript

SCORES = "scores"


def classify_plan(terms: RunTerms) -> tuple[str, ...]:
    """The stages of a query; there are none where a peer has the classifier and all features."""
    if terms.mode == "open":
        return (CLAIMS, SCORES)
    from sottovoce.learn.runs.querying import query_plan  # noqa: PLC0415 - masks need no gmpy2

    return (CLAIMS, *query_plan(terms, terms.asker))


def classifying_peer(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """The asking peer's part, which ends with a label for each row; or a contributor's."""
    trained = brought_training(name, terms, holdings)
    knows = name == terms.asker or terms.offset is None
    rows = _brought_rows(name, terms, trained, holdings) if knows else None

    def script() -> RunScript:
        own = yield from claiming_peer(name, terms, len(trained.names))
        if terms.mode == "open":
            part = _local_scores(name, terms, trained, rows, own)
            found = yield from _summed_scores(name, terms, holdings, part)
            labels = labels_from_scores(found, trained.labels)
        else:
            from sottovoce.learn.runs.querying import Part, adding  # noqa: PLC0415 - likewise

            signs = yield from adding(name, terms, trained, Part(terms.asker, rows, own))
            labels = labels_from_signs(signs, trained.labels) if name == terms.asker else ()
        return {**head(terms), "labels": labels if name == terms.asker else ()}

    return script()


def classifying_helper(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """A helper's part: it ends with its record of the training, the budget spent."""
    record = brought_record(name, terms, holdings)
    key = None if terms.mode == "open" else holdings.wanted_key(name)

    def script() -> RunScript:
        if name == COORDINATOR:
            yield from claiming_coordinator(terms, record)
        if key is None:
            classifiers = len(values.parts(record, "classifiers"))
            yield Stage(SCORES, score_stage(terms, classifiers).adder())
            return {**head(terms), "training": record}
        from sottovoce.learn.runs.querying import scoring  # noqa: PLC0415 - likewise

        training = yield from scoring(name, terms, terms.asker, key, record)
        return {**head(terms), "training": training}

    return script()


def score_stage(terms: RunTerms, classifiers: int) -> SumStage:
    """The sum of all contributors' local scores, which all of them are told.

    Private Text Classification, Protocol 3 in the form of eq. 24.
    """
    recipe = replace(terms.recipe, way="masks")
    identities = {name: terms.identities[name] for name in terms.order}
    summing = TrainingTerms(terms.session, identities, (SCORES,), recipe)
    size = terms.rows * classifiers
    return SumStage(summing, size, summing.numbers(), summing.peers, told=True)


def _local_scores(
    name: str, terms: RunTerms, trained: Trained, rows: Floats | None, own: Mask
) -> Floats:
    if rows is None:  # only where a rado stands for rows, which the open mode has not
        rows = np.zeros((terms.rows, len(trained.names)))
    columns = [
        rows @ np.where(own, model.coefficients, 0.0)
        + (model.intercept if name == terms.asker else 0.0)
        for model in models(trained)
    ]
    return np.column_stack(columns)


def _summed_scores(
    name: str, terms: RunTerms, holdings: Holdings, part: Floats
) -> Generator[Stage, Any, Floats]:
    if not terms.contributors:
        return part
    stage = score_stage(terms, part.shape[1])
    identity = holdings.wanted_identity(name)
    summed = yield Stage(SCORES, stage.peer(name, identity, part))
    return stage.numbers.decode(summed.total).reshape(part.shape)


def _brought_rows(name: str, terms: RunTerms, trained: Trained, holdings: Holdings) -> Floats:
    rows = trained_rows(trained, holdings.wanted_examples(name))
    if len(rows) != terms.rows:
        raise WrongExamplesError(
            f"{name} must bring the {terms.rows} rows that this run is about, got {len(rows)}."
        )
    return rows


def brought_training(name: str, terms: RunTerms, holdings: Holdings) -> Trained:
    """A peer's result of the training that the run names."""
    trained = read_trained(holdings.wanted_earlier(name))
    check_training(trained.session, terms, name)
    return trained


def brought_record(name: str, terms: RunTerms, holdings: Holdings) -> Record:
    """A helper's."""
    record = dict(holdings.wanted_earlier(name))
    check_version(record, "train")
    check_training(values.item(record, "session", bytes), terms, name)
    return record


def head(terms: RunTerms) -> Record:
    """What every result starts with."""
    return {
        "version": VERSION,
        "kind": terms.kind,
        "mode": terms.mode,
        "session": terms.session,
    }
