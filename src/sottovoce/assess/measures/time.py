"""Persistence of interest: who comes back to a topic is more than curious."""

import numpy as np
from numpy.typing import NDArray


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
