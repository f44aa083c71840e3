"""The data sets of studies and benches, and labelled documents as counts.

Data sets are no part of the package: they are looked for in `$SOTTOVOCE_DATA`, or in `shared/data`
beside the checkout.

The words of a study's corpus are chosen by looking at it. A release would have to declare that;
a study measures and publishes nothing, and says so in its notes.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import json
from scipy import sparse

from sottovoce.corpus.counts import count_batches, term_statistics
from sottovoce.corpus.read.bytes import check_file, readable
from sottovoce.corpus.read.corpus import Corpus, open_documents
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.words.rules import ENGLISH, TokenRules
from sottovoce.errors import CorpusError, InputError
from sottovoce.release.counts import Counts, checked_counts

ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class LdaCounts:
    """``counts`` is documents x words; the rows of the other two are distributions."""

    counts: sparse.csr_array
    topic_words: NDArray[np.float64]
    document_topics: NDArray[np.float64]


def lda_counts(
    documents: int = 1000,
    *,
    topics: int = 10,
    vocabulary: int = 100,
    alpha: float = 0.1,
    beta: float = 0.1,
    mean_length: float = 100.0,
    seed: int = 0,
) -> LdaCounts:
    """Draw word counts of ``documents`` from plain LDA.

    phi_t ~ Dirichlet(beta), theta_d ~ Dirichlet(alpha), length_d ~ Poisson(mean_length), and
    given these the words of a document are independent: its counts are
    Multinomial(length_d, theta_d phi).
    """
    model_rng, length_rng, word_rng = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3)
    )
    topic_words = model_rng.dirichlet(np.full(vocabulary, beta), topics)
    document_topics = model_rng.dirichlet(np.full(topics, alpha), documents)
    lengths = length_rng.poisson(mean_length, documents)
    blocks = [
        _draw_counts(lengths[rows], document_topics[rows] @ topic_words, word_rng)
        for rows in (slice(at, at + ROWS_AT_ONCE) for at in range(0, documents, ROWS_AT_ONCE))
    ]
    return LdaCounts(sparse.vstack(blocks, format="csr"), topic_words, document_topics)


def _draw_counts(
    lengths: NDArray[np.int64], shares: NDArray[np.float64], rng: np.random.Generator
) -> sparse.csr_array:
    normal = shares / shares.sum(axis=1, keepdims=True)
    return sparse.csr_array(rng.multinomial(lengths, normal).astype(np.int32))


VARIABLE = "SOTTOVOCE_DATA"


class DataAbsentError(InputError):
    """A data file is not on this machine."""


def data_folder() -> Path:
    """The folder of data files, whether or not it exists."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(__file__).parents[4] / "shared" / "data"


def data_file(name: str) -> Path:
    """The data file ``name``, or an error that says where it was looked for."""
    path = data_folder() / name
    if not path.is_file():
        raise DataAbsentError(
            f"{name} is not in {path.parent}. Set {VARIABLE} to the folder that has it."
        )
    return path


SIMULATED = "simulated"
# With these the complaints have 6,722 words; the paper, which does not give its rules, has 6,800.
RULES = TokenRules(stop_words=ENGLISH)
LEAST_TEXTS = 2
MOST_WORDS = 6_800
SIMULATED_WORDS = 2_000
SIMULATED_TOPICS = 25
SIMULATED_CLASSES = 5


@dataclass(frozen=True, eq=False)
class CountedCorpus:
    """Documents by words, with the words and each document's class."""

    counts: Counts
    vocabulary: tuple[str, ...]
    labels: tuple[str, ...]
    name: str = "unnamed"
    note: str = ""

    def first(self, documents: int | None) -> "CountedCorpus":
        """The first ``documents`` documents; all of them if None."""
        return replace(self, counts=self.counts[:documents], labels=self.labels[:documents])

    def shuffle_documents(self) -> "CountedCorpus":
        """The documents in a random order, always the same: a file may be sorted by class."""
        order = np.random.default_rng(0).permutation(len(self.labels))
        labels = tuple(self.labels[row] for row in order)
        return replace(self, counts=self.counts[order], labels=labels)


def load_corpus(
    source: str, *, documents: int, most_words: int = MOST_WORDS, read: ReadOptions | None = None
) -> CountedCorpus:
    """``documents`` documents at random from a known corpus, a simulated one, or a file."""
    if source == SIMULATED:
        return simulated_corpus(documents, min(most_words, SIMULATED_WORDS))
    opened = _open(source, read or ReadOptions())
    return count_documents(opened, source, most_words).shuffle_documents().first(documents)


def simulated_corpus(documents: int, words: int) -> CountedCorpus:
    """Documents of latent Dirichlet allocation; the class is their main topic, modulo five."""
    drawn = lda_counts(documents, topics=SIMULATED_TOPICS, vocabulary=words, beta=0.05)
    classes = drawn.document_topics.argmax(axis=1) % SIMULATED_CLASSES
    return CountedCorpus(
        checked_counts(drawn.counts),
        tuple(f"w{word}" for word in range(words)),
        tuple(f"class {number}" for number in classes),
        SIMULATED,
        f"The documents are simulated: {SIMULATED_TOPICS} latent topics over {words} words.",
    )


def count_documents(documents: Corpus, name: str, most_words: int = MOST_WORDS) -> CountedCorpus:
    """Count ``documents`` by the words that they themselves suggest."""
    table = documents.read_all()
    texts = table["text"].chunks
    vocabulary = term_statistics(texts, RULES).vocabulary(
        min_texts=LEAST_TEXTS, max_terms=most_words
    )
    blocks = list(count_batches(texts, vocabulary, RULES))
    labels = tuple(label or "" for label in table["label"].to_pylist())
    note = (
        f"Words: {vocabulary.origin}, without {len(ENGLISH)} English function "
        "words (a public list). So the data chose them: a release would have to declare that; a "
        f"study only measures. Documents: {documents.tally}."
    )
    counts = checked_counts(sparse.vstack(blocks, format="csr"))
    return CountedCorpus(counts, vocabulary.terms, labels, name, note)


def open_complaints(path: Path) -> Corpus:
    """Complaint narratives that nobody preprocessed, with their product."""
    check_file(path)
    with readable(str(path)):
        table = json.read_json(path)
    if "raw" not in table.column_names:
        raise CorpusError(f"{path} has no column 'raw', which marks the untouched complaints.")
    untouched = table.filter(pc.field("raw"))
    return open_documents(untouched, options=ReadOptions(columns={"label": "product"}))


def open_news(path: Path) -> Corpus:
    """News articles with their class; the file has no header."""
    return open_documents(path, options=ReadOptions(header=("text", "partition", "label")))


CORPORA: dict[str, tuple[str, Callable[[Path], Corpus]]] = {
    "complaints": ("cfpb.jsonl", open_complaints),
    "news": ("bbc-news.tsv", open_news),
}


def _open(source: str, read: ReadOptions) -> Corpus:
    if source not in CORPORA:
        return open_documents(Path(source), options=read)
    file, opener = CORPORA[source]
    try:
        path = data_file(file)
    except DataAbsentError as absent:
        raise DataAbsentError(
            f"{absent} Or run the study on simulated documents, --data {SIMULATED}, "
            "or on your own: --data FILE."
        ) from None
    return opener(path)
