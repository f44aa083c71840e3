"""Labelled documents for studies, and their counts."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sottovoce.errors import CorpusError
from sottovoce.release.counts import Counts

# Texts in; their counts and the words of the counts' columns out.
Counter: TypeAlias = Callable[[Sequence[str]], tuple[Counts, Sequence[str]]]


@dataclass(frozen=True, eq=False)
class CountedCorpus:
    """Documents by words, with the words and each document's class."""

    counts: Counts
    vocabulary: tuple[str, ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not match."""
        if self.counts.shape != (len(self.labels), len(self.vocabulary)):
            raise CorpusError(
                f"counts of shape {self.counts.shape} need as many labels and words, got "
                f"{len(self.labels)} and {len(self.vocabulary)}."
            )

    def first(self, documents: int | None) -> "CountedCorpus":
        """The first ``documents`` documents; all of them if None."""
        return CountedCorpus(self.counts[:documents], self.vocabulary, self.labels[:documents])


def count_labelled(documents: Sequence[tuple[str, str]], counter: Counter) -> CountedCorpus:
    """Count (text, label) pairs with ``counter``, the corpus layer's."""
    counts, vocabulary = counter([text for text, _ in documents])
    return CountedCorpus(counts, tuple(vocabulary), tuple(label for _, label in documents))


def read_complaints(path: Path) -> list[tuple[str, str]]:
    """Complaint narratives that nobody preprocessed, with their product."""
    with path.open(encoding="utf-8") as file:
        complaints = [json.loads(line) for line in file]
    return [(each["text"], each["product"]) for each in complaints if each["raw"]]


def read_news(path: Path) -> list[tuple[str, str]]:
    """News articles with their class."""
    with path.open(encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(text, label) for text, _, label in rows]
