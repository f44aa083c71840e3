"""Measures of the salient words that a user has used, whatever the post.

DIFF-PRIV: the smallest epsilon for which the community hides that the user is in it. ENT: the
relative entropy between the community without a user and with them. Keyword kinds are not the
paper's: they are what a reader of a topic's word list would count first.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.measures.interest import time_aware_risk
from sottovoce.assess.measures.measure import (
    Measure,
    Scores,
    check_community,
    measure_words,
    on_grid,
)
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.words import WordUse, largest_of_each, sum_of_used

if TYPE_CHECKING:
    from sottovoce.assess.state.state import State


def differential_privacy_risk(use: WordUse, words: NDArray[np.int64]) -> NDArray[np.float64]:
    """The largest change of a salient word's probability, in bits, for all users at once.

    R-Susceptibility, Definition 2: max_i |log2(P_U[x_i=1] / P_U*[x_i=1])|. The only user of a word
    scores infinity. A word that nobody uses changes nothing: 0 <= 2^0 * 0. The paper's remark that
    users without salient words score lowest does not hold: leaving, they make each word that
    others use likelier by n/(n-1).
    """
    used, unused = probability_changes(use.holders()[words], use.population)
    return largest_of_each(use.bits, words, used, unused)


def differential_privacy_risk_of_presence(
    use: WordUse, words: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The same maximum over the words the user has used only: 0 for a user without any of them."""
    used, _ = probability_changes(use.holders()[words], use.population)
    return largest_of_each(use.bits, words, used, np.zeros(words.size))


def probability_changes(
    holders: NDArray[np.int64], users: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """|log2(P_U / P_U*)| of each word if a user leaves who has it, and if one who has not."""
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
    lifts=((2.1, 0.80), (2.4, 0.33), (3, 0.16)),
)
DIFF_PRIV_PRESENT = measure_words(
    differential_privacy_risk_of_presence, "the same as diff-priv, over the words you have used"
)


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
    """KL(P_U || P_U*) in bits of each word if a user leaves who has it, and if one who has not."""
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
    lifts=((6.5, 0.49), (4, 0.20), (3.4, 0.14)),
)
ENT_PRESENT = measure_words(
    entropy_risk_of_presence, "the same as ent, over the words you have used"
)


def keyword_kinds(use: WordUse, words: NDArray[np.int64]) -> Scores:
    """How many different salient words each user has used, however often and whoever else does."""
    return sum_of_used(use.bits, words, np.ones(words.size, np.int64)).astype(np.float64)


def lasting_keyword_kinds(state: "State", topic: str, setting: Setting) -> Scores:
    """The paper's persistence, with a bucket's number of different words as its strength."""
    kept = state.word_buckets_kept()
    return on_grid(time_aware_risk(kept.best(state.salient(topic), setting.m, len(state))))


_WORDING = "how many different words of the topic you use"
KEYWORD_KINDS = measure_words(keyword_kinds, _WORDING, lifts=((19, 0.47), (6.6, 0.22), (4, 0.15)))
KEYWORD_KINDS_T = Measure(
    lasting_keyword_kinds,
    mentions=True,
    word_buckets=True,
    wording=f"{_WORDING}, over several weeks",
    lifts=((12, 0.46), (5.8, 0.20), (5, 0.14)),
)
