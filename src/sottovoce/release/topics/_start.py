"""The first topics, from pairs of words.

Every pair is known about equally well, but topics use frequent words more: what a pair tells of
them goes with its words' frequencies. So pairs weigh more the more frequent their words are, as
(f_i f_j)^(1/2) in the squares that the fit sums up: between not at all and as 1/(deviation of what
is looked for)^2, (f_i f_j)^2. What is left of the noise makes topics of rare words; they are drawn
towards the words of all documents, further the less of the pairs is more than noise.

With weights and without, Jaccard with the true topics: simulated documents, 350,000 of 72 words,
.72 and .69 at rate .5, .29 and .28 at .2, .15 and .10 at .1; 3,573 complaints .155 and .134 at .5.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.release.topics._expected import PairSums, without_trade_offs
from sottovoce.release.topics._positive import PositiveCells, TopicModel
from sottovoce.topics.cooccurrence.factorise import pair_topics

_TILT = 0.25
_COMMON, _NOISY = 0.05, 0.2
"""What topics have of the words of all, so that no word is excluded; more where pairs are noise."""


def topics_of_pairs(
    sums: PairSums, cells: PositiveCells, model: TopicModel, topics: int, seed: int
) -> Floats:
    """Topics x words that fit the pairs of ``sums``; ``cells`` say how frequent words are."""
    frequencies = cells.frequencies()
    means, covariance = frequencies * model.mean_length, sums.covariance()
    free = without_trade_offs(covariance, means, cells, model, topics)
    deviations = (frequencies / frequencies.mean()) ** -_TILT
    fitted = pair_topics(free, topics, totals=cells.totals, deviations=deviations, seed=seed)
    common = _COMMON + _NOISY * noise_share(covariance, deviations, sums.documents) ** 2
    return np.asarray((1 - common) * fitted.topics + common * frequencies)


def noise_share(covariance: Floats, deviations: Floats, documents: int) -> float:
    """How much of the pairs' sum of squares, in ``deviations``, noise alone would have: 0 to 1.

    Of independent words pair (i, j) has the variance s_i^2 s_j^2 / documents.
    """
    variances = np.diagonal(covariance) / deviations**2
    scaled = covariance / np.outer(deviations, deviations)
    squares = float((scaled**2).sum() - (variances**2).sum())
    noise = float(variances.sum() ** 2 - (variances**2).sum()) / max(documents, 1)
    return min(1.0, noise / squares) if squares > 0 else 1.0
