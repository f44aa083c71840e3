"""What a peer's trainings have opened, and whether another would open too few documents by it.

The difference of two opened sums is the sum over the documents in which they differ. So a peer
remembers of each training the digests of its documents and how many of them use each word, and
before the next:

- it refuses if between 1 and k - 1 documents were added, removed or changed since any earlier one;
- it wants a word dropped that between 1 and k - 1 of the changed documents use, or lack: in the
  difference of the two sums that word's row would be those documents.

Two documents are the same if the same is counted of them, however they are spelt: with all texts
exported again and one left out, the sums differ by that one. They are compared with their labels
and without. By other rules for words, their texts are.

What removed documents used is known without keeping them: what all used then, less what those use
that are still there. The other peers are taken to have changed nothing.

The difference of two sums of the open mode is itself G of the documents that changed, so that they
must be as many as hide one another: see `TrainedDocuments.find_changes` and `modes.guard`. Of the
hidden mode it is how many of them use each word. By the second rule that is, of fewer than ten,
none or all of them, which tells no two apart, and of more at most log2(1.07 n) bits of a word's n,
.34.

Sums of the same documents over other words, or by other labels, tell more of them, so that what was
opened is noted, and counts with what is to be opened (`EarlierSums`). The same sums of them tell
nothing new; rados are drawn again each time, and count again.

Differences are of two trainings. Three or more can be combined so that fewer documents are left,
which this does not see; who may train how often is for the peer's policy.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import DamagedRecordError, InputError, LeakError
from sottovoce.learn.documents import (
    Documents,
    Examples,
    Table,
    document_numbers,
    keyed_digest,
    numbered_digests,
)
from sottovoce.learn.features import TextRecipe, term_rows
from sottovoce.learn.sums.fixed import AmongMemory
from sottovoce.learn.wire.codec import Value, as_record, encode_value, from_value

VERSION = 2


@dataclass(frozen=True, repr=False)
class Opening:
    """What one training opens of a peer's documents; never printed.

    Attributes:
        rules: a digest of what a word is.
        words: the words that its documents use, or the columns of its rows.
        documents: their digests, of each kind that `TrainedDocuments` has.
        uses: how many of them use each word.
    """

    rules: bytes
    words: tuple[str, ...]
    documents: tuple[frozenset[bytes], ...]
    uses: Integers

    def record(self) -> dict[str, Value]:
        """As a memory keeps it."""
        return {"version": VERSION, **as_record(self)}

    @classmethod
    def read(cls, record: Mapping[str, Value]) -> "Opening":
        """What a memory kept, or DamagedRecordError."""
        if record.get("version") != VERSION:
            raise DamagedRecordError(
                f"what an earlier training opened must be kept in version {VERSION}, got "
                f"{record.get('version', 1)!r}, which also opened parts of the documents: train on "
                "documents that no earlier training had, with a new store."
            )
        return from_value({name: record[name] for name in record if name != "version"}, cls)


@dataclass(frozen=True, repr=False)
class OpenedWords:
    """Of which columns a training opened sums of documents, and what share of all use each.

    ``labelled`` are the documents with their labels, ``labels`` the number of sums by label.
    """

    documents: frozenset[bytes]
    labelled: frozenset[bytes]
    names: tuple[str, ...]
    shares: Floats
    labels: int

    def record(self) -> dict[str, Value]:
        """As a memory keeps it."""
        return as_record(self)

    @classmethod
    def read(cls, record: Mapping[str, Value]) -> "OpenedWords":
        """What a memory kept, or DamagedRecordError."""
        return from_value(record, cls)


class OpeningMemory(AmongMemory, Protocol):
    """Where a peer keeps what its trainings opened, from run to run."""

    def opened_words(self, session: bytes) -> tuple[OpenedWords, ...]:
        """Of which columns other runs than this one have opened sums."""

    def note_opened_words(self, session: bytes, opened: OpenedWords) -> None:
        """Keep of which columns this run opens sums; once, however often it is begun again."""

    def earlier(self, session: bytes) -> tuple[Opening, ...]:
        """All openings but that of this run, the oldest first."""

    def remember(self, session: bytes, opening: Opening) -> None:
        """Keep what this run opens; once, however often it is begun again."""

    def evaluated_documents(self, session: bytes, training: bytes) -> tuple[frozenset[bytes], ...]:
        """The digests of the documents of other evaluations of a training."""

    def note_evaluated(self, session: bytes, training: bytes, documents: frozenset[bytes]) -> None:
        """Keep which documents this evaluation counts; once, however often it is begun again."""

    def same_word_key(self, peers: bytes, key: bytes) -> bool:
        """Whether these peers had this key for their words before, if any; kept from now on."""


@dataclass(frozen=True, repr=False)
class ChangedDocuments:
    """Documents that two trainings differ in: how many, and how many of them use each word."""

    documents: int
    uses: Mapping[str, int]

    def unopened_words(self, fewest: int) -> frozenset[str]:
        """Words that a few of them use or lack."""
        whole = self.documents
        return frozenset(
            word for word, n in self.uses.items() if 0 < n < fewest or 0 < whole - n < fewest
        )


@dataclass(frozen=True, repr=False)
class EarlierSums:
    """What a peer's earlier trainings opened, when another is to open sums of the same documents.

    Attributes:
        memory: where that is kept,
        session: by the run's name.
        documents: that are to be summed,
        labelled: and the same with their labels.
        meant: what a column's name means, besides itself; sums that are drawn again mean something
            else in each run.
    """

    memory: OpeningMemory
    session: bytes
    documents: frozenset[bytes]
    labelled: frozenset[bytes]
    meant: str

    def name_columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """Columns as all runs name them."""
        return tuple(f"{self.meant} {name}" for name in names)

    def opened_shares(self) -> dict[str, float]:
        """Columns of which sums of some of these documents were opened, and their shares."""
        found: dict[str, float] = {}
        for each in self._of_these():
            found |= dict(zip(each.names, each.shares.tolist(), strict=True))
        return found

    def other_labels(self) -> int:
        """How many sums by label were opened while these documents had other labels."""
        found: dict[frozenset[bytes], int] = {}
        for each in self._of_these():
            if len(each.labelled & self.labelled) < len(each.documents & self.documents):
                found[each.labelled] = max(each.labels, found.get(each.labelled, 0))
        return sum(found.values())

    def _of_these(self) -> Iterable[OpenedWords]:
        opened = self.memory.opened_words(self.session)
        return (each for each in opened if each.documents & self.documents)

    def note(self, names: Iterable[str], shares: Floats, labels: int) -> None:
        """Keep of which columns sums are opened now, and by how many labels."""
        kept = self.name_columns(names), shares, labels
        opened = OpenedWords(self.documents, self.labelled, *kept)
        self.memory.note_opened_words(self.session, opened)


def changed_before(
    documents: "TrainedDocuments", memory: OpeningMemory, session: bytes, fewest: int
) -> tuple[ChangedDocuments, ...]:
    """How these documents differ from those of all earlier trainings; remembered from now on.

    A training that was begun counts, whatever came of it: part of it may have been opened. Where
    the very same documents were opened before, what came after that was compared with them then: it
    opened no word that a few of the differing documents use, so that nothing of it needs to be
    looked at again. What came before it does.
    """
    opening = documents.opening()
    written = encode_value(opening.record())
    before = takewhile(lambda each: encode_value(each.record()) != written, memory.earlier(session))
    found = tuple(changed for each in before for changed in documents.find_changes(each, fewest))
    memory.remember(session, opening)
    return found


def check_evaluated(
    documents: frozenset[bytes], memory: OpeningMemory, session: bytes, training: bytes, fewest: int
) -> None:
    """Refuse to be counted again on a few more or other documents; these are remembered.

    The counts of the one evaluation less those of the other say how these few were called.
    """
    for before in memory.evaluated_documents(session, training):
        changed = len(before ^ documents)
        if 0 < changed < fewest:
            raise LeakError(
                "an evaluation must differ from every earlier one of the same training by no "
                f"document or by at least {fewest}, got {changed} added, removed or changed: the "
                "difference of the counts would be theirs; wait for more, or put back those of "
                "before."
            )
    memory.note_evaluated(session, training, documents)


@dataclass(frozen=True, repr=False)
class TrainedDocuments:
    """The documents that a peer is about to train on.

    Attributes:
        digests: one a document, copies told apart: of its text, of that with its label, of what is
            counted of it, and of that with its label.
        used: documents by words, 1 where a document uses one.
        words: the words' names.
        rules: a digest of what a word is.
    """

    digests: tuple[tuple[bytes, ...], ...]
    used: sparse.csr_array
    words: tuple[str, ...]
    rules: bytes

    @classmethod
    def from_examples(
        cls, examples: Examples, recipe: TextRecipe | None, secret: bytes
    ) -> "TrainedDocuments":
        """Documents or rows with all that is counted of them."""
        rows, words = _word_rows(examples, recipe)
        digests = tuple(
            numbered_digests(each, secret)
            for content in (examples, _as_counted(examples, recipe, rows, words))
            for each in (replace(content, labels=None), content)
        )
        at = document_numbers(examples)
        groups = sparse.csr_array(
            (np.ones(len(at)), (at, np.arange(len(at)))), shape=(len(digests[0]), len(at))
        )
        used = sparse.csr_array((groups @ rows) > 0).astype(np.int64)
        means = () if recipe is None else (*word_rules(recipe), recipe.values)
        rules = keyed_digest(secret, "rules", means)
        return cls(digests, used, words, rules)

    @property
    def opened_digests(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """By what documents are known whose sums were opened, without their labels and with."""
        text, labelled, counted, both = map(frozenset, self.digests)
        return text | counted, labelled | both

    def opening(self) -> Opening:
        """What is to be remembered."""
        everything = np.ones(len(self.digests[0]), bool)
        known = tuple(frozenset(each) for each in self.digests)
        return Opening(self.rules, self.words, known, self._uses(everything))

    def find_changes(self, earlier: Opening, fewest: int) -> tuple[ChangedDocuments, ...]:
        """What changed since ``earlier``; LeakError if nothing may be opened."""
        kinds = slice(2, 4) if earlier.rules == self.rules else slice(0, 2)
        compared = zip(self.digests[kinds], earlier.documents[kinds], strict=True)
        return tuple(self._find_change(*each, earlier, fewest) for each in compared)

    def _find_change(
        self, digests: tuple[bytes, ...], before: frozenset[bytes], earlier: Opening, fewest: int
    ) -> ChangedDocuments:
        known = np.array([digest in before for digest in digests], bool)
        removed = len(before) - int(known.sum())
        changed = int((~known).sum()) + removed
        if not changed:
            return ChangedDocuments(0, {})
        if changed < fewest:
            raise LeakError(
                f"a training must differ from every earlier one by no document or by at least "
                f"{fewest}, got {changed} added, removed or changed: the difference of the two "
                "sums would be theirs; wait for more, or train on the documents of before."
            )
        uses = dict(zip(self.words, self._uses(~known).tolist(), strict=True))
        if removed:
            self._add_removed(uses, earlier, known)
        return ChangedDocuments(changed, uses)

    def _add_removed(
        self, uses: dict[str, int], earlier: Opening, known: NDArray[np.bool_]
    ) -> None:
        if earlier.rules != self.rules:
            raise LeakError(
                "documents were removed or changed since an earlier training, and what counts as a "
                "word too: which words those documents used cannot be told; train by the rules of "
                "before, or on the documents of before."
            )
        still = dict(zip(self.words, self._uses(known).tolist(), strict=True))
        for word, then in zip(earlier.words, earlier.uses.tolist(), strict=True):
            uses[word] = uses.get(word, 0) + then - still.get(word, 0)

    def _uses(self, mask: NDArray[np.bool_]) -> Integers:
        found: Integers = np.asarray(self.used[np.flatnonzero(mask)].sum(axis=0)).ravel()
        return found.astype(np.int64)


def word_rules(recipe: TextRecipe) -> tuple[Value, ...]:
    """What makes a word, in an order that is the same in every process."""
    rules = recipe.rules
    return (rules.shortest, tuple(sorted(rules.stop_words)), rules.stem or "", int(rules.bigrams))


def _word_rows(
    examples: Examples, recipe: TextRecipe | None
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    if isinstance(examples, Table):
        names = examples.columns or tuple(f"x{at}" for at in range(examples.rows.shape[1]))
        return sparse.csr_array((examples.rows != 0).astype(np.float64)), names
    if recipe is None or not isinstance(examples, Documents):
        raise InputError("documents need the features of the run.")
    return term_rows(examples.texts, recipe)


def _as_counted(
    examples: Examples, recipe: TextRecipe | None, rows: sparse.csr_array, words: tuple[str, ...]
) -> Examples:
    """Documents whose texts are only what is counted of them, in one order; rows as they are."""
    if recipe is None or not isinstance(examples, Documents):
        return examples
    if recipe.values == "binary":
        rows = rows > 0
    names = np.array(words, object)
    each = (rows[[at]] for at in range(rows.shape[0]))
    pairs = (sorted(zip(names[row.indices], row.data.tolist(), strict=True)) for row in each)
    return replace(examples, texts=tuple(repr(pair) for pair in pairs))
