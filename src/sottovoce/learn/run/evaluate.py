"""A run that counts, over all peers' held-out rows, which labels were called what.

Each peer counts on its own rows; only the sum of the counts is opened, under masks. The result is
a `JointEvaluation`; of one label against the others, `ConfusionCounts`.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce._notebook import html_facts
from sottovoce.arrays import Floats
from sottovoce.errors import DataError, InputError
from sottovoce.learn.documents import Documents, Examples, Table, held_out, numbered_digests
from sottovoce.learn.modes.sums import SumStage
from sottovoce.learn.openings import check_evaluated
from sottovoce.learn.run.agree import OPENING_STAGES, opening
from sottovoce.learn.run.classify import (
    brought_record,
    brought_training,
    call_labels,
    compare_scores,
    contribute_scores,
    query_plan,
    record_head,
    trained_rows,
)
from sottovoce.learn.run.records import Record, Trained
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.run.train import RunScript
from sottovoce.learn.sums.fixed import Among
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.stages import Stage

COUNTS = "counts"


def evaluate_plan(terms: RunTerms) -> tuple[str, ...]:
    """Every peer's queries, where the classifier is nobody's to read; then the sum."""
    if terms.mode == "open":
        return (COUNTS,)
    queries = (stage for peer in terms.peers for stage in query_plan(peer))
    return (*OPENING_STAGES, *queries, COUNTS)


def evaluating_peer(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """A peer's part."""
    trained = brought_training(name, terms, holdings)
    identity = holdings.wanted_identity(name)
    among = Among.from_memory(holdings.memory, terms.session, terms.training)
    given = _as_trained(trained, holdings.wanted_examples(name))
    examples = given
    if trained.held_out:
        examples = given.part(held_out(given, trained.held_out, holdings.wanted_secret(name)))
    truth = _truth(examples, trained)
    _compare_with_earlier(name, terms, holdings, examples, trained)

    def script() -> RunScript:
        if terms.mode != "open":
            yield from opening(terms).party(name, identity)
        found = yield from _call_rows(name, terms, trained, examples)
        counts = confusion(truth[: len(found)], found, trained.labels)
        stage = count_stage(terms, len(trained.labels))
        summed = yield Stage(COUNTS, stage.peer(name, identity, counts, among=among))
        return evaluation_record(terms, trained.labels, stage.numbers.decode(summed.total))

    return script()


def evaluating_helper(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """The coordinator's part, or the key holder's, who adds nothing up."""
    record = brought_record(name, terms, holdings)
    labels = codec.texts(record, "labels")

    def script() -> RunScript:
        training = record
        if terms.mode != "open":
            yield from opening(terms).party(name)
            for peer in terms.peers:
                training = yield from compare_scores(name, terms, peer, holdings, training)
        if name != COORDINATOR:
            return {**record_head(terms), "training": training}
        stage = count_stage(terms, len(labels))
        summed = yield Stage(COUNTS, stage.adder())
        counts = evaluation_record(terms, labels, stage.numbers.decode(summed.total))
        return {**counts, "training": training}

    return script()


def _call_rows(
    name: str, terms: RunTerms, trained: Trained, examples: Examples
) -> Generator[Stage, Any, tuple[str, ...]]:
    if terms.mode == "open":
        return call_labels(trained, examples) if len(examples) else ()
    # As many rows are asked for whatever a peer has, so that the helpers do not learn how many.
    rows = np.zeros((terms.rows, len(trained.names)))
    own = trained_rows(trained, examples)[: terms.rows] if len(examples) else rows[:0]
    rows[: len(own)] = own
    every = np.ones(len(trained.names), bool)
    found = yield from contribute_scores(name, terms, trained, name, rows, every)
    return found[: len(own)]


def _compare_with_earlier(
    name: str, terms: RunTerms, holdings: Holdings, examples: Examples, trained: Trained
) -> None:
    """Refuse to be counted on a few other documents than before, if this peer remembers.

    They are known by what is classified of them, however they are spelt.
    """
    if holdings.memory is None:
        return
    # In the other modes the first rows are asked for, and no others.
    rows = len(examples) if terms.mode == "open" else terms.rows
    counted = examples.part(np.arange(len(examples)) < rows)
    found = trained_rows(trained, counted) if len(counted) else np.empty((0, 0))
    seen = Table(found, counted.labels, groups=counted.groups)
    documents = frozenset(numbered_digests(seen, holdings.wanted_secret(name)))
    fewest = terms.recipe.fewest_documents
    check_evaluated(documents, holdings.memory, terms.session, terms.training, fewest)


def _as_trained(trained: Trained, examples: Examples) -> Examples:
    """Sentences where the classifier was trained on those."""
    sentences = trained.features is not None and trained.features.recipe.unit == "sentence"
    return examples.split() if sentences and isinstance(examples, Documents) else examples


def _truth(examples: Examples, trained: Trained) -> tuple[str, ...]:
    if examples.labels is None:
        raise DataError("a peer must have labels to evaluate with, got none.")
    if unknown := set(examples.labels) - set(trained.labels):
        raise DataError(
            f"labels must be of the {len(trained.labels)} that were trained on, got "
            f"{len(unknown)} others."
        )
    return examples.labels


def confusion(
    truth: tuple[str, ...], found: tuple[str, ...], labels: tuple[str, ...]
) -> NDArray[np.float64]:
    """Rows by true label and called label."""
    counts = np.zeros((len(labels), len(labels)))
    for true, call in zip(truth, found, strict=True):
        counts[labels.index(true), labels.index(call)] += 1
    return counts


def count_stage(terms: RunTerms, labels: int) -> SumStage:
    """The sum of all peers' counts, which all of them are told.

    With the keys of its masks peers sign the terms: nobody who was told others adds to it.
    """
    counted = (COUNTS, opening(terms).digest.hex())
    summing = TrainingTerms(terms.session, terms.identities, counted, terms.recipe)
    return SumStage(summing, labels**2, summing.counts(), terms.peers, everyone=False, told=True)


def evaluation_record(terms: RunTerms, labels: tuple[str, ...], total: Floats) -> Record:
    """Counts by true label and called label, one row after the other."""
    if not total.sum():
        raise DataError(
            "an evaluation needs at least 1 row over all peers, got none; train with held_out > 0 "
            "or bring other documents."
        )
    return {**record_head(terms), "labels": labels, COUNTS: total.astype(np.int64)}


@dataclass(frozen=True)
class ConfusionCounts:
    """Counts over all peers' rows."""

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float

    @property
    def count(self) -> float:
        """All rows."""
        wrong = self.false_positive + self.false_negative
        return self.true_positive + self.true_negative + wrong

    @property
    def misclassification(self) -> float:
        """The share of rows with the wrong label."""
        return (self.false_positive + self.false_negative) / self.count

    @property
    def precision(self) -> float:
        """The share of rows called 1 that are 1; 0 if none is called so."""
        called = self.true_positive + self.false_positive
        return self.true_positive / called if called else 0.0

    @property
    def recall(self) -> float:
        """The share of rows that are 1 and are called so; 0 if none is."""
        positive = self.true_positive + self.false_negative
        return self.true_positive / positive if positive else 0.0

    def _repr_html_(self) -> str:
        return html_facts(
            {
                "rows": int(self.count),
                "misclassified": self.misclassification,
                "precision": self.precision,
                "recall": self.recall,
            }
        )


@dataclass(frozen=True)
class JointEvaluation:
    """How well a classifier does over all peers' held-out rows.

    Attributes:
        labels: the label names.
        counts: rows by true label (down) and called label (across).

    Example:
        >>> from sottovoce.learn import train
        >>> mine = (["cheap pills now", "lunch at noon"] * 8, ["spam", "ham"] * 8)
        >>> trained = train({"ada": mine, "ben": mine, "cy": mine}, held_out=0.25, penalty=0.1)
        >>> found = trained.evaluate()
        >>> found.count, found.misclassification
        (15, 0.0)
    """

    labels: tuple[str, ...]
    counts: NDArray[np.int64]

    @classmethod
    def from_record(cls, record: Mapping[str, Value]) -> "JointEvaluation":
        """From a party's result."""
        labels = codec.texts(record, "labels")
        counts = codec.array(record, COUNTS, "<i8")
        if counts.size != len(labels) ** 2:
            raise InputError("an evaluation must have counts for every label.")
        return cls(labels, counts.reshape(len(labels), -1))

    @property
    def count(self) -> int:
        """All rows."""
        return int(self.counts.sum())

    @property
    def misclassification(self) -> float:
        """The share of rows with a wrong label."""
        return 1 - float(np.trace(self.counts)) / self.count

    def of_label(self, label: str) -> ConfusionCounts:
        """One label against all others."""
        at = self.labels.index(label)
        hit = float(self.counts[at, at])
        called_so, truly = float(self.counts[:, at].sum()), float(self.counts[at].sum())
        rest = self.count - called_so - truly + hit
        return ConfusionCounts(hit, called_so - hit, truly - hit, rest)
