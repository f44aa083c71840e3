"""From background texts, wherever they come from, to the words and counts of a training."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from scipy import sparse

from sottovoce.corpus.counts import count_batches, term_statistics
from sottovoce.corpus.read.corpus import Corpus
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import ENGLISH, TokenRules
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import CorpusError

Texts: TypeAlias = Corpus | Sequence[str]
"""A corpus that a reader opened, or texts in memory."""
MIN_TEXTS = 5
MAX_TERMS = 100_000


@dataclass(frozen=True)
class CorpusFacts:
    """What a card says about the texts a model was trained on."""

    sha256: str
    texts: int


def text_arrays(texts: Texts) -> Iterator[pa.Array]:
    """The texts, an array at a time; every call starts again."""
    if isinstance(texts, Corpus):
        for batch in texts:
            yield batch["text"]
    else:
        yield pa.array(texts, pa.large_string())


def corpus_facts(texts: Texts) -> CorpusFacts:
    """The texts' hash, which does not depend on how they were cut into batches, and number."""
    contents, lengths, rows = hashlib.sha256(), hashlib.sha256(), 0
    for array in text_arrays(texts):
        buffers = text_buffers(array)
        offsets = np.asarray(buffers.offsets, np.int64)
        contents.update(buffers.data[offsets[0] : offsets[-1]].tobytes())
        lengths.update(np.diff(offsets).astype("<i8").tobytes())
        rows += buffers.rows
    both = contents.digest() + lengths.digest()
    return CorpusFacts(hashlib.sha256(both).hexdigest(), rows)


def background_rules() -> TokenRules:
    """Words of three letters or more that are no English function words."""
    return TokenRules(shortest=3, stop_words=ENGLISH)


@dataclass(frozen=True)
class WordChoice:
    """Which words of the background a model knows, and in which form.

    >>> WordChoice(min_texts=1).choose_words(["a loan", "the loan"], public=True).terms
    ('loan',)
    """

    rules: TokenRules = field(default_factory=background_rules)
    vocabulary: Vocabulary | None = None
    """None lets the texts choose: terms in at least ``min_texts`` of them, the most frequent."""
    min_texts: int = MIN_TEXTS
    max_terms: int | None = MAX_TERMS

    def choose_words(self, texts: Texts, *, public: bool) -> Vocabulary:
        """The words; those of public texts are public, whoever chose them."""
        vocabulary = self.vocabulary
        if vocabulary is None:
            statistics = term_statistics(text_arrays(texts), self.rules)
            vocabulary = statistics.vocabulary(min_texts=self.min_texts, max_terms=self.max_terms)
        else:
            vocabulary = vocabulary.under(self.rules)
        if not public:
            return Vocabulary(vocabulary.terms, data_dependent=True, origin=vocabulary.origin)
        return Vocabulary(
            vocabulary.terms, data_dependent=False, origin=f"public texts; {vocabulary.origin}"
        )


def background_counts(
    texts: Texts, vocabulary: Vocabulary, rules: TokenRules
) -> tuple[sparse.csr_array, Vocabulary]:
    """Counts of the texts, and the words that occur in them: a model knows nothing of others."""
    blocks = list(count_batches(text_arrays(texts), vocabulary, rules))
    counts = sparse.csr_array(sparse.vstack(blocks, format="csr"))
    used = np.flatnonzero(np.bincount(counts.indices, minlength=len(vocabulary)))
    if not used.size:
        raise CorpusError("the background holds no word of the vocabulary; nothing can be learnt.")
    if used.size == len(vocabulary):
        return counts, vocabulary
    terms = tuple(vocabulary.terms[word] for word in used)
    known = Vocabulary(terms, data_dependent=vocabulary.data_dependent, origin=vocabulary.origin)
    return sparse.csr_array(counts[:, used]), known
