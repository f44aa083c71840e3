"""How far judges agree beyond chance."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError

Counts: TypeAlias = NDArray[np.int64]

_LEAST_VOTES = 2
_RESAMPLES = 1000


def fleiss_kappa(votes: Counts) -> float | None:
    """Fleiss' kappa of ``votes``, items x categories; None when chance alone would agree fully.

    (P - E) / (1 - E): P is the share of agreeing pairs of judges within an item, E the same if
    every vote were drawn from the categories' overall shares. R-Susceptibility, sections 4.1 and
    5.1.3. Items may have unequal numbers of votes: each item weighs alike in P and in the
    categories' shares, which gives Fleiss' own formula when the numbers are equal. An item with
    fewer than two votes has no pair and counts in the shares only.
    """
    _check(votes)
    judges = votes.sum(axis=1)
    voted, paired = judges >= 1, judges >= _LEAST_VOTES
    if not paired.any():
        raise ParameterError("kappa needs an item with at least 2 votes, got none.")
    shares = (votes[voted] / judges[voted, None]).mean(axis=0)
    pairs = (votes * (votes - 1)).sum(axis=1)[paired] / (judges * (judges - 1))[paired]
    by_chance = float((shares**2).sum())
    if np.count_nonzero(shares) == 1:
        return None
    return (float(pairs.mean()) - by_chance) / (1.0 - by_chance)


@dataclass(frozen=True)
class KappaInterval:
    """Kappa, and where 95% of resampled studies put it; None where it is undefined."""

    kappa: float | None
    low: float | None
    high: float | None


def kappa_interval(votes: Counts, *, seed: int = 0, resamples: int = _RESAMPLES) -> KappaInterval:
    """Kappa with a percentile bootstrap over items.

    It answers for the choice of items, not for the choice of judges.
    """
    rng = np.random.default_rng(seed)
    kappas = [
        _kappa_or_none(votes[rng.integers(0, len(votes), len(votes))]) for _ in range(resamples)
    ]
    known = [kappa for kappa in kappas if kappa is not None]
    if not known:
        return KappaInterval(fleiss_kappa(votes), None, None)
    low, high = np.quantile(known, [0.025, 0.975])
    return KappaInterval(fleiss_kappa(votes), float(low), float(high))


def _kappa_or_none(votes: Counts) -> float | None:
    return fleiss_kappa(votes) if (votes.sum(axis=1) >= _LEAST_VOTES).any() else None


def _check(votes: Counts) -> None:
    if votes.ndim != 2 or votes.shape[1] < 2:  # noqa: PLR2004 - items x at least two categories
        raise ParameterError("votes must be a matrix of items x 2 categories or more.")
    if not np.issubdtype(votes.dtype, np.integer) or (votes < 0).any():
        raise ParameterError("votes must be whole numbers >= 0.")
