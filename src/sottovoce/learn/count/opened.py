"""What comes out of a count: the opened sum, what its cells mean, and how sure one can be of them.

A cell is the sum of votes and noise; the noise has mean 0 and a known law, so that every total is
unbiased and has an interval. Nothing here costs any privacy: it is made from the opened sum alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce._notebook import html_facts, html_table
from sottovoce.arrays import Integers
from sottovoce.errors import DamagedMessageError, DamagedRecordError, InputError, ParameterError
from sottovoce.learn.count.recipe import CountRecipe, What, cells_of, state_promise
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value, decode_value, encode_value, from_value, to_value
from sottovoce.privacy.opened_noise import SharesLaw
from sottovoce.privacy.whole_document import WholeDocument

VERSION = 1
_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class TogetherCounts:
    """The opened sum of a count together.

    Attributes:
        words: the public words, in the order of the cells.
        labels: the public label names in alphabetical order; none where there are none.
        totals: every cell: votes and noise, possibly negative.
        recipe: how it was counted.
        peers: who took part.
        survivors: whose votes and shares of noise are in the sum.

    Example:
        >>> import tempfile, sottovoce as sv
        >>> holders = [[f"the debt, the loan of {k}", f"a loan of {k}"] * 50 for k in range(3)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counted = sv.count_together(
        ...         holders, words=["debt", "loan"], epsilon=90, votes=3,
        ...         ledger=f"{folder}/ledger",
        ...     )
        >>> counted.word_totals.tolist(), counted.survivors
        ([[150, 300]], ('peer0', 'peer1', 'peer2'))
        >>> counted.rows(most=1)
        [{'word': 'loan', 'votes': 300, 'low': 300, 'high': 300}]
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    totals: Integers
    recipe: CountRecipe
    peers: tuple[str, ...]
    survivors: tuple[str, ...]

    def __post_init__(self) -> None:
        wanted = cells_of(self.what, len(self.words), len(self.labels))
        if self.totals.shape != (wanted,) or self.totals.dtype != np.int64:
            raise InputError(f"a count of these words must have {wanted} whole numbers.")

    @property
    def what(self) -> What:
        """What was counted, words or pairs."""
        return self.recipe.what

    @property
    def votes(self) -> int:
        """S, the most votes of a document."""
        return self.recipe.votes

    @property
    def epsilon(self) -> Fraction:
        """Of the promise to a whole document."""
        return self.recipe.epsilon

    @property
    def parties(self) -> int:
        """n, how many peers took part."""
        return len(self.peers)

    @property
    def guarantee(self) -> WholeDocument:
        """What holds for every document."""
        return state_promise(self.recipe, self.parties)

    @cached_property
    def law(self) -> SharesLaw:
        """Of the noise in each cell."""
        return SharesLaw(
            self.recipe.rate, shares=len(self.survivors), among=self.recipe.honest(self.parties)
        )

    @property
    def variance(self) -> float:
        """Of the noise in each cell."""
        return self.law.variance

    @property
    def word_totals(self) -> Integers:
        """Votes for each word, in a row for each label or in a single one."""
        return self._rows()[:, :-1]

    @property
    def document_totals(self) -> Integers:
        """About how many documents voted, for each label or in all."""
        return self._rows()[:, -1]

    @property
    def pair_totals(self) -> Integers:
        """Votes for each pair of words, symmetric, each pair's cell in both of its places."""
        if self.what != "pairs":
            raise ParameterError("these are counts of words; count pairs for pairs of words.")
        whole = np.zeros((len(self.words), len(self.words)), np.int64)
        low, high = np.triu_indices(len(self.words))
        whole[low, high] = whole[high, low] = self.totals
        return whole

    @property
    def documents(self) -> float:
        """About how many documents voted in all, by their own cells or by all votes over S."""
        if self.what == "pairs":
            return float(self.totals.sum()) / self.votes
        return float(self.document_totals.sum())

    def margin(self, level: float = 0.95) -> int:
        """How far the noise takes a cell from its votes, at most, with this probability."""
        if not 0 < level < 1:
            raise ParameterError(f"level must be between 0 and 1, got {level}.")
        beyond = 2 * self.law.at_least(np.arange(1, self.law.reach + 2))
        return int(np.argmax(beyond <= 1 - level))

    def rows(self, level: float = 0.95, most: int | None = None) -> list[dict[str, Any]]:
        """Cells in words, the largest first: their votes and intervals for what was voted.

        All intervals hold at once with ``level``, whichever cells are shown.
        """
        margin = self.margin(1 - (1 - level) / self.totals.size)
        order = np.argsort(-self.totals, kind="stable")
        shown = [at for at in order.tolist() if not self._counts_documents(at)]
        return [
            {
                **self._name_cell(at),
                "votes": int(self.totals[at]),
                "low": max(0, int(self.totals[at]) - margin),
                "high": max(0, int(self.totals[at]) + margin),
            }
            for at in shown[:most]
        ]

    def to_bytes(self) -> bytes:
        """As it is kept and travels; `from_bytes` reads it."""
        return encode_value(counted_record(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> "TogetherCounts":
        """What `to_bytes` wrote, or DamagedRecordError."""
        try:
            record = decode_value(data)
        except DamagedMessageError as error:
            raise DamagedRecordError(f"this is no count together: {error}") from None
        if not isinstance(record, Mapping):
            raise DamagedRecordError("this is no count together.")
        return cls.from_record(record)

    @classmethod
    def from_record(cls, record: Mapping[str, Value]) -> "TogetherCounts":
        """A party's result of a count, or DamagedRecordError."""
        if record.get("version") != VERSION or record.get("kind") != "count":
            raise DamagedRecordError(f"a result must be that of a count, of version {VERSION}.")
        try:
            return cls(
                codec.texts(record, "words"),
                codec.texts(record, "labels"),
                codec.array(record, "totals", "<i8"),
                from_value(codec.part(record, "recipe"), CountRecipe),
                codec.texts(record, "peers"),
                codec.texts(record, "survivors"),
            )
        except (InputError, ValueError) as error:
            raise DamagedRecordError(f"a count's result cannot be read: {error}") from None

    def _rows(self) -> Integers:
        if self.what != "words":
            raise ParameterError("these are counts of pairs; count words for words.")
        return self.totals.reshape(-1, len(self.words) + 1)

    def _counts_documents(self, cell: int) -> bool:
        return self.what == "words" and cell % (len(self.words) + 1) == len(self.words)

    def _name_cell(self, cell: int) -> dict[str, str]:
        if self.what == "pairs":
            low, high = _pair_at(cell, len(self.words))
            return {"word": self.words[low], "other": self.words[high]}
        row, column = divmod(cell, len(self.words) + 1)
        label = {"label": self.labels[row]} if self.labels else {}
        return {**label, "word": self.words[column]}

    def __repr__(self) -> str:
        return (
            f"TogetherCounts({self.what}, words={len(self.words)}, labels={len(self.labels)}, "
            f"documents={self.documents:.0f}, guarantee={str(self.guarantee)!r})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "counted": self.what,
            "documents, about": round(self.documents),
            "votes of a document, at most": self.votes,
            "standard deviation of the noise": self.variance**0.5,
            "peers": ", ".join(self.survivors),
            "promise": self.guarantee.in_words(),
        }
        table = html_table(self.rows(most=_SHOWN), "The largest cells, with 95% intervals")
        return html_facts(facts, "Counted together") + table


def counted_record(counted: TogetherCounts, session: bytes = b"") -> dict[str, Value]:
    """A count as a party keeps it."""
    return {
        "version": VERSION,
        "kind": "count",
        "session": session,
        "words": counted.words,
        "labels": counted.labels,
        "peers": counted.peers,
        "survivors": counted.survivors,
        "recipe": to_value(counted.recipe),
        "totals": counted.totals,
    }


def _pair_at(cell: int, width: int) -> tuple[int, int]:
    """The two words of a cell of the upper triangle."""
    starts = np.arange(width, dtype=np.int64) * width - _count_pairs_below(width)
    low = int(np.searchsorted(starts, cell, side="right")) - 1
    return low, cell - int(starts[low]) + low


def _count_pairs_below(width: int) -> Integers:
    rows = np.arange(width, dtype=np.int64)
    return rows * (rows - 1) // 2
