"""What a reader of topics is judged by: the topics of the true text, or those that made the text.

Documents that are drawn from topics come block by block and are never all kept: a release of a
million of them is read as its readers read a folder.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Rows, row_blocks
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.topics.evaluation import match_topics

RECOGNISED = 0.3
"""A topic is recognised where its Jaccard with the one it is matched to is above this."""
MEAN_LENGTH, LENGTH_SHAPE, MIXTURE = 72.0, 4.0, 0.1
CHUNK = 4_096


@dataclass(frozen=True, eq=False)
class TopicsToFind:
    """The topics that a release is searched for: several readings of the text, or the true ones."""

    name: str
    references: tuple[Floats, ...]

    @property
    def topics(self) -> int:
        """How many there are."""
        return len(self.references[0])

    def jaccard(self, topics: Floats) -> float:
        """The mean over the references."""
        return float(np.mean([match_topics(topics, true).mean for true in self.references]))

    def count_recognised(self, topics: Floats) -> int:
        """How many of ``topics`` are recognised in most of the references."""
        close = np.zeros(len(topics))
        for true in self.references:
            match = match_topics(topics, true)
            close[match.private[match.jaccards > RECOGNISED]] += 1
        return int((close > len(self.references) / 2).sum())

    @property
    def agreement(self) -> float | None:
        """Of the references with one another; None where there is but one."""
        pairs = self._pairs()
        return float(np.mean([match_topics(*pair).mean for pair in pairs])) if pairs else None

    @property
    def seen_in_text(self) -> float | None:
        """How many topics of one reference are recognised in another; None where there is one."""
        seen = [(match_topics(*pair).jaccards > RECOGNISED).sum() for pair in self._pairs()]
        return float(np.mean(seen)) if seen else None

    def _pairs(self) -> list[tuple[Floats, Floats]]:
        known = self.references
        return [(one, other) for place, one in enumerate(known) for other in known[:place]]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Released counts of drawn documents: the same ones each time they are asked for.

    theta ~ Dirichlet(0.1), lengths Gamma of shape 4, counts Poisson, noise two-sided geometric. A
    study hides nobody: its noise is seeded.
    """

    topics: Floats = field(repr=False)
    documents: int
    law: NoiseLaw
    seed: int
    length: float = MEAN_LENGTH

    @property
    def rows(self) -> "DrawnRows":
        """What `PrivateTopics` asks a release for."""
        return self

    @property
    def is_compressed(self) -> bool:
        """Every word has its column."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        """Documents by words."""
        return self.documents, self.topics.shape[1]

    def blocks(self, rows: int) -> Iterator[Counts]:
        """In order, at most ``rows`` at a time."""
        for first in range(0, self.documents, CHUNK):
            drawn = self._chunk(first, min(CHUNK, self.documents - first))
            yield from row_blocks(drawn, min(rows, CHUNK))

    def _chunk(self, first: int, rows: int) -> Counts:
        texts = np.random.default_rng([0, first])
        theta = texts.dirichlet(np.full(len(self.topics), MIXTURE), rows)
        lengths = texts.gamma(LENGTH_SHAPE, self.length / LENGTH_SHAPE, (rows, 1))
        cells = texts.poisson(lengths * (theta @ self.topics)).astype(np.int32)
        noise = np.random.default_rng([1 + self.seed, first, round(1000 * self.law.rate)])
        return checked_counts(with_seeded_noise(cells, self.law.rate, noise), signed=True)


def with_seeded_noise(cells: NDArray[np.int32], rate: float, noise: np.random.Generator) -> Counts:
    """The cells with two-sided geometric noise in each, for studies: it hides nobody."""
    end = -np.expm1(-rate)
    cells += noise.geometric(end, cells.shape).astype(np.int32)
    cells -= noise.geometric(end, cells.shape).astype(np.int32)
    return sparse.csr_array(cells)


def first_rows(rows: Rows, documents: int) -> Counts:
    """The first of them, in memory."""
    if isinstance(rows, sparse.csr_array):
        return rows[:documents]
    kept, many = [], 0
    for block in row_blocks(rows, CHUNK):
        kept.append(block[: documents - many])
        many += kept[-1].shape[0]
        if many >= documents:
            break
    return checked_counts(sparse.vstack(kept, format="csr"), signed=True)
