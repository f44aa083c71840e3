"""Whether a peer can read what it is to train on: said at its start, and to who proposes a run.

The peer's owner is told all; others that it cannot, and why in general: neither where its file lies
nor what else is in it.
"""

from dataclasses import dataclass

from sottovoce.corpus.read.corpus import open_documents
from sottovoce.corpus.read.tally import Format, ReadOptions
from sottovoce.errors import InputError, MissingColumnError
from sottovoce.federation.config import PartyConfig, TextsFile
from sottovoce.federation.party.holdings import read_rows
from sottovoce.learn.run.terms import RunTerms

_TRAINS = frozenset({"train", "rados"})


@dataclass(frozen=True)
class UnreadableData:
    """Why a peer cannot take part in a training."""

    to_owner: str
    to_others: str


def unreadable_data(config: PartyConfig) -> UnreadableData | None:
    """What keeps a peer from reading its file, columns or labels; None: nothing does.

    Only the first rows of a file of texts are read: what else is wrong with it shows in the run.
    """
    party = config.party
    if party.role != "peer" or (party.texts is None and party.rows is None):
        return None
    try:
        if party.texts is not None:
            return _look_at_texts(config, party.texts)
        if party.rows is not None:
            read_rows(config.path(party.rows.file), party.rows)
    except MissingColumnError as error:
        remedy = "Set text and label in [texts] of party.toml; header too if the file has none."
        return UnreadableData(f"{error.missing} {remedy}", _others(party.name, "lacks a column"))
    except InputError as error:
        return UnreadableData(str(error), _others(party.name, "cannot be read"))
    return None


def why_untrainable(config: PartyConfig, terms: RunTerms) -> str | None:
    """What a peer says to a proposed training that it cannot bring anything to; None: it can."""
    if terms.kind not in _TRAINS:
        return None
    found = unreadable_data(config)
    return None if found is None else found.to_others


def _others(name: str, why: str) -> str:
    return (
        f"{name} cannot take part: its file of data {why}; its owner is told more when it starts."
    )


def _look_at_texts(config: PartyConfig, texts: TextsFile) -> UnreadableData | None:
    path = config.path(texts.file)
    options = ReadOptions(
        format=None if texts.format is None else Format(texts.format),
        columns={"text": texts.text, "label": texts.label},
        header=True if texts.header is None else tuple(texts.header),
    )
    first = next(iter(open_documents(path, options=options)))
    if first["label"].null_count < first.num_rows:
        return None
    return UnreadableData(
        f"the first {first.num_rows:,} rows of {path} have no label in the column "
        f"{texts.label!r}; set label in [texts] of party.toml to the column that has them.",
        _others(config.party.name, "has no labels"),
    )
