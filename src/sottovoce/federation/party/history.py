"""The history of a party: the runs of its journal, and what queries have spent of their budgets.

A helper's record of a training holds the budget of rows that peers may have classified. A query
that finished gives back the record with the budget spent; one that was aborted may have told the
asker its labels before it ended, so that its rows count as asked for too. A run's transcript is put
in words here.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sottovoce.federation._journal import Journal
from sottovoce.learn.count.reading import FEWEST_LABELS
from sottovoce.learn.count.recipe import state_promise
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
    for kept in journal.runs():
        result = journal.result(kept.session)
        record = None if result is None else record_of(result)
        terms = RunTerms.from_bytes(kept.terms)
        found.append(RunHistory(kept.session, terms, kept.status, record, kept.begun, kept.ended))
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
            record = _record_after(record, run)
    return record


def _record_after(record: Mapping[str, Value], run: RunHistory) -> Mapping[str, Value]:
    if run.status == "finished" and run.result is not None:
        updated = run.result.get("training")
        return updated if isinstance(updated, Mapping) else record
    if run.status == "aborted":
        askers = (run.terms.asker,) if run.terms.kind == "classify" else run.terms.peers
        for asker in askers:
            record = _charge_rows(record, asker, run.terms.rows)
    return record


def _charge_rows(record: Mapping[str, Value], asker: str, rows: int) -> Mapping[str, Value]:
    helpers: Any = record["helpers"]
    return {**record, "helpers": tuple(_less(each, asker, rows) for each in helpers)}


def _less(helper: Mapping[str, Any], asker: str, rows: int) -> Mapping[str, Any]:
    budget = helper["budget"]
    left, together = dict(budget["left"]), int(budget["together"])
    if rows > min(left.get(asker, 0), together):
        return helper  # it was refused whole, and nothing was told
    left[asker] -= rows
    return {**helper, "budget": {"left": left, "together": together - rows}}


ANY = "*"
UNKNOWN = "a message of a kind that this version has no words for"
MEANINGS: Mapping[tuple[str, str], str] = {
    ("propose", ANY): "the proposed run: its mode, features and peers, all of which are public",
    ("abort", ANY): "that the run has ended with an error, and its name",
    ("refusal", ANY): "that a message was refused, and why",
    # Agreeing on terms, words and labels.
    ("statement", ANY): (
        "what this peer was told, such as the run's terms, as a digest that it has signed; and how "
        "many documents it gives to a training"
    ),
    ("statements", ANY): "all peers' signed statements, so that each can be held against one's own",
    ("same", ANY): "that this helper was told the same as all peers, as a digest",
    ("keys", "key"): "a fresh public key, signed, for sealing the key of the words",
    ("directory", "keys"): "everybody's fresh public keys, with their signatures",
    ("word key", ANY): "the peers' common key for hashing words, sealed so that only peers open it",
    ("dictionary", ANY): "the numbers of the buckets that enough peers nominated a word of",
    ("labels", ANY): "which label names this peer has; no count",
    ("classes", ANY): "all label names, in their order",
    ("features", "has"): "which features this peer has (f_p)",
    ("data", ANY): "a tag of this peer's data, which says nothing but whether they are the same",
    ("kept", ANY): "which features enough documents at enough peers use; no count",
    ("allowed", ANY): "how many words' sums this party lets be opened, of so many documents",
    ("opened", "columns"): "which words' sums are to be opened: the most used ones, so many",
    ("apart", ANY): "which of them do not differ from others in a few documents only",
    # Sums under pairwise masks.
    ("keys", "masking"): "two fresh public keys, signed, for this one sum",
    ("shares", ANY): "shares of this sum's mask keys, each sealed for the peer that keeps it",
    ("sealed shares", ANY): "the other peers' sealed shares for this peer to keep",
    ("masked", "vector"): "this peer's numbers under masks, which nobody can read alone",
    ("survivors", ANY): "who has given its masked numbers",
    ("agreed", "signature"): "a signature under the list of those who gave",
    ("agreement", ANY): "everybody's signatures under that list",
    ("opened", ANY): "shares that take the masks off the sum, and off no single peer's numbers",
    ("sum", ANY): "the sum over all peers, as far as this party is told it",
    # The hidden mode.
    ("key", ANY): "a public key, under which anybody can encrypt",
    ("summand", ANY): "this peer's numbers, encrypted; who adds them up cannot open them",
    ("model", ANY): "the classifier: one number for each feature, and its penalty",
    ("shape", ANY): "how many features are kept, and which peers are left",
    ("share", ANY): "a share of the classifier under its sender's key; uniform by itself",
    ("scores", ANY): "the asked rows' scores, encrypted and masked, half for each helper",
    ("bits", ANY): "one bit for each asked row, a fair coin without the other helper's",
    ("encrypted bits", ANY): "bits of hidden numbers, which only the key holder opens",
    ("tests", ANY): "masked tests of hidden numbers in random order; all but zeros are uniform",
    ("order", ANY): "a random order of the labels for each asked row, drawn by its sender",
    ("places", ANY): "a place for each asked row, uniform without the other helper's order",
    ("wins", ANY): "how often each label's score wins, blurred and in random order",
    ("masked", ANY): "the encrypted system under masks; who opens it sees uniform numbers",
    ("answer", ANY): "an answer to a masked question; uniform without the masks",
    ("product", ANY): "a masked product of the iteration; uniform without the masks",
    ("system", ANY): "a share of the system of equations, encrypted",
    # Rados.
    ("size", ANY): "how many rows this peer has, and how large its numbers may be",
    ("examples", ANY): "this peer's rows, encrypted; the intermediary cannot open them",
    ("rados", ANY): "rados, encrypted; only the key holder opens them",
}


# In a run that counts, the same messages carry votes and noise.
COUNTED: Mapping[tuple[str, str], str] = {
    ("masked", "vector"): (
        "the votes of this peer's documents and its share of the noise, under masks, which nobody "
        "can read alone"
    ),
    ("sum", ANY): "the opened sum of all documents' votes, with the noise of everybody who is left",
}


def meaning(kind: str, fields: Iterable[str], run: str = "") -> str:
    """What a message of this kind, with these fields, is, in a run of that kind."""
    for field in (*fields, ANY):
        if run == "count" and (kind, field) in COUNTED:
            return COUNTED[kind, field]
        found = MEANINGS.get((kind, field))
        if found is not None:
            return found
    return UNKNOWN


def promise_beside(kind: str, terms: RunTerms) -> str:
    """What is promised of the opened sum of a count, beside the messages that carry it."""
    if terms.count is None or kind != "sum":
        return ""
    return f". {state_promise(terms.count, len(terms.identities)).in_words()}"


def in_words(line: Mapping[str, Any], own: str, terms: RunTerms | None = None) -> str:
    """One line of a transcript as a sentence."""
    kind = str(line.get("kind") or line["frame"])
    what = meaning(kind, line.get("fields", {}), "" if terms is None else terms.kind)
    promise = "" if terms is None else promise_beside(kind, terms)
    sent = line["sender"] == own
    way = f"sent to {line['receiver']}" if sent else f"received from {line['sender']}"
    fate = _fate(line, sent=sent)
    return f"{way}: {what}; {line['bytes']:,} bytes{fate}." + promise.removeprefix(".")


def _fate(line: Mapping[str, Any], *, sent: bool) -> str:
    state = str(line.get("state"))
    if sent:
        return {"0": ", not yet acknowledged", "-1": ", never delivered"}.get(state, "")
    return {"held": ", not yet used", "dropped": ", dropped"}.get(state, "")
