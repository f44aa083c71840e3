"""Small communities for tests, and a vector space whose strengths can be worked out by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.schema import POSTS
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.space import Mode
from sottovoce.topics.w2v.model import SkipGramModel

WORDS = ("debt", "loan", "bank", "prozac", "sad", "tired", "baby", "clinic")
MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
# A sensitive topic and a neighbour, as a catalogue is written.
TWO_TOPICS = """
[[topic]]
name = "debts"
domain = "money"
sensitive = true
words = ["debt", "loan", "bank"]
[[topic]]
name = "loans"
domain = "money"
words = ["loan", "tired"]
"""
CATALOGUE = Catalogue(
    (
        Topic("debts", ("debt", "loan", "bank"), "money", sensitive=True),
        Topic("depression", ("prozac", "sad", "tired"), "health", sensitive=True),
        Topic("pregnancy", ("baby", "clinic"), "health", sensitive=True),
        Topic("sleep", ("tired", "baby"), "health"),
        Topic("clinics", ("clinic", "prozac"), "health"),
    )
)


def two_spaces() -> tuple[LdaModel, SkipGramModel, Catalogue]:
    """Random models over the words here, and the catalogue that names the first one's topics."""
    generator = np.random.default_rng(4)
    vocabulary, rules = Vocabulary.public(WORDS), TokenRules()
    phi = generator.dirichlet(np.full(len(WORDS), 0.3), 20).T.astype(np.float32)
    lda = LdaModel(phi, generator.random(20) + 0.05, vocabulary, rules)
    vectors = generator.normal(size=(len(WORDS), 12)).astype(np.float32)
    topics = (replace(topic, dimensions=(3 * n, 3 * n + 1)) for n, topic in enumerate(CATALOGUE))
    named = Catalogue(tuple(topics), lda.fingerprint)
    return lda, SkipGramModel(vectors, vocabulary, rules), named


@dataclass(frozen=True)
class FixedScorer:
    """The strength is the mean weight of a post's words, in quarters: ties are common."""

    topics: tuple[str, ...]
    weights: NDArray[np.float64]
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary.public(WORDS))
    rules: TokenRules = field(default_factory=TokenRules)

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        sums = np.asarray(counts @ self.weights)
        lengths = np.maximum(1, np.asarray(counts.sum(axis=1)))[:, np.newaxis]
        mean: NDArray[np.float64] = sums / lengths
        return mean

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        column = self.topics.index(topic)
        added = counts.multiply(self.weights[:, column]).multiply(
            1 / np.maximum(1, counts.sum(axis=1))[:, np.newaxis]
        )
        return sparse.csr_array(added)


@dataclass(frozen=True)
class FixedSpace:
    """A space of any name with weights in quarters from -1/4 to 1."""

    name: str = "lda"
    seed: int = 0

    @property
    def fingerprint(self) -> str:
        return f"{self.name}{self.seed}"

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> FixedScorer:
        generator = np.random.default_rng(self.seed)
        weights = generator.integers(-1, 5, (len(WORDS), len(catalogue))) / 4
        return FixedScorer(catalogue.names, weights)


@lru_cache(maxsize=64)
def random_posts(seed: int, *, users: int = 6, posts: int = 60, weeks: int = 8) -> pa.Table:
    """Posts of up to four words; some are empty."""
    generator = np.random.default_rng(seed)
    texts = [
        # Not `choice`, which makes an array of the words each time.
        " ".join(WORDS[place] for place in generator.integers(0, len(WORDS), size).tolist())
        for size in (generator.integers(0, 5) for _ in range(posts))
    ]
    hours = generator.integers(0, weeks * 7 * 24, posts).tolist()
    times = [MONDAY + timedelta(hours=hour) for hour in hours]
    names = [f"u{number}" for number in generator.integers(0, users, posts).tolist()]
    return pa.table([names, times, texts], schema=POSTS)


def write_days(days: Sequence[pa.Table]) -> None:
    """A file for each day, one with all, and `TWO_TOPICS`, in the working folder."""
    for number, day in enumerate(days):
        pq.write_table(day, f"day{number}.parquet")
    pq.write_table(pa.concat_tables(days), "all.parquet")
    Path("topics.toml").write_text(TWO_TOPICS)
