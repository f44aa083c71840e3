"""What a party brings to a run: read from its own disk when a run begins, and never sent."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.corpus.read.tally import Format, ReadOptions
from sottovoce.errors import ConfigError, InputError, MissingColumnError
from sottovoce.federation._secrets import Secrets
from sottovoce.federation.config import PartyConfig, RowsFile, TextsFile
from sottovoce.federation.party._counts import counted_examples, spending
from sottovoce.federation.party._memory import PartyMemory
from sottovoce.federation.party.terms import check_accepted, opened_limit, wanted_trust
from sottovoce.federation.roster import Roster
from sottovoce.learn.documents import Documents, Examples, Table, read_labelled
from sottovoce.learn.run.party import make_party
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Party

if TYPE_CHECKING:
    from sottovoce.federation.party._run_keys import RunKeys

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
    options = ReadOptions(
        format=None if texts.format is None else Format(texts.format),
        columns=columns,
        header=True if texts.header is None else tuple(texts.header),
    )
    try:
        return read_labelled(path, options=options, labelled=labelled, document=texts.document)
    except MissingColumnError as error:
        # No command of a party maps columns: its configuration does.
        remedy = "Set text and label in [texts] of party.toml; header too if the file has none."
        raise MissingColumnError(error.missing, remedy) from None


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
    return Table.of(
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
