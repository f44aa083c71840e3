"""The corpora that every reader of releases is measured on, with one way to count their words.

Tokens are whole words [a-z]{3,}; scikit-learn's English stop list is dropped; words are the 1,000
most frequent with a document frequency of at least 5, taken as public; documents have at least 5
tokens of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from sottovoce.lab._data import data_file, open_complaints, open_news
from sottovoce.release._counts import Counts, checked_counts

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

    def first(self, documents: int | None) -> "PinnedCorpus":
        """``documents`` of them, drawn with the same seed always; all if None."""
        if documents is None or documents >= self.counts.shape[0]:
            return self
        rows = np.random.default_rng(0).permutation(self.counts.shape[0])[:documents]
        labels = None if self.labels is None else self.labels[rows]
        return PinnedCorpus(self.name, self.counts[rows], self.words, labels)


def pinned(
    name: str, texts: Sequence[str], labels: Sequence[str] | None, most_words: int = WORDS
) -> PinnedCorpus:
    """Count ``texts`` in the pinned way."""
    counter = CountVectorizer(
        token_pattern=TOKENS,
        stop_words="english",
        max_features=most_words,
        min_df=LEAST_DOCUMENTS,
    )
    counts = sparse.csr_array(counter.fit_transform(texts))
    order = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")
    kept = np.flatnonzero(np.asarray(counts.sum(axis=1)).ravel() >= LEAST_TOKENS)
    chosen = None if labels is None else np.array(labels)[kept]
    words = tuple(counter.get_feature_names_out()[order].tolist())
    return PinnedCorpus(name, checked_counts(counts[kept][:, order]), words, chosen)


def _labelled(opener: Callable[[Path], object], file: str, name: str) -> PinnedCorpus:
    corpus: object = opener(data_file(file))
    table = corpus.read_all()  # type: ignore[attr-defined] # a Corpus, whichever opener made it
    return pinned(name, table["text"].to_pylist(), table["label"].to_pylist())


def _complaints() -> PinnedCorpus:
    return _labelled(open_complaints, "cfpb.jsonl", "complaints")


def _news() -> PinnedCorpus:
    return _labelled(open_news, "bbc-news.tsv", "news")


def _background() -> PinnedCorpus:
    table = parquet.read_table(data_file("background.parquet"), columns=["src", "text"])
    return pinned("background", table["text"].to_pylist(), table["src"].to_pylist())


def _blogs() -> PinnedCorpus:
    table = parquet.read_table(data_file("blogs-background.parquet"), columns=["text"])
    return pinned("blogs", table["text"].to_pylist(), None)


PINNED: dict[str, Callable[[], PinnedCorpus]] = {
    "complaints": _complaints,
    "news": _news,
    "blogs": _blogs,
    "background": _background,
}
