"""What a party brings to a run: data and keys from its own disk, which are never sent."""

import csv
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sottovoce.corpus.read.corpus import open_documents
from sottovoce.errors import ConfigError, InputError, MissingColumnError
from sottovoce.federation._journal import Journal, KeptKey
from sottovoce.federation._keys import Secrets
from sottovoce.federation.config import PartyConfig, RowsFile, TextsFile
from sottovoce.federation.party.memory import PartyMemory
from sottovoce.federation.party.terms import (
    check_accepted,
    counted_examples,
    opened_limit,
    read_options,
    spending,
    wanted_trust,
)
from sottovoce.federation.roster import Roster
from sottovoce.learn.documents import Documents, Examples, Table, read_labelled
from sottovoce.learn.run.party import make_party
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Party
from sottovoce.parsing import parse_json

if TYPE_CHECKING:
    from sottovoce.learn.paillier.keys import PrivateKey

SOLVE, RADOS = "solve", "rados"
# No command of a party maps columns: its configuration does.
_REMEDY = "Set text and label in [texts] of party.toml; header too if the file has none."


class JournalReader(Protocol):
    """Whoever lets a journal be used while nobody else does: a node."""

    def read_journal(self, reading: Callable[[Journal], Any]) -> Any:  # noqa: ANN401 - what is read
        """What ``reading`` finds."""


def purposes(terms: RunTerms, name: str) -> tuple[str, ...]:
    """What a party needs keys for in a run, the most important first."""
    if name == KEY_HOLDER and terms.kind == "rados":
        return (RADOS,)
    return (SOLVE,) if name in {COORDINATOR, KEY_HOLDER} and terms.mode == "hidden" else ()


class RunKeys:
    """A helper's keys.

    ``first`` is the key of the party's folder: made at setup, it is that of the first run.
    """

    def __init__(self, node: JournalReader, first: "PrivateKey | None") -> None:
        self._node, self._first = node, first

    def of_run(self, terms: RunTerms, name: str) -> "dict[str, PrivateKey]":
        """The keys of a run by purpose; a run that uses a training has the training's."""
        wanted = purposes(terms, name)
        if wanted and terms.training:
            return {SOLVE: self._of_training(terms.training)}
        return {each: self._find_key(terms.session, each, terms.recipe.key_bits) for each in wanted}

    def forget(self, ended: Mapping[bytes, str]) -> None:
        """Wipe the keys of runs that have ended, given by session and how; hidden ones may stay."""
        for key in self._kept_keys():
            status = ended.get(key.session)
            keeps = status == "finished" and key.purpose == SOLVE
            if key.usable and status is not None and not keeps:
                self._node.read_journal(partial(_forget, key))

    def _find_key(self, session: bytes, purpose: str, bits: int) -> "PrivateKey":
        written = self._node.read_journal(lambda journal: journal.key(session, purpose))
        if written is not None:
            return _read(written)
        key = self._unused_first(bits) or _make_key(bits)
        self._keep(key, session, purpose)
        return key

    def _of_training(self, training: bytes) -> "PrivateKey":
        written = self._node.read_journal(lambda journal: journal.key(training, SOLVE))
        if written is not None:
            return _read(written)
        # A classifier of an earlier release is under the key of the folder.
        used = [key for key in self._kept_keys() if key.session == training]
        if used or self._first is None:
            raise InputError("the key of that training is gone; train again to classify.")
        return self._first

    def _unused_first(self, bits: int) -> "PrivateKey | None":
        """The key of the folder, if no run can have used it: none has a key, and none has ended."""
        first = self._first
        if first is None or first.public.bits != bits or self._kept_keys():
            return None
        return None if self._node.read_journal(_ended_runs) else first

    def _kept_keys(self) -> list[KeptKey]:
        found: list[KeptKey] = self._node.read_journal(lambda journal: journal.run_keys())
        return found

    def _keep(self, key: "PrivateKey", session: bytes, purpose: str) -> None:
        public = key.public
        body = json.dumps({"p": f"{int(key.secret.p):x}", "q": f"{int(key.secret.q):x}"}).encode()
        self._node.read_journal(
            lambda journal: journal.keep_key(session, purpose, public.fingerprint, body)
        )


def _forget(key: KeptKey, journal: Journal) -> None:
    journal.forget_key(key.session, key.purpose)


def _ended_runs(journal: Journal) -> list[bytes]:
    return [run.session for run in journal.runs() if run.status != "running"]


def _read(written: bytes) -> "PrivateKey":
    from sottovoce.learn.paillier.keys import PrivateKey  # noqa: PLC0415 - masks need no gmpy2

    fields = parse_json(written)
    return PrivateKey._trust(int(fields["p"], 16), int(fields["q"], 16))  # noqa: SLF001 - made here, and sealed since


def _make_key(bits: int) -> "PrivateKey":
    """A fresh key of the operating system's randomness, never of a run's stream.

    A thread of its own is outside the stream: a rebuilt run finds its key and draws nothing for it.
    """
    from sottovoce.learn.paillier.keys import generate_key  # noqa: PLC0415 - masks need no gmpy2

    with ThreadPoolExecutor(1, "new key") as other:
        return other.submit(generate_key, bits).result()


# From a training's session to what this party kept of it.
TrainingRecords = Callable[[bytes], Mapping[str, Value] | None]


class MachineMaker:
    """Makes this party's state machine for a run that it accepts."""

    def __init__(
        self,
        config: PartyConfig,
        roster: Roster,
        secrets: Secrets,
        records: TrainingRecords,
        memory: PartyMemory,
    ) -> None:
        self._config, self.roster, self._secrets = config, roster, secrets
        self._records, self.memory = records, memory
        self.keys: RunKeys | None = None
        """Of a helper's runs; set by whoever has the journal that they are kept in."""
        self.query_examples: dict[bytes, Examples] = {}
        """By a query's session, the rows that this peer wants classified."""

    def __call__(self, terms: bytes, name: str) -> Party:
        """The party of a run."""
        known = RunTerms.from_bytes(terms)
        check_accepted(known, self._config, self.roster)
        return make_party(known, name, self._holdings(known, name))

    def _holdings(self, terms: RunTerms, name: str) -> Holdings:
        keys = {} if self.keys is None else self.keys.of_run(terms, name)
        return Holdings(
            identity=self._secrets.identity,
            examples=self._examples(terms),
            key=next(iter(keys.values()), None),
            earlier=self._records(terms.training) if terms.training else None,
            secret=self.memory.digest_secret,
            memory=self.memory,
            ledger=self.memory,
            spending=spending(self._config, terms) if self._counts(terms) else None,
            trust=wanted_trust(self._config) if self._counts(terms) else None,
            limit=opened_limit(self._config),
        )

    def _counts(self, terms: RunTerms) -> bool:
        return terms.count is not None and self._config.party.role == "peer"

    def _examples(self, terms: RunTerms) -> Examples | None:
        if self._config.party.role != "peer":
            return None
        if terms.kind == "classify":
            return self.query_examples.get(terms.session)
        if terms.count is not None:
            return counted_examples(self._config, terms)
        return own_examples(self._config)


def own_examples(config: PartyConfig) -> Examples:
    """A peer's labelled documents or rows."""
    party = config.party
    if party.texts is not None:
        return read_texts(config.path(party.texts.file), party.texts)
    if party.rows is not None:
        return read_rows(config.path(party.rows.file), party.rows)
    raise ConfigError(
        f"{party.name} has nothing to train on; set [texts] in its party.toml to a file of texts "
        "and labels."
    )


def read_texts(path: Path, texts: TextsFile, *, labelled: bool = True) -> Documents:
    """Documents as the configuration says they are written."""
    columns = {"text": texts.text} | ({"label": texts.label} if labelled else {})
    options = read_options(texts, columns)
    try:
        return read_labelled(path, options=options, labelled=labelled, document=texts.document)
    except MissingColumnError as error:
        raise MissingColumnError(error.missing, _REMEDY) from None


def read_rows(path: Path, rows: RowsFile, *, labelled: bool = True) -> Table:
    """Rows of numbers from a CSV file with a header."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no CSV"
        raise InputError(f"cannot read {path}: {why}.") from None
    if len(lines) < 2:  # noqa: PLR2004 - a header and a row
        raise InputError(f"{path} must have a header and at least 1 row, got none.")
    head, *body = lines
    if labelled and rows.label not in head:
        raise InputError(f"{path} must have the column {rows.label!r} of labels.")
    at = head.index(rows.label) if rows.label in head else None
    return Table.from_rows(
        _numbers(body, len(head), at, path),
        [line[at] for line in body] if labelled and at is not None else None,
        [name for place, name in enumerate(head) if place != at],
    )


def _numbers(
    body: list[list[str]], width: int, label: int | None, path: Path
) -> np.typing.NDArray[np.float64]:
    if any(len(line) != width for line in body):
        raise InputError(f"{path}: every row must have {width} cells, as the header has.")
    try:
        return np.array(
            [[float(cell) for at, cell in enumerate(line) if at != label] for line in body]
        )
    except ValueError:
        raise InputError(f"{path}: every cell but the label must be a number.") from None


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
        return UnreadableData(f"{error.missing} {_REMEDY}", _others(party.name, "lacks a column"))
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
    options = read_options(texts, {"text": texts.text, "label": texts.label})
    first = next(iter(open_documents(path, options=options)))
    if first["label"].null_count < first.num_rows:
        return None
    return UnreadableData(
        f"the first {first.num_rows:,} rows of {path} have no label in the column "
        f"{texts.label!r}; set label in [texts] of party.toml to the column that has them.",
        _others(config.party.name, "has no labels"),
    )
