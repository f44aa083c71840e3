"""RadoBoost: boosting over rados, one feature a round."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.examples import Floats

LARGEST_EDGE = 1 - 1e-6


class BoostingRound(NamedTuple):
    """A round's feature, its step, and the rados' weights after it."""

    feature: int
    step: float
    weights: Floats


def boosting_rounds(rados: Floats, rounds: int) -> Iterator[BoostingRound]:
    """Rado boosting (Nock, Patrini, Friedman, ICML 2015, algorithm 1), round by round.

    Each round takes the feature with the largest edge r, moves theta there by
    ln((1 + r)/(1 - r)) / (2 pi*), and reweighs every rado by (1 - r pi/pi*) / (1 - r^2), where
    pi* is the feature's largest absolute value over the rados.
    """
    if rounds < 1:
        raise ParameterError(f"rounds must be >= 1, got {rounds}.")
    largest = np.abs(rados).max(axis=0)
    scaled = np.divide(rados, largest, out=np.zeros_like(rados), where=largest > 0)
    w = np.full(len(rados), 1 / len(rados))
    for _ in range(rounds):
        edges = w @ scaled
        k = int(np.abs(edges).argmax())
        r = float(np.clip(edges[k], -LARGEST_EDGE, LARGEST_EDGE))
        if r == 0:
            return
        w *= (1 - r * scaled[:, k]) / (1 - r * r)
        w /= w.sum()
        yield BoostingRound(k, float(np.arctanh(r) / largest[k]), w.copy())


def boosted(rados: Floats, rounds: int) -> Floats:
    """The classifier after so many rounds."""
    theta = np.zeros(rados.shape[1])
    for done in boosting_rounds(rados, rounds):
        theta[done.feature] += done.step
    return theta
