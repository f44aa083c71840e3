"""What each message is, in one sentence that needs no other knowledge.

A transcript names a message's kind and its fields; two protocols may use one kind for different
things, so that a sentence belongs to a kind together with one of its fields.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sottovoce.learn.count.recipe import promised
from sottovoce.learn.run.terms import RunTerms

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
    return f". {promised(terms.count, len(terms.identities)).in_words()}"


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
