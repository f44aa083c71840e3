"""Breadth of interest: who is drawn to the whole domain is perhaps there by profession."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


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
