"""Topics of votes for pairs of words, where each cell has noise of one known variance.

The expected votes of words i and j that are used without regard to one another are
L_ij = N f_i f_j, with N the ordered pairs in all and f the words' shares of them. Documents that
are about something add to that: a topic k with word probabilities b_k adds w_k b_ki b_kj. So

    E[votes_ij] = s L_ij + sum_k w_k b_ki b_kj,

where s is the share of pairs whose two words have nothing to do with one another: w/(w + 1) if
documents mix topics by a Dirichlet distribution of weight w (Arora et al. 2013). A cell's variance
is about v + 3 L_ij: of the noise, which is known, and of chance, three times that of single votes
since those of one document fall on few pairs.

Frequent words are known best. Topics are fitted to the pairs of words whose votes stand well above
the noise, and each other word is then given to the topics beside whose words it stands. A search
over the pairs of all words ends in topics of rare ones, which are mostly noise: with 1,000 words at
epsilon 2 their Jaccard was .26 instead of .28. Where fewer dimensions than half of the topics stand
above the noise, topics are drawn towards the words of all documents, further the fewer they are.

s is not known. Several values are tried, and the noise itself decides: a cell z of variance t is
cut into two readings, z + g/3 and z - 3 g with g normal of variance t, which are independent of one
another where z is normal. Topics are fitted to the first reading and judged by the second, as held
out documents would judge them; of an opened sum no document can be held out.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import special
from threadpoolctl import threadpool_limits

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import ParameterError
from sottovoce.topics.cooccurrence.factorise import (
    TINY,
    Singles,
    as_distributions,
    checked_pairs,
    descend,
    leading_topics,
)


def weighted_factors(
    pairs: Floats, weights: Floats, start: Floats, unit: Floats, steps: int
) -> Floats:
    """W >= 0, words x topics, with least sum over cells of weights (pairs - W W')^2.

    Args:
        pairs: what W W' should be; symmetric.
        weights: one for each cell, symmetric, 0 where a cell says nothing.
        start: where the search begins.
        unit: the step of each word's entries, such as the root of its frequency.
        steps: of descent.

    W is the square of what moves, so that it stays >= 0; each entry moves in its word's own unit,
    at a speed that its recent slopes set (Kingma and Ba 2015), slower towards the end.
    """
    size = max(float(np.mean(start)), TINY)
    held: Singles = (pairs / size**2).astype(np.float32)
    known: Singles = (weights / max(float(weights.mean()), TINY)).astype(np.float32)
    root: Singles = np.sqrt(start / size + 1e-4).astype(np.float32)
    own = unit[:, None].astype(np.float32)
    root = descend(root, own, lambda root: _slope(held, known, root), steps)
    return np.asarray((root * root).astype(np.float64) * size)


def _slope(pairs: Singles, weights: Singles, root: Singles) -> Singles:
    """Of half the weighted misfit, by ``root``, up to a constant."""
    weighted = root * root
    apart = weighted @ weighted.T
    apart -= pairs
    apart *= weights
    return np.asarray((apart @ weighted) * root)


SHARES = (0.0, 0.3)
"""Tried for the pairs of words that have nothing to do with one another."""
_BUNCHED = 3.0
"""How many times the variance of chance is that of votes that do not come in bunches."""
_CLEAR, _A_TOPIC = 6.0, 4
"""A word's votes are clear so many standard errors above 0; at least so many words a topic are."""
_NOISY = 0.5
"""What topics have of the words of all where no dimension stands above the noise."""
_ROUNDS = 200
"""Of projected descent, for the words that are not."""
_CUT = 1 / 3
_FEWEST_WORDS = 3
_TINY, _FAR = 1e-12, 1e3


@dataclass(frozen=True, eq=False)
class NoisedPairTopics:
    """Topics that were read from noised votes for pairs of words."""

    topics: Floats
    """The probability of each word in each topic: topics x words, rows sum to 1."""
    weights: Floats
    """The share of the pairs that are of each topic; they sum to 1."""
    frequencies: Floats
    """How often each word is used, drawn together as far as the noise asks; they sum to 1."""
    share: float
    """The share of pairs without a topic that was chosen."""
    held_out: dict[str, float] = field(repr=False)
    """Of each share tried, the misfit of what was held out, in variances a cell; less is better."""
    dimensions: int
    """How many directions of the pairs stand above what noise and chance make."""


def noised_pair_topics(
    votes: Floats,
    topics: int,
    *,
    variance: float,
    shares: tuple[float, ...] = SHARES,
    steps: int = 400,
    seed: int = 0,
) -> NoisedPairTopics:
    """The ``topics`` whose documents would have voted for pairs of words as was counted.

    Args:
        votes: of each pair of words, with noise; words x words, symmetric, each pair's cell in both
            of its places. The diagonal is not looked at.
        topics: how many.
        variance: of the noise in each cell; 0: there is none.
        shares: tried for the pairs that have no topic; the noise decides between them.
        steps: of descent for each fit.
        seed: of what is drawn to decide.

    >>> import numpy as np
    >>> two = np.kron(np.eye(2), np.full((3, 3), 200.0)) + 10  # words 0-2, and words 3-5
    >>> found = noised_pair_topics(two, 2, variance=4.0)
    >>> sorted((found.topics > 0.2).astype(int).tolist())
    [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    """
    square = checked_pairs(votes)
    _check(square, topics, variance, shares)
    with threadpool_limits(1):  # so that no sum depends on the number of threads
        fit = _PairFit.of_square(square, topics, float(variance), steps, seed)
        held_out = fit.judge_shares(shares) if len(shares) > 1 else {}
        share = min(held_out, key=lambda each: held_out[each]) if held_out else shares[0]
        weighted = fit.fit(square, share)
        dimensions = fit.dimensions()
    found, weights = _as_topics(weighted, fit.frequencies)
    common = _NOISY * max(0.0, 1 - 2 * dimensions / topics)
    return NoisedPairTopics(
        (1 - common) * found + common * fit.frequencies,
        weights,
        fit.frequencies,
        share,
        {f"{each:g}": misfit for each, misfit in held_out.items()},
        dimensions,
    )


def _check(square: Floats, topics: int, variance: float, shares: tuple[float, ...]) -> None:
    words = len(square)
    if words < _FEWEST_WORDS:
        raise ParameterError(f"pairs must be of at least {_FEWEST_WORDS} words, got {words}.")
    if not 1 <= topics <= words:
        raise ParameterError(f"topics must be 1 to {words}, the words, got {topics}.")
    if not 0 <= variance < np.inf:
        raise ParameterError(f"variance must be finite and >= 0, got {variance}.")
    if not shares or not all(0 <= share < 1 for share in shares):
        raise ParameterError(f"shares must be some numbers from 0 to below 1, got {shares}.")


@dataclass(frozen=True, eq=False)
class _PairFit:
    """One set of votes, and what is known of their cells."""

    square: Floats
    topics: int
    frequencies: Floats
    clear: Integers
    """The words whose votes stand well above the noise."""
    by_chance: Floats
    """L: the votes if words had nothing to do with one another."""
    variances: Floats
    """Of each cell, by the noise and by chance."""
    steps: int
    seed: int

    @classmethod
    def of_square(
        cls, square: Floats, topics: int, variance: float, steps: int, seed: int
    ) -> "_PairFit":
        words, rows = len(square), square.sum(axis=1)
        noise = (words - 1) * variance
        drawn = above_zero(rows, noise + np.maximum(rows, 1))
        frequencies = drawn / drawn.sum()
        many = max(int((rows > _CLEAR * noise**0.5).sum()), _A_TOPIC * topics)
        clear = np.sort(np.argsort(-rows, kind="stable")[:many])
        by_chance = max(float(rows.sum()), 1.0) * np.outer(frequencies, frequencies)
        variances = variance + _BUNCHED * by_chance
        return cls(square, topics, frequencies, clear, by_chance, variances, steps, seed)

    def fit(self, votes: Floats, share: float) -> Floats:
        """W, words x topics, that fits ``votes`` less the pairs without a topic."""
        about, weights = votes - share * self.by_chance, 1 / self.variances
        np.fill_diagonal(about, 0)
        np.fill_diagonal(weights, 0)
        unit = np.sqrt(self.frequencies / self.frequencies.mean())
        first = np.ix_(self.clear, self.clear)
        start = leading_topics(about[first], self.topics, self.seed)
        found = weighted_factors(about[first], weights[first], start, unit[self.clear], self.steps)
        whole = nearest_factors(about[:, self.clear], found)
        whole[self.clear] = found
        return whole

    def judge_shares(self, shares: tuple[float, ...]) -> dict[float, float]:
        """The misfit of the second reading under what was fitted to the first, by share."""
        upper = np.triu(np.random.default_rng(self.seed).standard_normal(self.square.shape), 1)
        cut = (upper + upper.T) * np.sqrt(self.variances)
        first, second = self.square + _CUT * cut, self.square - cut / _CUT
        return {share: self._misfit(second, self.fit(first, share), share) for share in shares}

    def _misfit(self, votes: Floats, weighted: Floats, share: float) -> float:
        """The mean square, in variances a cell, less what the cut added."""
        apart = votes - share * self.by_chance - weighted @ weighted.T
        np.fill_diagonal(apart, 0)
        words = len(votes)
        return float((apart**2 / self.variances).sum()) / (words * (words - 1)) - 1 / _CUT**2

    def dimensions(self) -> int:
        """Eigenvalues above 2 sqrt(M), the edge of a symmetric matrix of cells of variance 1.

        What all words do together, that some are frequent, is taken off first.
        """
        scaled = (self.square - self.by_chance) / np.sqrt(self.variances)
        np.fill_diagonal(scaled, 0)
        return int((np.linalg.eigvalsh(scaled) > 2 * np.sqrt(len(scaled))).sum())


def above_zero(totals: Floats, variances: Floats) -> Floats:
    """What unbiased ``totals`` of normal error say of amounts that are above 0 and mostly small.

    The mean of amounts that are exponential beforehand, of the totals' own mean m (or of its error,
    if that is more): that of a normal distribution around total - variance/m, cut to above 0.

    >>> import numpy as np
    >>> above_zero(np.array([100.0, -5.0]), np.array([4.0, 4.0])).round(1)
    array([99.9,  0.6])
    """
    surely = float(np.sqrt(np.mean(variances) / totals.size))
    usual = max(float(np.mean(totals)), surely, _TINY)
    deviation = np.sqrt(variances)
    centre = (totals - variances / usual) / deviation
    # phi(c)/Phi(c), in a form that does not underflow; far below 0 the sum is -1/c.
    ratio = np.sqrt(2 / np.pi) / special.erfcx(-centre / np.sqrt(2))
    far = centre < -_FAR
    return np.asarray(deviation * np.where(far, -1 / np.where(far, centre, 1), centre + ratio))


def nearest_factors(pairs: Floats, factors: Floats) -> Floats:
    """R >= 0, a row for each row of ``pairs``, with least ||pairs - R factors'||^2.

    By projected descent, from the nearest R of any sign, cut at 0.
    """
    inner, onto = factors.T @ factors, pairs @ factors
    step = max(float(np.linalg.eigvalsh(inner)[-1]), _TINY)
    found = np.maximum(onto @ np.linalg.pinv(inner, hermitian=True), 0)
    for _ in range(_ROUNDS):
        found = np.maximum(found - (found @ inner - onto) / step, 0)
    return np.asarray(found)


def _as_topics(weighted: Floats, frequencies: Floats) -> tuple[Floats, Floats]:
    """Columns as distributions, and their shares; one that came to nothing is what all words do."""
    weights = weighted.sum(axis=0) ** 2
    whole = float(weights.sum())
    even = np.full(weights.size, 1 / weights.size)
    return as_distributions(weighted, frequencies), weights / whole if whole > 0 else even
