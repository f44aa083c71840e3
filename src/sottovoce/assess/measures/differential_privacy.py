"""DIFF-PRIV: the smallest epsilon for which the community hides that the user is in it."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.measures.measure import check_community, measure_words
from sottovoce.assess.state.words import WordUse, largest_of_each


def differential_privacy_risk(use: WordUse, words: NDArray[np.int64]) -> NDArray[np.float64]:
    """The largest change of a salient word's probability, in bits, for all users at once.

    R-Susceptibility, Definition 2: max_i |log2(P_U[x_i=1] / P_U*[x_i=1])|. The only user of a word
    scores infinity. A word that nobody uses changes nothing: 0 <= 2^0 * 0. The paper's remark that
    users without salient words score lowest does not hold: leaving, they make each word that
    others use likelier by n/(n-1).
    """
    used, unused = changes(use.holders()[words], use.population)
    return largest_of_each(use.bits, words, used, unused)


def differential_privacy_risk_of_presence(
    use: WordUse, words: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The same maximum over the words the user has used only: 0 for a user without any of them."""
    used, _ = changes(use.holders()[words], use.population)
    return largest_of_each(use.bits, words, used, np.zeros(words.size))


def changes(
    holders: NDArray[np.int64], users: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """|log2(P_U / P_U*)| of each word, for a user who has it and for one who has not."""
    check_community(users)
    c, n = holders.astype(np.float64), float(users)
    with np.errstate(divide="ignore", invalid="ignore"):
        rarer = np.abs(np.log1p((c - n) / (c * (n - 1)))) / np.log(2)
    used = np.where(c > 1, rarer, np.where(c == 1, np.inf, 0.0))
    unused = np.where(c > 0, np.log1p(1 / (n - 1)) / np.log(2), 0.0)
    return used, unused


DIFF_PRIV = measure_words(
    differential_privacy_risk,
    "the largest such change of one word",
    ((2.1, 0.80), (2.4, 0.33), (3, 0.16)),
)
DIFF_PRIV_PRESENT = measure_words(
    differential_privacy_risk_of_presence, "the same as diff-priv, over the words you have used"
)
