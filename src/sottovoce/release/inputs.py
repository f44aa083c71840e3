"""What a release reads: the documents, counted and bounded per user, and public knowledge.

A corpus is told from others by a hash of its texts. The hash names the corpus to the ledger, which
keeps it under a key: on a card it would let anyone confirm a guess at the whole corpus.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from scipy import sparse

from sottovoce.corpus.clean import holding_others_words
from sottovoce.corpus.counts import count_batches, term_statistics
from sottovoce.corpus.read.corpus import Corpus, Source, open_documents, open_posts, sample_source
from sottovoce.corpus.read.guess import grouping_column, person_column
from sottovoce.corpus.read.tally import ReadOptions, Tallied
from sottovoce.corpus.schema import DOCUMENTS, POSTS
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import STOP_WORDS, TokenRules, load_stop_words
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.exact import positive_integer
from sottovoce.privacy.ledger.documents import DocumentSet, text_hash
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.groups import Grouping, checked_labels, group_names, summed_by_group
from sottovoce.release.plan import refuse_pairs

_UNDECLARED = (
    "{what} may tell something about the documents: give a public list (--vocabulary, in Python "
    "words=) and a built-in stop list, or say so with --declare-data-dependent (in Python "
    "declare_data_dependent=True); the card will say so."
)
_NOTHING_PER_PERSON = (
    "the column {} says whose each document is, and nothing is promised of all that one person "
    "wrote: k documents of theirs have k times the epsilon. --user-documents B (in Python "
    "user_documents=B) keeps at most B of each and promises B times."
)
VOUCHED = "documents with the same text as earlier released ones were taken for new ones"


@dataclass(frozen=True)
class CountsElsewhere:
    """What must be known of counts that are not here but on a cluster."""

    shape: tuple[int, int]
    nnz: int
    digests: tuple[str, str, str]


@dataclass(frozen=True, eq=False, repr=False)
class CountedDocuments:
    """Counts by a vocabulary, the corpus they come from, and how many documents were left out."""

    counts: "Counts | CountsElsewhere"
    vocabulary: Vocabulary
    corpus: str
    left_out: int = 0
    per_user: int | None = None
    """The most documents of any user, where that was bounded."""
    documents: DocumentSet | None = None
    """Those that a ledger charges."""
    labels: tuple[str, ...] | None = None
    """Public, one a document, where they are to be published."""
    grouping: Grouping | None = None
    """By what documents were put together, where a row is a group of them."""
    groups: tuple[str, ...] = ()
    """What the groups are called, in the order of the rows."""
    found: "TextsFound | None" = None
    """What was seen of the texts while they were counted."""

    @property
    def public_ids(self) -> tuple[str, ...] | None:
        """What the groups are called, where that is public and is published."""
        return self.groups if self.grouping is not None and self.grouping.ids else None

    def __repr__(self) -> str:
        rows, words = self.counts.shape
        return f"CountedDocuments(documents={rows}, words={words}, left_out={self.left_out})"


def documents_schema(user_documents: int | None) -> pa.Schema:
    """What is read of the documents; their users only where these bound them."""
    return DOCUMENTS if user_documents is None else POSTS


@dataclass(frozen=True)
class ReleaseInputs:
    """Where the documents and their words come from.

    Without a vocabulary the words are those of the documents, cut by ``min_texts`` and
    ``max_terms``. That, a vocabulary marked as data-dependent, and a stop list from a file are
    refused unless ``declared``.
    """

    corpus: Source
    reading: ReadOptions
    vocabulary: Vocabulary | None = None
    min_texts: int = 1
    max_terms: int | None = None
    stop_words: str | None = None
    user_documents: int | None = None
    declared: bool = False
    declared_new: bool = False
    """Whether documents that say what released ones said are vouched to be others."""
    labelled: bool = False
    """Whether the column of labels is public and is to be published."""
    grouping: Grouping | None = None
    """By which column documents are put together; ``reading`` maps it to the label."""

    def __post_init__(self) -> None:
        """Refuse cuts of a list that is given."""
        if self.vocabulary is not None and (self.max_terms is not None or self.min_texts != 1):
            raise ParameterError(
                "--min-texts and --max-terms (in Python min_texts=, max_terms=) choose words; "
                "--vocabulary (in Python words=) gives them. Leave one or the other out."
            )
        if self.grouping is not None and (self.labelled or self.user_documents is not None):
            raise ParameterError(
                "--by goes with neither --labels nor --user-documents (in Python by=, labels=, "
                "user_documents=): one row holds the documents of many; leave one of them out."
            )
        if self.user_documents is not None:
            positive_integer(self.user_documents, "user documents")
            if self.labelled:
                raise ParameterError(
                    "--labels and --user-documents (in Python labels=, user_documents=) are not "
                    "offered together; leave one of them out."
                )

    def read_as(self, read: Callable[[pa.Schema], ReadOptions]) -> "ReleaseInputs":
        """With the columns that nobody told, as ``read`` finds them for what is to be read."""
        reading = read(documents_schema(self.user_documents))
        if self.grouping is None:
            return replace(self, reading=reading)
        columns = sample_source(self.corpus, reading)
        by = grouping_column(columns, self.grouping.by) if columns else self.grouping.by
        grouping = replace(self.grouping, by=by)
        return replace(self, reading=reading.with_columns(label=by), grouping=grouping)

    def person_warning(self) -> str:
        """What to say where a column tells whose each document is and no user is bounded."""
        if self.grouping is not None or self.user_documents is not None:
            return ""
        column = person_column(sample_source(self.corpus, self.reading))
        return "" if column is None else _NOTHING_PER_PERSON.format(column)

    def open(self) -> Corpus:
        """The documents; with their users where these bound them."""
        opener = open_documents if self.user_documents is None else open_posts
        return opener(self.corpus, options=self.reading)

    def load(self, corpus: Corpus) -> tuple[CountedDocuments, tuple[str, ...]]:
        """The counted documents, and what about their words was declared."""
        rules = TokenRules(stop_words=load_stop_words(self.stop_words))
        declared = self.declarations(self.vocabulary)
        vocabulary = self.vocabulary or self._chosen_words(corpus, rules)
        refuse_pairs(vocabulary.terms)
        documents = count_documents(
            corpus,
            vocabulary,
            rules,
            per_user=self.user_documents,
            labelled=self.labelled,
            grouping=self.grouping,
        )
        return documents, declared + self.left_out(corpus) + self.vouched_declarations()

    def vouched_declarations(self) -> tuple[str, ...]:
        """What the caller says of documents that the ledger takes for released ones."""
        return (VOUCHED,) if self.declared_new else ()

    def _chosen_words(self, corpus: Corpus, rules: TokenRules) -> Vocabulary:
        statistics = term_statistics((batch["text"] for batch in corpus), rules)
        return statistics.vocabulary(min_texts=self.min_texts, max_terms=self.max_terms)

    def left_out(self, corpus: Tallied) -> tuple[str, ...]:
        """That a document is missing depends on what it holds: no noise covers that."""
        left_out = corpus.tally.skipped.total()
        if left_out and not self.declared:
            raise ParameterError(
                f"{left_out} rows could not be used ({corpus.tally}); their absence reveals "
                "something about them. Fix them, or say so with --declare-data-dependent "
                "(in Python declare_data_dependent=True)."
            )
        return ("rows that could not be used were left out",) if left_out else ()

    def declarations(self, vocabulary: Vocabulary | None) -> tuple[str, ...]:
        """What about the words may tell something of the documents, and was declared."""
        found = []
        if vocabulary is None or vocabulary.data_dependent:
            found.append("a vocabulary that the data chose")
        if self.stop_words is not None and self.stop_words not in STOP_WORDS:
            found.append("a stop list from a file")
        if found and not self.declared:
            raise ParameterError(_UNDECLARED.format(what=" and ".join(found)))
        return tuple(found)


def count_documents(
    batches: Iterable[pa.RecordBatch],
    vocabulary: Vocabulary,
    rules: TokenRules,
    *,
    per_user: int | None = None,
    labelled: bool = False,
    grouping: Grouping | None = None,
) -> CountedDocuments:
    """Count the column ``text``; with ``per_user`` keep each user's first so many documents.

    With ``labelled`` the column ``label`` is kept beside the counts, to be published; with a
    ``grouping`` it says to which row a document's counts are added.
    """
    identity, seen = CorpusIdentity(), TextsFound()
    bound = _Bound(per_user)
    labels: list[str | None] = []
    # The corpus is the same whatever bound is put on its users: their budgets are not told apart.
    kept = bound.limit(identity.watch(seen.watch(batches)))
    noted = labelled or grouping is not None
    texts = (batch["text"] for batch in (_noting(kept, labels) if noted else kept))
    blocks = list(count_batches(texts, vocabulary, rules))
    if not blocks:
        raise CorpusError("there is no document to release.")
    counts = sparse.csr_array(sparse.vstack(blocks))
    groups: tuple[str, ...] = ()
    if grouping is not None:
        seen.values = len(set(labels))
        counts, groups = summed_by_group(counts, group_names(labels, grouping.by))
    found = identity.digest(), bound.left_out, per_user, identity.documents()
    return CountedDocuments(
        checked_counts(counts),
        vocabulary,
        *found,
        labels=checked_labels(labels) if labelled else None,
        grouping=grouping,
        groups=groups,
        found=seen,
    )


def _noting(
    batches: Iterable[pa.RecordBatch], labels: list[str | None]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        labels += batch["label"].to_pylist()
        yield batch


@dataclass
class TextsFound:
    """What was seen of the texts on their way: how many, and how many are not only their author's.

    ``values`` of the column they are grouped by differed before replies were put to their subjects.
    """

    texts: int = 0
    with_others_words: int = 0
    values: int = 0

    def watch(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches."""
        for batch in batches:
            self.texts += batch.num_rows
            self.with_others_words += holding_others_words(batch["text"])
            yield batch


class CorpusIdentity:
    """A hash of all texts in order that does not depend on how they were cut into batches.

    And one of each text, 8 bytes long, by which a ledger knows documents wherever they lie.
    """

    def __init__(self) -> None:
        self._lengths = hashlib.sha256()
        self._bytes = hashlib.sha256()
        self._each = bytearray()

    def watch(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, their texts taken in on the way."""
        for batch in batches:
            self.add(*lengths_and_bytes(batch["text"]))
            yield batch

    def add(self, lengths: bytes, texts: bytes) -> None:
        """Take in the next texts, as `lengths_and_bytes` gives them."""
        self._lengths.update(lengths)
        self._bytes.update(texts)
        ends = np.cumsum(np.frombuffer(lengths, "<i8")).tolist()
        for start, end in pairwise([0, *ends]):
            self._each += text_hash(texts[start:end])

    def documents(self) -> DocumentSet:
        """The documents, for a ledger to charge."""
        return DocumentSet.of_hashes(self._each)

    def digest(self) -> str:
        """The corpus's name in a ledger."""
        return hashlib.sha256(self._lengths.digest() + self._bytes.digest()).hexdigest()


def lengths_and_bytes(texts: pa.Array) -> tuple[bytes, bytes]:
    """How long each text is, and all of them one after another."""
    found = text_buffers(texts)
    lengths = np.diff(found.offsets).astype("<i8").tobytes()
    return lengths, found.data[found.offsets[0] : found.offsets[-1]].tobytes()


class _Bound:
    """Lets each user's first documents through."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._seen: Counter[str] = Counter()
        self.left_out = 0

    def limit(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch if self._most is None else self._bound_batch(batch, self._most)

    def _bound_batch(self, batch: pa.RecordBatch, most: int) -> pa.RecordBatch:
        keep = []
        for user in batch["user"].to_pylist():
            self._seen[user] += 1
            keep.append(self._seen[user] <= most)
        self.left_out += len(keep) - sum(keep)
        return batch.filter(pa.array(keep, pa.bool_()))
