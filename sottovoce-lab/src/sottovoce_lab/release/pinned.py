"""The corpora that every reader of releases is measured on, with one way to count their words.

Tokens are whole words [a-z]{3,}; scikit-learn's English stop list is dropped; words are the 1,000
most frequent with a document frequency of at least 5, taken as public; documents have at least 5
tokens of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from sottovoce.release.counts import Counts, checked_counts
from sottovoce_lab._data import CORPORA, DataAbsentError, data_file
from sottovoce_lab.release.parts import Parameters

WORDS = 1_000
LEAST_DOCUMENTS = 5
LEAST_TOKENS = 5
TOKENS = r"\b[a-z]{3,}\b"


@dataclass(frozen=True, eq=False)
class PinnedCorpus:
    """Documents by words; ``labels`` where the corpus has classes."""

    name: str
    counts: Counts
    words: tuple[str, ...]
    labels: NDArray[np.str_] | None

    def part_parameters(self, reader: str, rate: str | float | None) -> Parameters:
        """By what the store of parts knows one reader's part on this corpus at this rate."""
        documents, words = self.counts.shape
        sizes = {"documents": documents, "words": words}
        return {"reader": reader, "data": self.name, **sizes, "rate": rate}

    def first(self, documents: int | None) -> "PinnedCorpus":
        """``documents`` of them, drawn with the same seed always; all if None."""
        if documents is None or documents >= self.counts.shape[0]:
            return self
        rows = np.random.default_rng(0).permutation(self.counts.shape[0])[:documents]
        labels = None if self.labels is None else self.labels[rows]
        return PinnedCorpus(self.name, self.counts[rows], self.words, labels)


def count_pinned(
    name: str, texts: Sequence[str], labels: Sequence[str] | None, most_words: int = WORDS
) -> PinnedCorpus:
    """Count ``texts`` in the pinned way."""
    counter = CountVectorizer(
        token_pattern=TOKENS, stop_words="english", max_features=most_words, min_df=LEAST_DOCUMENTS
    )
    counts = sparse.csr_array(counter.fit_transform(texts))
    order = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")
    kept = np.flatnonzero(np.asarray(counts.sum(axis=1)).ravel() >= LEAST_TOKENS)
    chosen = None if labels is None else np.array(labels)[kept]
    words = tuple(counter.get_feature_names_out()[order].tolist())
    return PinnedCorpus(name, checked_counts(counts[kept][:, order]), words, chosen)


Texts = tuple[Sequence[str], Sequence[str] | None]


SINGLE_SOURCES = ("medquad", "dbpedia", "reuters_19", "questionDoctor_ans")
"""Sources of the background texts that are corpora of their own, fixed before LDA was a reader."""
_BACKGROUND = dict.fromkeys(("background", *SINGLE_SOURCES), "background.parquet")
FILES = {name: file for name, (file, _) in CORPORA.items()}
FILES |= {"blogs": "blogs-background.parquet", **_BACKGROUND}


def is_here(name: str) -> bool:
    """Whether the file of that corpus is on this machine."""
    try:
        data_file(FILES[name])
    except DataAbsentError:
        return False
    return True


def _read_texts(name: str) -> Texts:
    """Texts and their classes: of background texts their sources; blog openings have none."""
    path = data_file(FILES[name])
    if name in CORPORA:
        table = CORPORA[name][1](path).read_all()
        return table["text"].to_pylist(), table["label"].to_pylist()
    if name == "blogs":
        return parquet.read_table(path, columns=["text"])["text"].to_pylist(), None
    table = parquet.read_table(path, columns=["src", "text"])
    if name == "background":
        return table["text"].to_pylist(), table["src"].to_pylist()
    return table.filter(pc.field("src") == name)["text"].to_pylist(), None


def count_corpus(name: str, most_words: int = WORDS) -> PinnedCorpus:
    """The corpus of that name, with as many of its most frequent words."""
    return count_pinned(name, *_read_texts(name), most_words)


PINNED: dict[str, Callable[[], PinnedCorpus]] = {
    name: partial(count_corpus, name) for name in FILES
}
