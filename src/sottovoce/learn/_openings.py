"""What a peer's trainings have opened, and whether another would open too few documents by it.

The difference of two opened sums is the sum over the documents in which they differ. So a peer
remembers of each training the digests of its documents and how many of them use each word, and
before the next:

- it refuses if between 1 and k - 1 documents were added, removed or changed since any earlier one;
- it wants a word dropped that between 1 and k - 1 of the changed documents use, or lack: in the
  difference of the two sums that word's row would be those documents.

Each fold that is opened is compared with the same fold of before, and all documents with all. What
removed documents used is known without keeping them: what all used then, less what those use that
are still there. The other peers are taken to have changed nothing.

Differences are of two trainings. Three or more can be combined so that fewer documents are left,
which this does not see; who may train how often is for the peer's policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce._arrays import Integers
from sottovoce.errors import InputError
from sottovoce.learn._data_digest import document_numbers, keyed_digest, numbered_digests
from sottovoce.learn._features import TextRecipe, term_rows
from sottovoce.learn._opened_among import AmongMemory
from sottovoce.learn._wire.codec import Value, array, encoded, item, parts, texts
from sottovoce.learn.documents import Documents, Examples, Table


class ChangedTooLittleError(InputError):
    """A peer's documents differ by too few from those of an earlier training."""


class OpenedPart(NamedTuple):
    """One sum: the digests of its documents, and how many of them use each word."""

    documents: frozenset[bytes]
    uses: Integers


@dataclass(frozen=True, repr=False)
class Opening:
    """What one training opens of a peer's documents; never printed.

    Attributes:
        rules: a digest of what a word is.
        words: the words that its documents use, or the columns of its rows.
        sums: all documents, then each fold that is opened.
    """

    rules: bytes
    words: tuple[str, ...]
    sums: tuple[OpenedPart, ...]

    @property
    def folds(self) -> int:
        """How many folds were opened; one is all documents."""
        return max(1, len(self.sums) - 1)

    def record(self) -> dict[str, Value]:
        """As a memory keeps it."""
        sums: tuple[Value, ...] = tuple(
            {"documents": tuple(sorted(part.documents)), "uses": part.uses} for part in self.sums
        )
        return {"rules": self.rules, "words": self.words, "sums": sums}

    @classmethod
    def read(cls, record: Mapping[str, Value]) -> "Opening":
        """What a memory kept."""
        sums = tuple(
            OpenedPart(
                frozenset(
                    each for each in item(part, "documents", tuple) if isinstance(each, bytes)
                ),
                array(part, "uses", "<i8"),
            )
            for part in parts(record, "sums")
        )
        return cls(item(record, "rules", bytes), texts(record, "words"), sums)


class OpeningMemory(AmongMemory, Protocol):
    """Where a peer keeps what its trainings opened, from run to run."""

    def earlier(self, session: bytes) -> tuple[Opening, ...]:
        """All openings but that of this run, the oldest first."""

    def remember(self, session: bytes, opening: Opening) -> None:
        """Keep what this run opens; once, however often it is begun again."""

    def evaluated(self, session: bytes, training: bytes) -> tuple[frozenset[bytes], ...]:
        """The digests of the documents of other evaluations of a training."""

    def note_evaluated(self, session: bytes, training: bytes, documents: frozenset[bytes]) -> None:
        """Keep which documents this evaluation counts; once, however often it is begun again."""

    def same_word_key(self, peers: bytes, key: bytes) -> bool:
        """Whether these peers had this key for their words before, if any; kept from now on."""


def unopened_words(
    documents: "TrainedDocuments", memory: OpeningMemory, session: bytes, fewest: int
) -> frozenset[str]:
    """Words that a training must not open, given all earlier ones; it is remembered from now on.

    A training that was begun counts, whatever came of it: part of it may have been opened. Where
    the very same documents were opened before, in the same folds, what came after that was compared
    with them then: it opened no word that a few of the differing documents use, so that nothing of
    it needs to be looked at again. What came before it does.
    """
    opening = documents.opening()
    written = encoded(opening.record())
    before = takewhile(lambda each: encoded(each.record()) != written, memory.earlier(session))
    found = frozenset[str]().union(*(documents.vetoed(each, fewest) for each in before))
    memory.remember(session, opening)
    return found


def check_evaluated(
    documents: frozenset[bytes],
    memory: OpeningMemory,
    session: bytes,
    training: bytes,
    fewest: int,
) -> None:
    """Refuse to be counted again on a few more or other documents; these are remembered.

    The counts of the one evaluation less those of the other say how these few were called.
    """
    for before in memory.evaluated(session, training):
        changed = len(before ^ documents)
        if 0 < changed < fewest:
            raise ChangedTooLittleError(
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
        digests: one a document, copies told apart.
        used: documents by words, 1 where a document uses one.
        words: the words' names.
        fold: of each document.
        folds: how many folds are opened.
        rules: a digest of what a word is.
    """

    digests: tuple[bytes, ...]
    used: sparse.csr_array
    words: tuple[str, ...]
    fold: NDArray[np.int64]
    folds: int
    rules: bytes

    @classmethod
    def of(
        cls, examples: Examples, recipe: TextRecipe | None, folds: int, secret: bytes
    ) -> "TrainedDocuments":
        """Documents or rows with all that is counted of them."""
        digests = numbered_digests(examples, secret)
        rows, words = _word_rows(examples, recipe)
        at = document_numbers(examples)
        groups = sparse.csr_array(
            (np.ones(len(at)), (at, np.arange(len(at)))), shape=(len(digests), len(at))
        )
        used = sparse.csr_array((groups @ rows) > 0).astype(np.int64)
        numbers = np.arange(len(digests)) if examples.groups is None else np.unique(examples.groups)
        rules = keyed_digest(secret, "rules", () if recipe is None else _rules(recipe))
        return cls(digests, used, words, numbers % folds, folds, rules)

    def opening(self) -> Opening:
        """What is to be remembered."""
        return Opening(self.rules, self.words, tuple(self._part(mask) for mask in self._masks()))

    def vetoed(self, earlier: Opening, fewest: int) -> frozenset[str]:
        """Words that must not be opened after ``earlier``; ChangedTooLittleError if nothing may."""
        masks = self._masks()
        shared = earlier.sums[0].documents & set(self.digests)
        if self.folds != earlier.folds and min(self.folds, earlier.folds) > 1 and shared:
            raise ChangedTooLittleError(
                f"these documents were opened in {earlier.folds} folds before, got {self.folds}: "
                "sums by two numbers of folds show smaller parts than either; use the same number."
            )
        same = self.folds == earlier.folds
        pairs = zip(masks if same else masks[:1], earlier.sums, strict=False)
        rare = (self._rare(mask, before, earlier, fewest) for mask, before in pairs)
        return frozenset[str]().union(*rare)

    def _rare(
        self, mask: NDArray[np.bool_], before: OpenedPart, earlier: Opening, fewest: int
    ) -> set[str]:
        known = np.array([digest in before.documents for digest in self.digests], bool)
        added, common = mask & ~known, mask & known
        removed = len(before.documents) - int(common.sum())
        changed = int(added.sum()) + removed
        if not changed:
            return set()
        if changed < fewest:
            raise ChangedTooLittleError(
                f"a training must differ from every earlier one by no document or by at least "
                f"{fewest}, got {changed} added, removed or changed: the difference of the two "
                "sums would be theirs; wait for more, or train on the documents of before."
            )
        uses = dict(zip(self.words, self._uses(added).tolist(), strict=True))
        if removed:
            self._add_removed(uses, before, earlier, common)
        return {word for word, n in uses.items() if 0 < n < fewest or 0 < changed - n < fewest}

    def _add_removed(
        self,
        uses: dict[str, int],
        before: OpenedPart,
        earlier: Opening,
        common: NDArray[np.bool_],
    ) -> None:
        if earlier.rules != self.rules:
            raise ChangedTooLittleError(
                "documents were removed or changed since an earlier training, and what counts as a "
                "word too: which words those documents used cannot be told; train by the rules of "
                "before, or on the documents of before."
            )
        still = dict(zip(self.words, self._uses(common).tolist(), strict=True))
        for word, then in zip(earlier.words, before.uses.tolist(), strict=True):
            uses[word] = uses.get(word, 0) + then - still.get(word, 0)

    def _masks(self) -> list[NDArray[np.bool_]]:
        everything = np.ones(len(self.digests), bool)
        each = [self.fold == k for k in range(self.folds)] if self.folds > 1 else []
        return [everything, *each]

    def _part(self, mask: NDArray[np.bool_]) -> OpenedPart:
        chosen = (digest for digest, inside in zip(self.digests, mask, strict=True) if inside)
        return OpenedPart(frozenset(chosen), self._uses(mask))

    def _uses(self, mask: NDArray[np.bool_]) -> Integers:
        found: Integers = np.asarray(self.used[np.flatnonzero(mask)].sum(axis=0)).ravel()
        return found.astype(np.int64)


def _rules(recipe: TextRecipe) -> tuple[Value, ...]:
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
