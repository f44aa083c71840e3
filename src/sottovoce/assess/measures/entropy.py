"""ENT: the relative entropy between the community without a user and with them."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.measures.measure import check_community, measure_words
from sottovoce.assess.state.words import WordUse, sum_of_used

# A signed whole number of 64 bits, with one bit to spare.
_BITS_OF_A_SUM = 62


def entropy_risk(use: WordUse, words: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean relative entropy over a topic's salient words, for all users at once.

    R-Susceptibility, Definition 1: (1/j) sum_i sum_v P_U[x_i=v] log2(P_U[x_i=v] / P_U*[x_i=v]),
    where U are the others and U* everybody. A word has one value for all its users and one for all
    others, so this is a sparse matrix-vector product. 0 log 0 = 0. The paper's remark that it is 0
    for a user without salient words does not hold: their absence moves the distribution too.
    """
    used, unused = divergences(use.holders()[words], use.population)
    return _exact_sums(use, words, used - unused, unused.sum()) / words.size


def entropy_risk_of_presence(use: WordUse, words: NDArray[np.int64]) -> NDArray[np.float64]:
    """The same sum over the words the user has used only: 0 for a user without any of them."""
    used, _ = divergences(use.holders()[words], use.population)
    return _exact_sums(use, words, used, 0.0) / words.size


def divergences(
    holders: NDArray[np.int64], users: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """KL(P_U || P_U*) in bits of each word, for a user who has it and for one who has not."""
    check_community(users)
    c, n = holders.astype(np.float64), float(users)
    more = np.log1p(1 / (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        # P_U/P_U* - 1 for the value that a user's leaving makes rarer; the other grows by n/(n-1).
        rarer_1 = np.where(c > 1, np.log1p((c - n) / (c * (n - 1))), 0.0)
        rarer_0 = np.where(c < n - 1, np.log1p(-c / ((n - 1) * (n - c))), 0.0)
    used = ((c - 1) * rarer_1 + (n - c) * more) / (n - 1)
    unused = (c * more + (n - 1 - c) * rarer_0) / (n - 1)
    # Nobody to have it, or nobody to lack it: the value is not taken.
    return np.where(c > 0, used, 0.0) / np.log(2), np.where(c < n, unused, 0.0) / np.log(2)


def _exact_sums(
    use: WordUse, words: NDArray[np.int64], amounts: NDArray[np.float64], base: float
) -> NDArray[np.float64]:
    """``base`` and the amounts of the words used summed, in whole numbers.

    So users whose words are equally rare tie, whatever the order of the words.
    """
    largest = float(np.abs(amounts).max(initial=abs(base)))
    if largest == 0:
        return np.zeros(len(use))
    room = _BITS_OF_A_SUM - (words.size + 1).bit_length()
    unit = 2.0 ** (np.ceil(np.log2(largest)) - room)
    sums = sum_of_used(use.bits, words, np.rint(amounts / unit).astype(np.int64))
    exact: NDArray[np.float64] = (sums + np.int64(np.rint(base / unit))) * unit
    return exact


ENT = measure_words(
    entropy_risk,
    "how much you change the community's words",
    ((6.5, 0.49), (4, 0.20), (3.4, 0.14)),
)
ENT_PRESENT = measure_words(
    entropy_risk_of_presence, "the same as ent, over the words you have used"
)
