"""How many words' sums may be opened: so few that the sums cannot hold the documents.

An opened G = [X,1,Y]'[X,1,Y] determines the 0/1 rows of X about where it holds as many bits as they
do. Both are worked out from the number of documents m and of those that use each word, as if words
were independent, before anything is opened:

    bits(X) = m (sum over words of H(p)) - log2 m!      rows in no order, H of a coin of chance p
    bits(G) = the sum over pairs of columns of the entropy of the pair's count, given both counts
    rho     = bits(G) / bits(X)

Where the order of the documents takes all bits of the rows, most rows repeat, and rho has no value.
The few that do not repeat can be read then: of 4,000 short messages over 51 rare words, those of
three to five words. So such words are not opened, but where there are so few, d <= log2 m, that
there are no more different rows than documents. These tell no more than r lists like them, and the
least rho of those counts. Of r lists the pairs of words have r^2 W bits, those of a word and a
label r B, the rows r A - L with A = m sum H and L = log2 m!; the quotient is least at
r = L/A (1 + sqrt(1 + A B/(W L))).

A column of other numbers than 0 and 1 counts as a word of as many documents as it is not zero in,
at most half of them, where bits are most. That is the stricter of two: of numbers of b bits rows
hold m d b bits and sums d^2/2 times 2 b, which is d/m; words of half the documents have
d/4m log2(m), more from sixteen documents on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError

MOST_OPENED_SHARE = 0.5
_EXACT_BELOW = 6.0
"""The variance of a count up to which its entropy is summed; a normal law's is close above it."""
_DEVIATIONS = 12
_HOPELESS = 1.0  # of all bits: there rho only rises
_NONE = 1e-9  # bits


class OpenedBits(NamedTuple):
    """Bits of each prefix of a list of words.

    Attributes:
        pairs: of the sums of two words.
        labels: of those of a word and a label.
        rows: of the rows in their order.
        order: of that order.
        few: of how many words no more rows can differ than there are documents.
    """

    pairs: Floats
    labels: Floats
    rows: Floats
    order: float
    few: int

    @property
    def shares(self) -> Floats:
        """Rho of each prefix; infinite where it has no value."""
        pairs, rows, least = self.pairs + _NONE, self.rows + _NONE, self.order + _NONE
        beside = 1 + rows * self.labels / (pairs * least)
        lists = np.maximum(least / rows * (1 + np.sqrt(beside)), 1.0)
        lists[self.few :] = 1.0
        left = lists * rows - self.order
        share = lists * (lists * pairs + self.labels) / np.maximum(left, _NONE)
        return np.where(left > 0, share, np.inf)


@dataclass(frozen=True)
class OpenedLimit:
    """What a party lets sums hold of documents: its own, whoever proposes the run.

    Attributes:
        share: the most that rho may be.
        collude: how many other peers' documents, of those that have most, hide nothing: they may
            be the reader's.
        named: peers that it has named itself; others' documents, which may be made up, hide
            nothing. None: all peers of the run are.
    """

    share: float = field(default_factory=lambda: MOST_OPENED_SHARE)
    collude: int = 1
    named: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.share > 0 or self.collude < 1:
            raise ParameterError(
                f"most_opened_share must be > 0 and collude >= 1, got {self.share:g} and "
                f"{self.collude}."
            )

    def documents(self, stated: Mapping[str, int], name: str) -> int:
        """How many documents hide one another, as ``name`` sees it."""
        others = (
            number
            for peer, number in stated.items()
            if peer != name and (self.named is None or peer in self.named)
        )
        return stated.get(name, 0) + sum(sorted(others, reverse=True)[self.collude :])


def opened_bits(documents: float, uses: ArrayLike, labels: ArrayLike = ()) -> OpenedBits:
    """Of each prefix of words that so many of the documents use, with labels' columns beside.

    It ends early where no longer list comes into question.
    """
    m = max(float(documents), 1.0)
    words, beside = _clip_counts(uses, m), _clip_counts(labels, m)
    order = float(gammaln(m + 1) / np.log(2))
    rows = m * np.cumsum(coin_bits(words / m))
    pairs, labels = np.zeros(words.size + 1), np.zeros(words.size + 1)
    end = words.size
    for at, count in enumerate(words):
        bits = pair_bits(m, count, np.append(beside, words[:at]))
        labels[at + 1] = labels[at] + bits[: beside.size].sum()
        pairs[at + 1] = pairs[at] + bits[beside.size :].sum()
        if rows[at] > 2 * order and pairs[at + 1] > _HOPELESS * rows[at]:
            end = at + 1
            break
    return OpenedBits(pairs[1 : end + 1], labels[1 : end + 1], rows[:end], order, int(np.log2(m)))


def most_words(
    documents: float, uses: ArrayLike, labels: ArrayLike, share: float = MOST_OPENED_SHARE
) -> int:
    """How many of the words, the first ones, may be opened: with a rho of at most ``share``.

    A share of 1 or more is no limit.
    """
    if share >= _HOPELESS:
        return np.size(uses)
    allowed = np.flatnonzero(opened_bits(documents, uses, labels).shares <= share)
    return int(allowed[-1]) + 1 if allowed.size else 0


def coin_bits(chance: Floats) -> Floats:
    """The entropy of coins."""
    p = np.clip(chance, 1e-300, 1.0)
    q = np.clip(1 - p, 1e-300, 1.0)
    return -(p * np.log2(p) + q * np.log2(q))


def pair_bits(m: float, one: float, others: ArrayLike) -> Floats:
    """The entropy of how many of m documents use a word and each other, both counts given."""
    a = min(one, m - one)
    b = np.asarray(others, np.float64)
    b = np.minimum(b, m - b)
    variance = a * b * (m - a) * (m - b) / (m * m * max(m - 1, 1))
    found = 0.5 * np.log2(2 * np.pi * np.e * np.maximum(variance, _EXACT_BELOW))
    small = variance < _EXACT_BELOW
    if small.any():
        found[small] = _summed_bits(m, a, b[small])
    return found


def _clip_counts(numbers: ArrayLike, m: float) -> Floats:
    """Numbers of documents; what less than one is expected to use or lack, one does."""
    found = np.clip(np.asarray(numbers, np.float64), 0, m)
    return np.clip(found, np.where(found > 0, 1.0, 0.0), np.where(found < m, m - 1.0, m))


def _summed_bits(m: float, a: float, b: Floats) -> Floats:
    """The same, term by term; neither word is in more than half of the documents."""
    mean = a * b / m
    last = int(min(a, (mean + _DEVIATIONS * np.sqrt(mean + 1)).max()))
    log = gammaln(m - a + 1) + gammaln(m - b + 1) - gammaln(m + 1) - gammaln(m - a - b + 1)
    bits = np.zeros(len(b))
    for k in range(last + 1):
        bits -= np.exp(log) * np.maximum(log, -700) / np.log(2)
        step = (a - k) * np.maximum(b - k, 0) / ((k + 1) * (m - a - b + k + 1))
        log = log + np.log(np.maximum(step, 1e-300))
    return bits
