"""What is read from a release alike by those it is made for and by those it is to be hidden from.

Both know its cells, the law of their noise, the public map of words to columns and how frequent
words are. So both have the means of columns, what a cell says of its count, and topics learnt from
the release itself; what differs is what they ask.

How likely a person's released documents are if they concern a topic: likelihood ratios.

An adversary who knows the law of the noise can do no better than by the likelihood of the cells. A
document that speaks of topic t has, beyond the mean mu_w of each column, a passage of about four
counted words that come with the topic's shares p_tw; counts are negative binomial. With z the
cells of document d,

    ln L_dt = sum_w ln P(z_dw | mu_w + 4 p_tw) - ln P(z_dw | mu_w),

and every cell at or below 0 says the same. A passage of at most N words, whichever they are, makes
the cells likelier by a factor of e^epsilon at most: that is the promise, and `passage_test` holds
what is seen against it. L_dt may exceed it where a document says more than N words of the topic.

Documents of one person are linked. Their interest in the topic recurs, each document having a part
in it with chance 0.3. That is weighed against what else would show the topic's words: no interest,
one mention in all, an interest in the whole domain, and one in its other topics. It is the
counterpart of the measures that subtract the domain and ask for several weeks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.loop.documents import gather_rows
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.bayes import mean_counts
from sottovoce.release.classify.features import CellLikelihoods, CountFeature, ExpectedCells
from sottovoce.release.compression.decompress import column_spread
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts, Weights
from sottovoce.release.topics.estimator import PrivateTopics

_SILENT = 12.0
"""At this rate one cell in 80,000 has noise: a release without any is read as one of this rate."""
LARGEST_CELL = 20
"""Larger cells say no more of a passage: they are read as this."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A release, and what its law allows to see in it."""

    cells: Counts
    """Documents x columns, the noise included."""
    word_map: WordMap
    frequencies: Floats
    """Of the words, public: how a column is shared out to its words."""
    rate: float | None
    """Of the noise; None: there is none."""
    topic_number: int = 40
    sweeps: int = 50
    seed: int = 0

    @cached_property
    def law(self) -> NoiseLaw:
        """Of every cell's noise."""
        return NoiseLaw(_SILENT if self.rate is None else min(self.rate, _SILENT))

    @cached_property
    def spread(self) -> Weights:
        """Columns x words: the part of a column that the public prior gives each of its words."""
        return column_spread(self.word_map, self.frequencies)

    @cached_property
    def means(self) -> Floats:
        """Of each column, a document."""
        totals = np.asarray(self.cells.sum(axis=0), np.float64)
        return mean_counts(totals, self.cells.shape[0], self.law)

    @cached_property
    def expected_counts(self) -> Weights:
        """E[c | z] less E[c | 0], documents x words: what a cell tells beyond an empty one."""
        table = ExpectedCells.tabulate(self.law, self.means, CountFeature(self.law), LARGEST_CELL)
        return sparse.csr_array(table.above_zero(self.cells) @ self.spread)

    @cached_property
    def topics(self) -> Floats:
        """Topics x words, learnt from the release."""
        number = min(self.topic_number, self.cells.shape[1])
        found = PrivateTopics(
            number, rate=self.law.rate, max_iter=self.sweeps, random_state=self.seed
        ).fit(self.cells)
        return np.asarray(found.components_ @ self.spread)

    def of_columns(self, words: Floats) -> Floats:
        """Shares of words, topics x words, as shares of columns."""
        return np.asarray(words @ self.word_map.matrix.astype(np.float64))


PASSAGE = 4.0
"""Counted words of a document that speaks of a topic."""
RECURRENCE = 0.3
"""How many of a concerned person's documents do."""
# Of people: without interest, with one mention, with the whole domain, with its other topics.
OTHERWISE = (0.80, 0.10, 0.05, 0.05)
_MOST_LOG = 50.0


def log_ratios(cells: Counts, law: NoiseLaw, means: Floats, profiles: Floats) -> Floats:
    """The logarithms of L_dt, documents x topics; ``profiles`` are topics x columns."""
    supposed = np.vstack([means, means + PASSAGE * profiles])
    scores = CellLikelihoods.tabulate(law, supposed, LARGEST_CELL).scores(cells)
    return np.asarray(scores[:, 1:] - scores[:, :1])


def ratios_of(reading: Reading, profiles: Floats) -> Floats:
    """The same of a whole release, with profiles of words."""
    return log_ratios(reading.cells, reading.law, reading.means, reading.of_columns(profiles))


def summed_interest(ratios: Floats, owners: Integers, users: int) -> Floats:
    """Users x topics: if every document of theirs spoke of the topic."""
    return np.asarray(gather_rows(owners, users) @ ratios)


def recurring_interest(
    ratios: Floats, owners: Integers, users: int, domains: Sequence[str]
) -> Floats:
    """Users x topics: the logarithm of the odds for a recurring interest in the topic itself."""
    gathering = gather_rows(owners, users)
    likelihoods = np.exp(np.clip(ratios, -_MOST_LOG, _MOST_LOG))
    documents = np.maximum(np.asarray(gathering.sum(axis=1)), 1)
    of_domain = np.asarray(domains)
    odds = np.empty((users, len(domains)))
    for topic, domain in enumerate(domains):
        inside = np.flatnonzero(of_domain == domain)
        others = inside[inside != topic]
        once = np.log(gathering @ likelihoods[:, topic] / documents)
        broad = _recurring(gathering, likelihoods[:, inside])
        other = _recurring(gathering, likelihoods[:, others]) if others.size else np.zeros(users)
        explained = np.stack([np.zeros(users), once, broad, other])
        weighed = np.logaddexp.reduce(np.log(OTHERWISE)[:, None] + explained, axis=0)
        odds[:, topic] = _recurring(gathering, likelihoods[:, [topic]]) - weighed
    return odds


def _recurring(gathering: "sparse.csr_array", likelihoods: Floats) -> Floats:
    """The logarithm of P(all documents), each with a part in one of the topics, chance 0.3."""
    each = np.log(1 - RECURRENCE + RECURRENCE * likelihoods.mean(axis=1))
    return np.asarray(gathering @ each)
