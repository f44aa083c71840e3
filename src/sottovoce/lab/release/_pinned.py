"""The corpora that every reader of releases is measured on, with one way to count their words.

Tokens are [a-z]{3,}; scikit-learn's English stop list is dropped; words are the 1,000 most frequent
with a document frequency of at least 5, taken as public; documents have at least 5 tokens of them.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from sottovoce._arrays import Integers
from sottovoce.lab._data import data_file, open_complaints, open_news
from sottovoce.release._counts import Counts

WORDS = 1_000
LEAST_DOCUMENTS = 5
LEAST_TOKENS = 5
_TOKEN = re.compile(r"[a-z]{3,}")


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
    tokens = [[w for w in _TOKEN.findall(t.lower()) if w not in ENGLISH_STOP_WORDS] for t in texts]
    total = Counter(word for each in tokens for word in each)
    spread = Counter(word for each in tokens for word in set(each))
    frequent = [word for word, _ in total.most_common() if spread[word] >= LEAST_DOCUMENTS]
    words = tuple(frequent[:most_words])
    place = {word: column for column, word in enumerate(words)}
    columns = [np.array([place[w] for w in each if w in place], np.int64) for each in tokens]
    kept = [row for row, each in enumerate(columns) if each.size >= LEAST_TOKENS]
    chosen = None if labels is None else np.array([labels[row] for row in kept])
    return PinnedCorpus(name, _counted([columns[row] for row in kept], len(words)), words, chosen)


def _counted(columns: Sequence[Integers], words: int) -> Counts:
    ends = np.cumsum([0, *(each.size for each in columns)])
    places = np.concatenate(columns) if columns else np.empty(0, np.int64)
    counts = sparse.csr_array(
        (np.ones(places.size, np.int64), places, ends), shape=(len(columns), words)
    )
    counts.sum_duplicates()
    return counts


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
