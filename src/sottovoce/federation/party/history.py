"""The history of a party: the runs of its journal, and what queries have spent of their budgets.

A helper's record of a training holds the budget of rows that peers may have classified. A query
that finished gives back the record with the budget spent; one that was aborted may have told the
asker its labels before it ended, so that its rows count as asked for too.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sottovoce.federation._journal.journal import Journal
from sottovoce.learn.count.reading import FEWEST_LABELS
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import Value, decode_value

TRAININGS = ("train", "rados")


class RunHistory(NamedTuple):
    """One run so far: its terms, how it stands, its result, when it began, why it ended."""

    session: bytes
    terms: RunTerms
    status: str
    result: Mapping[str, Value] | None
    begun: float
    ended: Mapping[str, Any] = MappingProxyType({})


def journal_history(journal: Journal) -> list[RunHistory]:
    """All runs of a journal, the oldest first."""
    found = []
    for session in journal.sessions():
        kept = journal.run(session)
        if kept is None:
            continue
        result = journal.result(session)
        record = None if result is None else record_of(result)
        terms = RunTerms.from_bytes(kept.terms)
        found.append(RunHistory(session, terms, kept.status, record, kept.begun, kept.ended))
    return found


def record_of(data: bytes) -> Mapping[str, Value]:
    """A result as its party kept it."""
    value = decode_value(data)
    return value if isinstance(value, Mapping) else {}


def latest_training(history: Iterable[RunHistory]) -> RunHistory | None:
    """The last training that was finished."""
    trained = [run for run in history if run.terms.kind in TRAININGS and run.status == "finished"]
    return trained[-1] if trained else None


def count_by_label(history: Iterable[RunHistory]) -> RunHistory | None:
    """The last count by label, if no training was finished after it."""
    found = [run for run in history if run.status == "finished" and _classifies(run.terms)]
    return found[-1] if found and found[-1].terms.kind == "count" else None


def _classifies(terms: RunTerms) -> bool:
    return terms.kind in TRAININGS or (terms.kind == "count" and len(terms.labels) >= FEWEST_LABELS)


def trained_peers(training: RunHistory) -> tuple[str, ...] | None:
    """Who had not been lost when it ended, and so has the classifier; None: nobody knows."""
    peers = (training.result or {}).get("peers")
    if not isinstance(peers, tuple):
        return None
    return tuple(name for name in peers if isinstance(name, str))


def training_record(history: Iterable[RunHistory], training: bytes) -> Mapping[str, Value] | None:
    """A party's record of the training of that name, after all queries so far."""
    record: Mapping[str, Value] | None = None
    for run in history:
        if run.terms.session == training and run.status == "finished":
            record = run.result
        elif run.terms.training == training and record is not None and "helpers" in record:
            record = _after(record, run)
    return record


def _after(record: Mapping[str, Value], run: RunHistory) -> Mapping[str, Value]:
    if run.status == "finished" and run.result is not None:
        updated = run.result.get("training")
        return updated if isinstance(updated, Mapping) else record
    if run.status == "aborted":
        askers = (run.terms.asker,) if run.terms.kind == "classify" else run.terms.peers
        for asker in askers:
            record = _charged(record, asker, run.terms.rows)
    return record


def _charged(record: Mapping[str, Value], asker: str, rows: int) -> Mapping[str, Value]:
    helpers: Any = record["helpers"]
    return {**record, "helpers": tuple(_less(each, asker, rows) for each in helpers)}


def _less(helper: Mapping[str, Any], asker: str, rows: int) -> Mapping[str, Any]:
    budget = helper["budget"]
    left, together = dict(budget["left"]), int(budget["together"])
    if rows > min(left.get(asker, 0), together):
        return helper  # it was refused whole, and nothing was told
    left[asker] -= rows
    return {**helper, "budget": {"left": left, "together": together - rows}}
