"""A count from documents to the opened sum at every party, as one script for each.

A peer's summand is the votes of its documents and its share of the noise, in integers modulo 2^64;
nothing is refused by its value, since a refusal would tell of the data. Every peer signs a digest
of the terms with its keys: a coordinator that shows peers different terms opens nothing.

**Votes** of a document are a vector of whole numbers, u >= 0 with ||u||_1 <= S, a function of the
peer's vote key, the document's id and its text (and label) alone, never of its row or of other
documents: a peer without one of its documents has exactly the same sum less that document's vector.
Whatever the choice, the promise needs no more than the bound S; the key keeps others from working
out which words of a guessed document would be counted.

Words: 1 for the document, and 1 for each of at most S - 1 of its different listed words, chosen
evenly where it has more. Pairs: S draws of two different positions, and 1 for the two words there,
in either order: L1 is exactly S, and the mean S times the document's pair counts, divided by their
sum. A document with fewer than two listed words has no pair and votes nothing.
"""

import hashlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Flags, Integers
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import DataError, InputError, ParameterError
from sottovoce.learn.count.opened import TogetherCounts, counted_record
from sottovoce.learn.count.recipe import (
    CountRecipe,
    CountTrust,
    What,
    cells_of,
    check_cells,
    state_promise,
)
from sottovoce.learn.count.spend import CountSpend, Spending, spend_name
from sottovoce.learn.documents import Documents, keyed_digest
from sottovoce.learn.features import word_counts
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.sums.keys import MaskedSum
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.message import Leakage, Learns
from sottovoce.learn.wire.stages import Stage
from sottovoce.privacy.whole_document import WholeDocument

if TYPE_CHECKING:
    from scipy import sparse

_BLOCK = 1 << 13  # documents: what is drawn for them stays in the cache's reach
_WORD_BYTES = 8
_FEWEST_POSITIONS = 2
_Script = Generator[Stage, Any, dict[str, Value]]


@dataclass(frozen=True)
class VotePlan:
    """Who may vote for what.

    Attributes:
        what: words or pairs.
        words: the public words, in the order of the cells.
        labels: the public label names, in the order of the cells; none: documents have none.
        votes: S, the most votes of a document.
        rules: what a word is.
        documents_per_user: how many documents of one user vote; None: all.
    """

    what: What
    words: tuple[str, ...]
    labels: tuple[str, ...] = ()
    votes: int = 10
    rules: TokenRules = field(default_factory=TokenRules)
    documents_per_user: int | None = None

    def __post_init__(self) -> None:
        check_cells(self.what, len(self.words), len(self.labels))

    @property
    def cells(self) -> int:
        """How many numbers a vector has."""
        return cells_of(self.what, len(self.words), len(self.labels))

    def check(self, documents: Documents) -> None:
        """Refuse documents that cannot vote, before anything is said; none at all may."""
        if not len(documents):
            return
        if self.documents_per_user is not None and documents.groups is None:
            raise InputError(
                "documents must name their users where each user's are bounded; name that column."
            )
        if not self.labels:
            return
        if documents.labels is None:
            raise InputError("documents must have labels to be counted by label, got none.")
        unknown = len(set(documents.labels) - set(self.labels))
        if unknown:
            raise DataError(
                f"documents' labels must be among the {len(self.labels)} public names, got "
                f"{unknown} others; name every label, or leave such documents out."
            )

    def sum_votes(self, key: bytes, documents: Documents) -> Integers:
        """The sum of all documents' vectors, under a peer's vote key."""
        self.check(documents)
        total = np.zeros(self.cells, np.int64)
        if self.documents_per_user is not None:
            documents = documents.part(_choose_documents(key, documents, self.documents_per_user))
        for start in range(0, len(documents), _BLOCK):
            chosen = np.zeros(len(documents), bool)
            chosen[start : start + _BLOCK] = True
            total += self._block(key, documents.part(chosen))
        return total

    def _block(self, key: bytes, documents: Documents) -> Integers:
        vocabulary = Vocabulary(self.words, data_dependent=True, origin="the words of a count")
        counts = word_counts(documents.texts, vocabulary.terms, self.rules)
        if self.what == "pairs":
            cells = _pair_cells(key, documents, counts, self.votes, len(self.words))
        else:
            cells = self._word_cells(key, documents, counts)
        return np.bincount(cells, minlength=self.cells).astype(np.int64)

    def _word_cells(
        self, key: bytes, documents: Documents, counts: "sparse.csr_array"
    ) -> NDArray[np.intp]:
        rows = np.repeat(np.arange(len(documents)), np.diff(counts.indptr))
        kept = _chosen_words(key, documents, counts, self.votes - 1)
        base = self._label_rows(documents) * (len(self.words) + 1)
        words = base[rows[kept]] + counts.indices[kept]
        return np.concatenate([words, base + len(self.words)]).astype(np.intp)

    def _label_rows(self, documents: Documents) -> Integers:
        if not self.labels or documents.labels is None:
            return np.zeros(len(documents), np.int64)
        at = {label: row for row, label in enumerate(self.labels)}
        return np.array([at[label] for label in documents.labels], np.int64)


def _chosen_words(
    key: bytes, documents: Documents, counts: "sparse.csr_array", most: int
) -> NDArray[np.intp]:
    """Of each row's entries at most ``most``, those whose random numbers are least."""
    sizes = np.diff(counts.indptr)
    drawn = np.concatenate([np.zeros(0, np.uint64), *_draw_numbers(key, documents, sizes.tolist())])
    rows = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((drawn, rows))
    place = np.arange(len(order)) - np.repeat(counts.indptr[:-1], sizes)
    return np.sort(order[place < most])


def _pair_cells(
    key: bytes, documents: Documents, counts: "sparse.csr_array", votes: int, width: int
) -> NDArray[np.intp]:
    """The cells of S draws of two different positions in each document."""
    tokens = np.repeat(counts.indices, counts.data).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts.data)])[counts.indptr]
    begins, lengths = ends[:-1], np.diff(ends)
    able = np.flatnonzero(lengths >= _FEWEST_POSITIONS)
    sizes = np.where(lengths >= _FEWEST_POSITIONS, 2 * votes, 0)
    drawn = np.concatenate([np.zeros(0, np.uint64), *_draw_numbers(key, documents, sizes.tolist())])
    first, second = np.moveaxis(drawn.reshape(len(able), votes, 2), 2, 0)
    # What 64 bits modulo a length favour some positions by is below 2^-40.
    room = lengths[able, None].astype(np.uint64)
    one = (first % room).astype(np.int64)
    other = (second % (room - np.uint64(1))).astype(np.int64)
    other += other >= one
    pair = tokens[begins[able, None, None] + np.stack([one, other], axis=2)]
    return pair_places(pair.min(axis=2).ravel(), pair.max(axis=2).ravel(), width)


def pair_places(low: Integers, high: Integers, width: int) -> NDArray[np.intp]:
    """Where pairs stand among the cells: the upper triangle row by row, as `numpy.triu_indices`."""
    return (low * width - low * (low - 1) // 2 + high - low).astype(np.intp)


def _draw_numbers(
    key: bytes, documents: Documents, sizes: Sequence[int]
) -> Iterator[NDArray[np.uint64]]:
    """So many 64-bit numbers for each document, which its id and text give under the key."""
    ids = documents.ids or [""] * len(documents)
    for name, text, size in zip(ids, documents.texts, sizes, strict=True):
        stream = hashlib.shake_256(encode_value((key, "votes", name, text)))
        yield np.frombuffer(stream.digest(_WORD_BYTES * size), "<u8")


def _choose_documents(key: bytes, documents: Documents, most: int) -> Flags:
    """The documents of each user that vote: those whose digests under the key are least.

    Which they are depends on that user's documents alone.
    """
    ids = documents.ids or [""] * len(documents)
    labels = documents.labels or [""] * len(documents)
    marks = [
        hashlib.sha256(encode_value((key, "bound", *each))).digest()
        for each in zip(ids, documents.texts, labels, strict=True)
    ]
    taken: dict[int, int] = {}
    chosen = np.zeros(len(documents), bool)
    users = [] if documents.groups is None else documents.groups.tolist()
    for at in sorted(range(len(marks)), key=marks.__getitem__):
        taken[users[at]] = taken.get(users[at], 0) + 1
        chosen[at] = taken[users[at]] <= most
    return chosen


def count_plan(_terms: RunTerms) -> tuple[str, ...]:
    """The names of all stages."""
    return ("count",)


def counting_peer(name: str, terms: RunTerms, holdings: Holdings) -> _Script:
    """A peer's part; what it takes no part in is refused at once."""
    count, identity = NoisedSum(terms), holdings.known_identity(name, terms)
    voter = find_voter(name, count, holdings)
    voter.check()

    def script() -> _Script:
        summed = yield Stage(
            "count", lambda s: MaskPeer(name, count.masked_sum(s), identity, voter.summand)
        )
        return count.record(summed.total, summed.survivors)

    return script()


def counting_helper(_name: str, terms: RunTerms, _holdings: Holdings) -> _Script:
    """The coordinator's part."""
    count = NoisedSum(terms)

    def script() -> _Script:
        summed = yield Stage("count", lambda s: MaskServer(count.masked_sum(s)))
        return count.record(summed.total, summed.survivors)

    return script()


@dataclass(frozen=True)
class NoisedSum:
    """The sum that a run's terms describe."""

    terms: RunTerms

    @property
    def recipe(self) -> CountRecipe:
        """How documents are counted."""
        if self.terms.count is None:
            raise ParameterError("a run that counts must say how; got no recipe.")
        return self.terms.count

    @cached_property
    def plan(self) -> VotePlan:
        """Who votes for what."""
        recipe, text = self.recipe, self.terms.text
        if text is None:
            raise ParameterError("a count needs the public words, got none.")
        bound = recipe.documents_per_user
        voted = (text.words, self.terms.labels, recipe.votes, text.rules)
        return VotePlan(recipe.what, *voted, bound)

    @property
    def guarantee(self) -> WholeDocument:
        """What holds for every document."""
        return state_promise(self.recipe, len(self.terms.identities))

    def masked_sum(self, session: bytes) -> MaskedSum:
        """What its parties have in common."""
        identities = self.terms.identities
        return MaskedSum(
            session,
            COORDINATOR,
            identities,
            self.plan.cells,
            threshold=self.recipe.threshold(len(identities)),
            context=hashlib.sha256(self.terms.to_bytes()).digest(),
        )

    def record(self, total: Ring, survivors: tuple[str, ...]) -> dict[str, Value]:
        """What a party keeps of the opened sum."""
        numbers, terms = np.asarray(total).view(np.int64), self.terms
        counted = TogetherCounts(
            self.plan.words, terms.labels, numbers, self.recipe, terms.peers, survivors
        )
        return counted_record(counted, terms.session)


@dataclass(frozen=True, repr=False)
class Voter:
    """What a peer brings to a count: its documents, its vote key, where it pays, whom it trusts."""

    name: str
    count: NoisedSum
    documents: Documents
    key: bytes
    spending: Spending
    trust: CountTrust

    def check(self) -> None:
        """Refuse what this peer takes no part in, before it has said anything."""
        count = self.count
        self.trust.check(self.name, count.terms.identities, count.recipe)
        self.trust.check_labels(self.name, count.plan.labels)
        count.plan.check(self.documents)
        self.spending.check(self.spend)

    def summand(self) -> Ring:
        """Votes and a share of the noise: paid for first, drawn once."""
        return self.spending.draw_once(self.spend, self._add_noise).view(np.uint64)

    def _add_noise(self) -> Integers:
        from sottovoce.privacy.shares import NoiseShare  # noqa: PLC0415 - compiled; most runs draw none

        recipe, plan = self.count.recipe, self.count.plan
        honest = recipe.honest(len(self.count.terms.identities))
        share = NoiseShare(epsilon=recipe.epsilon, norm=recipe.votes, among=honest)
        return plan.sum_votes(self.key, self.documents) + share.draw(plan.cells)

    @property
    def spend(self) -> CountSpend:
        """What its documents pay for the run."""
        name = spend_name(self.count.terms.session, self.name)
        return CountSpend.for_documents(name, self.documents, self.count.guarantee)


def find_voter(name: str, count: NoisedSum, holdings: Holdings) -> Voter:
    """What a peer brings, or what it lacks; no document at all will do.

    To refuse none would tell one document from none.
    """
    examples = holdings.examples
    if not isinstance(examples, Documents):
        raise DataError(f"{name} must bring documents: rows of numbers are not counted.")
    if holdings.spending is None or holdings.trust is None:
        raise DataError(
            f"{name} must bring a ledger and name the peers that it counts on; see [count] in its "
            "party.toml."
        )
    key = keyed_digest(holdings.wanted_secret(name), "votes")
    return Voter(name, count, examples, key, holdings.spending, holdings.trust)


def count_leakage(terms: RunTerms) -> Leakage:
    """Who learns what from a count."""
    count, parties = NoisedSum(terms), len(terms.peers)
    recipe, promise = count.recipe, count.guarantee
    total = "the sum of all documents' votes with the noise of everybody who is left"
    rows = (
        Learns("coordinator", f"who took part; {total}; no peer's own sum or number of documents"),
        Learns("every peer", f"who took part; {total}"),
    )
    more = recipe.collude + 1
    together = (
        f"the coordinator and up to {recipe.collude} of the peers learn no more of a document than "
        f"epsilon allows, from the sum less their own parts; with {more} or more of them, noise "
        f"that the promise counts on is known to them; with {recipe.threshold(parties)} peers the "
        "coordinator opens every mask and sees each peer's own noised sum"
    )
    against = (
        Learns("anybody, from any number of counts", "what their epsilons allow, added up"),
        Learns(
            "a peer that adds false votes, or none of its noise",
            "nothing more of others' documents; no votes are checked: one liar decides the result",
        ),
        Learns("everyone, for certain", promise.in_words()),
    )
    return Leakage(
        f"count together, {recipe.what}",
        rows,
        together,
        "authenticated private channels; the coordinator may lie, and peers know each other by "
        "their identities",
        against,
    )
