"""Label names, agreed through the coordinator: within a run they are public."""

from collections.abc import Generator
from typing import Any

from sottovoce.errors import InputError
from sottovoce.learn.party import DamagedMessageError, Message, Value
from sottovoce.learn.protocols.stages import Stage
from sottovoce.learn.protocols.telling import Listener, Teller
from sottovoce.learn.protocols.terms import COORDINATOR
from sottovoce.learn.runs.terms import RunTerms
from sottovoce.learn.texts.documents import NoDocumentsError

LABEL_STAGES = ("labels", "classes")
_LONGEST = 200
_FEWEST = 2


class LabelError(InputError):
    """The peers' labels do not make a problem that can be trained on."""


def own_labels(labels: tuple[str, ...] | None, terms: RunTerms) -> tuple[str, ...]:
    """A peer's label names, checked against the run's."""
    if not labels:
        raise NoDocumentsError("a peer must have labels to train with, got none.")
    names = tuple(sorted(set(labels)))
    if any(len(name) > _LONGEST for name in names) or len(names) > terms.most_classes:
        raise LabelError(
            f"a peer's labels must be at most {terms.most_classes} names of at most {_LONGEST} "
            f"characters, got {len(names)} names; is another column the labels'?"
        )
    unknown = set(names) - set(terms.labels)
    if terms.labels and unknown:
        raise LabelError(
            f"a peer's labels must be among the run's {len(terms.labels)}, got {len(unknown)} "
            "others; name all labels in the run, or leave them out to agree on them."
        )
    return names


def agreed_labels_peer(
    name: str, terms: RunTerms, own: tuple[str, ...]
) -> Generator[Stage, Any, tuple[str, ...]]:
    """Tell one's label names, and hear everybody's."""
    if terms.labels:
        return terms.labels
    piece: dict[str, Value] = {"labels": own}
    yield Stage("labels", lambda s: Teller(name, s, "labels", {COORDINATOR: piece}))
    told = yield Stage("classes", lambda s: Listener(name, s, "classes", [COORDINATOR]))
    labels = told_labels(told.heard[COORDINATOR], terms)
    if not set(own) <= set(labels) or len(labels) < _FEWEST:
        raise DamagedMessageError("the agreed labels must hold every peer's own, two at least.")
    return labels


def agreed_labels_coordinator(
    terms: RunTerms, peers: tuple[str, ...], helpers: tuple[str, ...]
) -> Generator[Stage, Any, tuple[str, ...]]:
    """Hear every peer's label names, and tell all of them to all."""
    if terms.labels:
        return terms.labels
    heard = yield Stage("labels", lambda s: Listener(COORDINATOR, s, "labels", peers))
    labels = common_labels([told_labels(said, terms) for said in heard.heard.values()], terms)
    piece: dict[str, Value] = {"labels": labels}
    pieces = dict.fromkeys((*helpers, *peers), piece)
    yield Stage("classes", lambda s: Teller(COORDINATOR, s, "classes", pieces))
    return labels


def hearing_labels(name: str, terms: RunTerms) -> Generator[Stage, Any, tuple[str, ...]]:
    """A helper hears the label names."""
    if terms.labels:
        return terms.labels
    told = yield Stage("classes", lambda s: Listener(name, s, "classes", [COORDINATOR]))
    return told_labels(told.heard[COORDINATOR], terms)


def common_labels(named: list[tuple[str, ...]], terms: RunTerms) -> tuple[str, ...]:
    """All label names in alphabetical order, or why they cannot be trained on."""
    labels = tuple(sorted({label for names in named for label in names}))
    if not _FEWEST <= len(labels) <= terms.most_classes:
        raise LabelError(
            f"the peers' labels together must be from 2 to {terms.most_classes}, got "
            f"{len(labels)}; with one there is nothing to tell apart, for more raise most_classes."
        )
    return labels


def told_labels(message: Message, terms: RunTerms) -> tuple[str, ...]:
    """Label names from outside."""
    names = message.item("labels", tuple)
    sound = all(isinstance(name, str) and 0 < len(name) <= _LONGEST for name in names)
    labels = tuple(str(name) for name in names)
    if (
        not sound
        or not 1 <= len(labels) <= terms.most_classes
        or list(labels) != sorted(set(labels))
    ):
        raise DamagedMessageError(
            f"labels must be 1 to {terms.most_classes} different names in alphabetical order."
        )
    return labels
