"""A run that classifies one peer's rows, by itself or with other peers' parts of them.

Private Text Classification, Protocol 3. Where several peers add to a score, the coordinator, who
knows which features each has, says who adds which. Scores, or signs where nobody may see a score,
become label names.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DataError, DisagreementError, StalledError
from sottovoce.learn._examples import labels_by_sign
from sottovoce.learn.documents import Documents, Examples
from sottovoce.learn.modes.sums import SumStage
from sottovoce.learn.query_budget import LedgerBudget
from sottovoce.learn.ridge import LinearModel
from sottovoce.learn.run.agree import OPENING_STAGES, lifted_rows, opening
from sottovoce.learn.run.records import (
    VERSION,
    KeptHelper,
    KeptHidden,
    Record,
    Trained,
    check_version,
    read_hidden,
    read_model,
    read_trained,
)
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.run.train import RunScript
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value, from_value, to_value
from sottovoce.learn.wire.stages import Listener, Stage, Teller, stage_session

if TYPE_CHECKING:
    from sottovoce.learn.modes.queries import QueryTerms

CLAIMS = "claims"
SCORES = "scores"
Mask = NDArray[np.bool_]


def classify_plan(terms: RunTerms) -> tuple[str, ...]:
    """The stages of a query; there are none where a peer has the classifier and all features."""
    if terms.mode == "open":
        return (*OPENING_STAGES, CLAIMS, SCORES)
    return (*OPENING_STAGES, CLAIMS, *query_plan(terms.asker))


def classifying_peer(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """The asking peer's part, which ends with a label for each row; or a contributor's."""
    trained = brought_training(name, terms, holdings)
    knows = name == terms.asker or terms.offset is None
    rows = _brought_rows(name, terms, trained, holdings) if knows else None

    def script() -> RunScript:
        if COORDINATOR in terms.parties:
            yield from opening(terms).party(name, holdings.wanted_identity(name))
        own = yield from claiming_peer(name, terms, len(trained.names))
        if terms.mode == "open":
            part = _local_scores(name, terms, trained, rows, own)
            found = yield from _summed_scores(name, terms, holdings, part)
            labels = labels_from_scores(found, trained.labels)
        else:
            labels = yield from contribute_scores(name, terms, trained, terms.asker, rows, own)
        return {**record_head(terms), "labels": labels if name == terms.asker else ()}

    return script()


def classifying_helper(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """A helper's part: it ends with its record of the training, the budget spent."""
    record = brought_record(name, terms, holdings)
    key = None if terms.mode == "open" else holdings.wanted_key(name)

    def script() -> RunScript:
        yield from opening(terms).party(name)
        if name == COORDINATOR:
            yield from claiming_coordinator(terms, record)
        if key is None:
            classifiers = len(codec.parts(record, "classifiers"))
            yield Stage(SCORES, score_stage(terms, classifiers).adder())
            return {**record_head(terms), "training": record}
        training = yield from compare_scores(name, terms, terms.asker, holdings, record)
        return {**record_head(terms), "training": training}

    return script()


def score_stage(terms: RunTerms, classifiers: int) -> SumStage:
    """The sum of all contributors' local scores, which all of them are told.

    Private Text Classification, Protocol 3 in the form of eq. 24.
    """
    identities = {name: terms.identities[name] for name in terms.order}
    summing = TrainingTerms(terms.session, identities, (SCORES,), terms.recipe)
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
        raise DataError(
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
    check_training(codec.item(record, "session", bytes), terms, name)
    return record


def check_training(session: bytes, terms: RunTerms, name: str) -> None:
    """Refuse another training's result."""
    if session != terms.training:
        raise DataError(
            f"{name} must bring its result of the training that this run names, got another's."
        )


def record_head(terms: RunTerms) -> Record:
    """What every result starts with."""
    return {"version": VERSION, "kind": terms.kind, "mode": terms.mode, "session": terms.session}


def claiming_coordinator(
    terms: RunTerms, record: Mapping[str, Value]
) -> Generator[Stage, Any, None]:
    """Tell each contributor which features are its to add: none twice, the asker's first.

    Private Text Classification, section 3.1: the coordinator separates a peer's features, and sets
    the remaining ones to zero.
    """
    if not terms.contributors:
        return
    kept = codec.part(record, "holdings")
    holdings = {name: codec.array(kept, name, "|b1") for name in terms.order}
    claimed = claims(terms.order, holdings)
    pieces: dict[str, dict[str, Value]] = {name: {"own": claimed[name]} for name in terms.order}
    yield Stage(CLAIMS, lambda s: Teller(COORDINATOR, s, CLAIMS, pieces))


def claiming_peer(name: str, terms: RunTerms, width: int) -> Generator[Stage, Any, Mask]:
    """Hear which features are one's own to add; all of them if nobody else adds any."""
    if not terms.contributors:
        return np.ones(width, bool)
    told = yield Stage(CLAIMS, lambda s: Listener(name, s, CLAIMS, [COORDINATOR]))
    own: Mask = told.heard[COORDINATOR].array("own", "|b1")
    if own.size != width:
        raise DisagreementError(f"{name} must hear of {width} features which are its to add.")
    return own


def claims(order: Sequence[str], holdings: Mapping[str, Mask]) -> dict[str, Mask]:
    """Which features each contributor adds: its own that nobody before it has, the asker first."""
    taken, claimed = np.zeros_like(holdings[order[0]]), {}
    for name in order:
        claimed[name] = holdings[name] & ~taken
        taken |= holdings[name]
    return claimed


def call_labels(trained: Trained, examples: Examples) -> tuple[str, ...]:
    """The label of each row, by a classifier that this peer can read."""
    if trained.mode != "open":
        raise DataError("this classifier is nobody's to read: ask with a run of kind classify.")
    return labels_from_scores(scores(trained, examples), trained.labels)


def scores(trained: Trained, examples: Examples) -> Floats:
    """A score per row and classifier: positive for the second of two labels, or for its own."""
    rows = trained_rows(trained, examples)
    return np.column_stack([model.scores(rows) for model in models(trained)])


def models(trained: Trained) -> list[LinearModel]:
    """The classifiers of the open mode."""
    return [read_model(each, len(trained.names)) for each in trained.classifiers]


def trained_rows(trained: Trained, examples: Examples) -> Floats:
    """Examples over the columns of a training."""
    if isinstance(examples, Documents) != (trained.features is not None):
        wanted = "documents" if trained.features is not None else "rows of numbers"
        raise DataError(f"this classifier is of {wanted}: bring those.")
    return lifted_rows(examples, trained.features, trained.agreement)


def labels_from_scores(found: Floats, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Of two labels the second where the score is positive; of more that of the largest score."""
    if found.shape[1] == 1:
        return labels_by_sign(np.where(found[:, 0] > 0, 1, -1), labels)
    return tuple(labels[at] for at in found.argmax(axis=1))


def query_plan(asker: str) -> tuple[str, ...]:
    """The stages of one peer's query in the hidden mode, for two labels and for more."""
    from sottovoce.learn.modes.queries import LABELS_STAGES, STAGES  # noqa: PLC0415 - masks need no gmpy2

    of_two = tuple(_prefix(asker, 1) + stage for stage in STAGES)
    return (*of_two, *(_prefix(asker, 2) + stage for stage in LABELS_STAGES))


def contribute_scores(
    name: str, terms: RunTerms, trained: Trained, asker: str, rows: Floats | None, own: Mask
) -> Generator[Stage, Any, tuple[str, ...]]:
    """A contributor's part; the asker ends with the label of each row.

    Args:
        name: of the contributor.
        terms: of the run.
        trained: its result of the training.
        asker: whose query it is.
        rows: its rows over the training's columns; None: a rado in their place.
        own: which columns are its to add.
    """
    from sottovoce.learn.modes.queries import HiddenContributor  # noqa: PLC0415 - masks need no gmpy2

    kept = [read_hidden(each) for each in trained.classifiers]
    query = [_query(terms, asker, each) for each in kept]
    weights = [_weights(each, rows, terms.rows, own, asks=name == asker) for each in kept]
    party = HiddenContributor(name, query, [each.classifier() for each in kept], weights)
    yield from party.nest(_prefix(asker, len(kept)))
    if name != asker:
        return ()
    if party.places is None:
        raise StalledError("a query ended without an answer.")
    return tuple(trained.labels[at] for at in party.places)


def compare_scores(
    name: str, terms: RunTerms, asker: str, holdings: Holdings, record: Mapping[str, Value]
) -> Generator[Stage, Any, Record]:
    """A helper's part: its record of the training, with what is left of the budget."""
    from sottovoce.learn.modes.queries import HiddenScorer  # noqa: PLC0415 - masks need no gmpy2
    from sottovoce.learn.paillier.key_files import public_key_from_text  # noqa: PLC0415 - likewise

    key = holdings.wanted_key(name)
    helpers = [from_value(each, KeptHelper) for each in codec.parts(record, "helpers")]
    queries = [_query(terms, asker, kept) for kept in helpers]
    # By this name a query is counted once: a row costs a row of each label's budget.
    names = [stage_session(terms.session, f"{asker}'s query {k}: ") for k in range(len(helpers))]
    counted = [
        LedgerBudget(kept.budget, holdings.ledger, kept.charge(names[k], k))
        for k, kept in enumerate(helpers)
    ]
    # The key holder compares under its own key, the coordinator under the key holder's.
    other = public_key_from_text(helpers[0].other) if name == COORDINATOR else key.public
    scorer = HiddenScorer(name, queries, key, other, counted)
    yield from scorer.nest(_prefix(asker, len(helpers)))
    return {**record, "helpers": to_value(helpers)}


def _prefix(asker: str, classifiers: int) -> str:
    return f"{asker}'s query {'0' if classifiers == 1 else 'of labels'}: "


def _query(terms: RunTerms, asker: str, kept: KeptHidden | KeptHelper) -> "QueryTerms":
    """Whose parts a query adds up: an evaluation's queries have their asker's only."""
    from sottovoce.learn.modes.queries import QueryTerms  # noqa: PLC0415 - masks need no gmpy2

    order = terms.order if asker == terms.asker else (asker,)
    bounds = (kept.modulus, kept.score_bound, kept.peers)
    return QueryTerms(terms.session, asker, order, terms.rows, *bounds)


def _weights(
    kept: KeptHidden, rows: Floats | None, number: int, own: Mask, *, asks: bool
) -> Floats:
    """A peer's part of the rows, standardised; the asker adds the intercept."""
    standard = kept.standard
    part = np.tile(kept.mean_row, (number, 1)) if rows is None else standard.apply(rows)
    masked: Floats = part * np.append(own[standard.kept.kept], asks)
    return masked
