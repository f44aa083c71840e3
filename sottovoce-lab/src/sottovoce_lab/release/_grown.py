"""Half the rate needs four times the documents: accuracy at fixed documents times rate squared."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.privacy.mechanism import geometric_noise
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.bayes import ClassMeans, class_sums
from sottovoce.release.classify.features import BitFeature, with_values
from sottovoce.release.classify.inputs import Labelled
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.topics.evaluation import fit_topics
from sottovoce.report.result import Row
from sottovoce.steps import repetitions
from sottovoce_lab._data import SIMULATED, DataAbsentError
from sottovoce_lab.release._clipped import accuracy
from sottovoce_lab.release.analyse_rows import AnalyseSetting, reader_row
from sottovoce_lab.release.parts import PartStore, Values, by_reader
from sottovoce_lab.release.pinned import PINNED

CLASSES = 5
TOPICS = 25
LENGTH, SHAPE = 72.0, 4.0
ALPHA = 0.1
ROWS_AT_ONCE = 4_096
TESTED = 4_000
READER, LARGEST = "naive Bayes on bits", "largest class"
# What the reader reaches where there is almost no noise; more documents would not help it.
CLEAR_DOCUMENTS, CLEAR_RATE = 16_000, 12.0


@dataclass(frozen=True, eq=False)
class SimulatedDocuments:
    """Documents of a topic model; the class is the main topic, modulo five.

    theta ~ Dirichlet(0.1), lengths Gamma with mean 72 and shape 4, counts Poisson.
    """

    topics: Floats

    @classmethod
    def fitted(cls, words: int, iterations: int) -> "SimulatedDocuments":
        """The topics of the complaints, or where these are absent some that are drawn."""
        try:
            corpus = PINNED["complaints"]()
        except DataAbsentError:
            drawn = np.random.default_rng(0).dirichlet(np.full(words, 0.05), TOPICS)
            return cls(np.asarray(drawn))
        return cls(fit_topics(corpus.counts[:, :words], TOPICS, 0, iterations=iterations))

    def blocks(self, documents: int, seed: int) -> Iterator[tuple[Counts, Integers]]:
        """Counts and classes, a block of rows at a time."""
        generator = np.random.default_rng(seed)
        for start in range(0, documents, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, documents - start)
            theta = generator.dirichlet(np.full(len(self.topics), ALPHA), rows)
            lengths = generator.gamma(SHAPE, LENGTH / SHAPE, (rows, 1))
            counts = generator.poisson(lengths * (theta @ self.topics))
            yield checked_counts(sparse.csr_array(counts)), theta.argmax(axis=1) % CLASSES


def grown_rows(
    simulated: SimulatedDocuments,
    budget: float,
    sizes: Sequence[int],
    seeds: int,
    store: PartStore | None = None,
) -> list[Row]:
    """Naive Bayes on bits at the rate sqrt(budget/documents), for each number of documents."""
    kept = store or PartStore()
    known = {"reader": "classifiers", "data": SIMULATED, "words": simulated.topics.shape[1]}
    clear = min(CLEAR_DOCUMENTS, max(sizes))
    text = kept.values(
        known | {"documents": clear, "rate": CLEAR_RATE},
        partial(_values, simulated, clear, CLEAR_RATE, 0),
    )
    rows = []
    for documents in sizes:
        rate = math.sqrt(budget / documents)
        parts = [
            kept.values(
                known | {"documents": documents, "rate": round(rate, 6), "seed": seed},
                partial(_values, simulated, documents, rate, seed),
            )
            for seed in repetitions(seeds)
        ]
        rows += _grown(simulated, budget, documents, rate, by_reader([*parts, text], "accuracy"))
    return rows


def _grown(
    simulated: SimulatedDocuments,
    budget: float,
    documents: int,
    rate: float,
    found: dict[str, list[float]],
) -> list[Row]:
    setting = AnalyseSetting(
        data=f"simulated, documents x rate^2 = {budget:g}",
        documents=documents,
        words=simulated.topics.shape[1],
        rate=rate,
        score="accuracy",
    )
    *values, reference = found[READER]
    *_, largest = found[LARGEST]
    return [
        reader_row(
            setting,
            READER,
            values,
            reference=reference,
            baseline=largest,
        )
    ]


def _values(simulated: SimulatedDocuments, documents: int, rate: float, seed: int) -> Values:
    told, largest = _told(simulated, documents, rate, seed)
    return {"accuracy": {READER: told, LARGEST: largest}}


def _told(
    simulated: SimulatedDocuments, documents: int, rate: float, seed: int
) -> tuple[float, float]:
    """The accuracy, and the largest class's share; one pass, no released document is kept."""
    feature = BitFeature(NoiseLaw(rate))
    exact = Fraction(rate).limit_denominator(10**6)
    sums: Floats = np.zeros((CLASSES, simulated.topics.shape[1]))
    sizes = np.zeros(CLASSES)
    for counts, codes in simulated.blocks(documents, 2 * seed):
        cells = checked_counts(geometric_noise(counts, exact), signed=True)
        block = Labelled(cells, codes, CLASSES)
        sums += class_sums(block, feature)
        sizes += block.sizes
    means = ClassMeans.from_sums(sums, sizes, feature)
    tested = list(simulated.blocks(TESTED, 2 * seed + 1))
    texts = sparse.csr_array(sparse.vstack([each for each, _ in tested], format="csr"))
    scores = with_values(texts, feature) @ means.weights + np.log(means.shares)
    codes = np.concatenate([each for _, each in tested])
    largest = float(np.bincount(codes).max() / codes.size)
    return accuracy(np.asarray(scores), codes), largest
