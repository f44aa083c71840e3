"""Strength of interest: how close the user's closest post comes to the topic."""

import numpy as np
from numpy.typing import NDArray


def strength_risk(strongest: NDArray[np.float64], topic: int) -> NDArray[np.float64]:
    """The largest cos(P, X) over a user's posts, for all users at once.

    R-Susceptibility, Definition 5, of the user vectors of R-Susceptibility, Definition 4.
    ``strongest`` is users x topics, the maxima over all posts. Range [-1, 1].
    """
    return strongest[:, topic].copy()
