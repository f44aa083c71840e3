"""Strength of interest: how close the user's closest post comes to the topic.

Breadth of interest: who is drawn to the whole domain is perhaps there by profession.

Persistence of interest: who comes back to a topic is more than curious.

Persistence of interest in the topic, less breadth of interest in its domain.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def strength_risk(strongest: NDArray[np.float64], topic: int) -> NDArray[np.float64]:
    """The largest cos(P, X) over a user's posts, for all users at once.

    R-Susceptibility, Definition 5, of the user vectors of R-Susceptibility, Definition 4.
    ``strongest`` is users x topics, the maxima over all posts. Range [-1, 1].
    """
    return strongest[:, topic].copy()


def domain_aware_risk(
    strength: NDArray[np.float64], domain: NDArray[np.float64], *, k: float
) -> NDArray[np.float64]:
    """Strength of interest less the breadth of interest in the topic's domain, for all users.

    R-Susceptibility, Definition 7. Range [-2, 2].
    """
    return strength - breadth_of_interest(domain, k=k)


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
    # Bucket after bucket, so that the bits do not depend on how numpy sums a row.
    total = np.zeros(len(best))
    for strengths in best.T:
        total += strengths
    mean: NDArray[np.float64] = total / best.shape[1]
    return mean


def domain_time_aware_risk(
    best: NDArray[np.float64], domain: NDArray[np.float64], *, k: float
) -> NDArray[np.float64]:
    """The time-aware risk less the breadth of interest over all posts, for all users at once.

    R-Susceptibility, Definition 9. "D - X" is printed over a set of vectors and undefined as such;
    it is read as the domain's topics without X, in paper mode too. Range [-2, 2].
    """
    return time_aware_risk(best) - breadth_of_interest(domain, k=k)
