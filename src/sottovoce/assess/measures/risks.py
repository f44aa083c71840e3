"""The paper's risk measures, one function for each definition.

By which words were used: ENT, the relative entropy between the community without a user and with
them, and DIFF-PRIV, the smallest epsilon for which the community hides that the user is in it. By
closeness to the topic in a vector space: strength, how close the closest post comes; breadth, as
who is drawn to the whole domain is perhaps there by profession; persistence, as who comes back to a
topic is more than curious; and persistence less breadth.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.state.words import WordUse, largest_of_each, sum_of_used
from sottovoce.compiled import kernel
from sottovoce.errors import ParameterError

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


def check_community(users: int) -> None:
    """Refuse a community in which there is nobody to compare with."""
    if users < 2:  # noqa: PLR2004 - a user and the others
        raise ParameterError(
            f"a community must have at least 2 users, got {users}; a rank needs others."
        )


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


def keyword_kinds(use: WordUse, words: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many different salient words each user has used, however often and whoever else does.

    Not the paper's. By time buckets (``keyword-kinds-t``) it is the paper's persistence with the
    number of different words of a bucket in place of its strength.
    """
    return sum_of_used(use.bits, words, np.ones(words.size, np.int64)).astype(np.float64)


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


def strength_risk(strongest: NDArray[np.float64], topic: int) -> NDArray[np.float64]:
    """The largest cos(P, X) over a user's posts, for all users at once.

    R-Susceptibility, Definition 5, of the user vectors of R-Susceptibility, Definition 4.
    ``strongest`` is users x topics, the maxima over all posts. Range [-1, 1].
    """
    return strongest[:, topic].copy()


def domain_aware_risk(
    strength: NDArray[np.float64], breadth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Strength of interest less the breadth of interest in the topic's domain, for all users.

    R-Susceptibility, Definition 7. Range [-2, 2].
    """
    return strength - breadth


def breadth_of_interest(domain: NDArray[np.float64], *, k: float) -> NDArray[np.float64]:
    """The ceil(k |D|)-th largest strength over the topics of a domain, a row for each user.

    R-Susceptibility, Definition 6, as it enters Definitions 7 and 9: ``domain`` is users x topics
    of the domain, each the maximum over all of the user's posts. 0 where there is no other topic.
    """
    users, topics = domain.shape
    if topics == 0:
        return np.zeros(users)
    largest = rank_in_domain(topics, k=k)
    return np.partition(domain, topics - largest, axis=1)[:, topics - largest]


class BreadthOfOthers(NamedTuple):
    """The breadth of interest in a domain less one of its topics, whichever that is.

    The ceil(k (|D| - 1))-th largest strength of a domain without X is, where X is weaker than that
    of the whole domain, this one, and else the next largest: so each user is sorted once, and not
    once for each topic.
    """

    largest: NDArray[np.float64]
    following: NDArray[np.float64]

    @classmethod
    def of(cls, domain: NDArray[np.float64], *, k: float) -> "BreadthOfOthers":
        """``domain`` is users x topics of the whole domain."""
        users, topics = domain.shape
        if topics == 1:
            return cls(np.zeros(users), np.zeros(users))
        place = topics - rank_in_domain(topics - 1, k=k)
        ordered = np.partition(domain, (place - 1, place), axis=1)
        return cls(ordered[:, place].copy(), ordered[:, place - 1].copy())

    def without(self, strength: NDArray[np.float64]) -> NDArray[np.float64]:
        """The breadth without the topic in which users have this strength, a row for each topic."""
        breadth = np.empty(strength.shape)
        rows = np.atleast_2d(strength)
        _without(rows, self.largest, self.following, breadth.reshape(rows.shape))
        return breadth


def rank_in_domain(topics: int, *, k: float) -> int:
    """ceil(k |D|), with k as it is written: 0.1 of 30 topics are 3, though 0.1 * 30 > 3."""
    return math.ceil(Fraction(repr(float(k))) * topics)


def domain_columns(domains: Sequence[str], topic: int, *, with_itself: bool) -> NDArray[np.int64]:
    """The columns of the topics in the domain of ``topic``."""
    return np.array(
        [
            column
            for column, domain in enumerate(domains)
            if domain == domains[topic] and (with_itself or column != topic)
        ],
        np.int64,
    )


def time_aware_risk(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the m highest strengths per time bucket, for all users at once.

    R-Susceptibility, Definition 8. ``best`` is users x m, 0 for buckets a user does not have.
    Range [-1, 1].
    """
    mean = np.zeros(len(best))
    _add_up(best, mean)
    return mean


def domain_time_aware_risk(
    best: NDArray[np.float64], breadth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The time-aware risk less the breadth of interest over all posts, for all users at once.

    R-Susceptibility, Definition 9. "D - X" is printed over a set of vectors and undefined as such;
    it is read as the domain's topics without X, in paper mode too. Range [-2, 2].
    """
    return time_aware_risk(best) - breadth


# One long step instead of several, as rankings on several threads take turns between steps.
@kernel
def _without(
    strength: NDArray[np.float64],
    largest: NDArray[np.float64],
    following: NDArray[np.float64],
    breadth: NDArray[np.float64],
) -> None:
    topics, users = breadth.shape
    for topic in range(topics):
        for user in range(users):
            weaker = strength[topic, user] < largest[user]
            breadth[topic, user] = largest[user] if weaker else following[user]


@kernel
def _add_up(best: NDArray[np.float64], mean: NDArray[np.float64]) -> None:
    """Bucket after bucket, so that the bits do not depend on how a row is summed."""
    buckets = best.shape[1]
    for bucket in range(buckets):
        for user in range(mean.size):
            mean[user] += best[user, bucket]
    for user in range(mean.size):
        mean[user] /= buckets
