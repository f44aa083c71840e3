"""A simulated log of search queries, of any length, a batch at a time.

Like the AOL log of 2006: queries of two or three words, over a quarter of a year, by users of whom
few ask most. The log is in the order of time. Each user has a few interests among latent topics and
keeps to them most of the time; a topic is a Zipf distribution over its own words. Nobody is
persona or patient here: such logs are for measuring time and memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.corpus.schema import BATCH_ROWS, POSTS
from sottovoce.corpus.simulate.text import the_lexicon
from sottovoce.files import whole_file

_START = int(datetime(2006, 3, 1, tzinfo=UTC).timestamp()) * 1_000_000
_DAY = 86_400_000_000
_DAYS = 92
_WORDS_OF_A_TOPIC = 100
_INTERESTS = 4
_FAITHFUL, _TOPICAL = 0.75, 0.8
_MORE_WORDS = 1.4
_SPREAD_OF_ACTIVITY = 1.4


@dataclass(frozen=True)
class QueryLog:
    """Which log to simulate: the same numbers give the same log.

    A log of more queries by as many users asks more of the same.
    """

    queries: int = 13_000_000
    users: int = 107_000
    topics: int = 200
    seed: int = 0

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every word that a query can hold."""
        return tuple(word for word in the_lexicon().words if " " not in word)

    @cached_property
    def topic_words(self) -> NDArray[np.int64]:
        """Topics x words: the numbers of each topic's own words, the likeliest first."""
        generator = np.random.default_rng([self.seed, 0])
        rows = [
            generator.choice(len(self.words), _WORDS_OF_A_TOPIC, replace=False)
            for _ in range(self.topics)
        ]
        return np.stack(rows)

    def phi(self) -> NDArray[np.float32]:
        """Words x topics: the likelihood of each word in a query of each topic."""
        phi = np.tile((1 - _TOPICAL) * _zipf(len(self.words))[:, np.newaxis], self.topics)
        for topic, own in enumerate(self.topic_words):
            phi[own, topic] += _TOPICAL * _zipf(_WORDS_OF_A_TOPIC)
        return phi.astype(np.float32)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The log as record batches of the schema of posts."""
        generator = np.random.default_rng([self.seed, 1])
        activity = generator.lognormal(0, _SPREAD_OF_ACTIVITY, self.users)
        likely = np.cumsum(activity) / activity.sum()
        interests = generator.integers(0, self.topics, (self.users, _INTERESTS))
        names = pa.array([str(100_000 + number) for number in range(self.users)])
        for first in range(0, self.queries, BATCH_ROWS):
            size = min(BATCH_ROWS, self.queries - first)
            generator = np.random.default_rng([self.seed, 2, first])
            users = _draw_places(likely, size, generator)
            faithful = generator.random(size) < _FAITHFUL
            interest = interests[users, generator.integers(0, _INTERESTS, size)]
            topics = np.where(faithful, interest, generator.integers(0, self.topics, size))
            texts = self._draw_texts(topics, generator)
            columns = [names.take(pa.array(users)), self._times(first, size), texts]
            yield pa.RecordBatch.from_arrays(columns, schema=POSTS)

    def write(self, path: Path) -> int:
        """Write the log as Parquet, in memory that does not grow with it; its size in bytes."""
        with (
            whole_file(path) as temporary,
            pq.ParquetWriter(temporary, POSTS, compression="zstd") as writer,
        ):
            for batch in self.batches():
                writer.write_batch(batch)
        return path.stat().st_size

    def _times(self, first: int, size: int) -> pa.Array:
        passed = (first + np.arange(size)) / self.queries * (_DAYS * _DAY)
        return pa.array(_START + passed.astype(np.int64)).cast(POSTS.field("time").type)

    def _draw_texts(self, topics: NDArray[np.int64], generator: np.random.Generator) -> pa.Array:
        lengths = 1 + generator.poisson(_MORE_WORDS, topics.size)
        ends = np.concatenate([[0], np.cumsum(lengths)])
        topic = np.repeat(topics, lengths)
        likely, any_word = (np.cumsum(_zipf(n)) for n in (_WORDS_OF_A_TOPIC, len(self.words)))
        own = self.topic_words[topic, _draw_places(likely, topic.size, generator)]
        common = _draw_places(any_word, topic.size, generator)
        words = np.where(generator.random(topic.size) < _TOPICAL, own, common)
        texts = pa.array(self.words).take(pa.array(words))
        return pc.binary_join(pa.ListArray.from_arrays(pa.array(ends, pa.int32()), texts), " ")


def _draw_places(
    cumulative: NDArray[np.float64], size: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    # Sums of floats may end below 1.
    places = np.searchsorted(cumulative, generator.random(size), side="right")
    return np.minimum(places, cumulative.size - 1)


def _zipf(size: int) -> NDArray[np.float64]:
    weights = 1.0 / np.arange(1, size + 1)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares
