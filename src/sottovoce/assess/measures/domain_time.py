"""Persistence of interest in the topic, less breadth of interest in its domain."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.measures.domain import breadth_of_interest
from sottovoce.assess.measures.time import time_aware_risk


def domain_time_aware_risk(
    best: NDArray[np.float64], domain: NDArray[np.float64], *, k: float
) -> NDArray[np.float64]:
    """The time-aware risk less the breadth of interest over all posts, for all users at once.

    R-Susceptibility, Definition 9. "D - X" is printed over a set of vectors and undefined as such;
    it is read as the domain's topics without X, in paper mode too. Range [-2, 2].
    """
    return time_aware_risk(best) - breadth_of_interest(domain, k=k)
