"""The words that tell what a latent dimension is about."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError

Floats: TypeAlias = NDArray[np.float64]

SALIENT_WORDS = 20


def salient_words(
    phi: Floats,
    terms: Sequence[str],
    count: int = SALIENT_WORDS,
    *,
    relevance: float = 1.0,
    sizes: Floats | None = None,
) -> list[tuple[str, ...]]:
    """The ``count`` most salient words of each latent dimension, the most salient first.

    R-Susceptibility, section 4.1: "the 20 most salient words computed by LDA". See
    ``salient_columns`` for ``relevance`` and ``sizes``.

    >>> import numpy as np
    >>> salient_words(np.array([[0.7, 0.3], [0.2, 0.8]]), ["debt", "baby"], 1)
    [('debt',), ('baby',)]
    """
    if len(terms) != phi.shape[1]:
        raise ParameterError(f"terms must be {phi.shape[1]}, the columns of phi, got {len(terms)}.")
    columns = salient_columns(phi, count, relevance=relevance, sizes=sizes)
    return [tuple(terms[column] for column in row) for row in columns]


def salient_columns(
    phi: Floats, count: int = SALIENT_WORDS, *, relevance: float = 1.0, sizes: Floats | None = None
) -> NDArray[np.int64]:
    """The columns of the most salient words: dimensions x ``count``; ties in column order.

    A ``relevance`` of 1 goes by probability, as the paper does. Less of it favours words that are
    rare elsewhere: relevance log phi + (1 - relevance) log(phi / p), where p is the word's
    probability over all dimensions (Sievert and Shirley, 2014). ``sizes`` weigh the dimensions in
    p; without them all are alike.
    """
    _check(phi, count, relevance)
    score = phi if relevance == 1.0 else _relevance(phi, relevance, checked_sizes(phi, sizes))
    return np.argsort(-score, axis=1, kind="stable")[:, :count]


def checked_sizes(phi: Floats, sizes: Floats | None) -> Floats:
    """How much of all text each dimension is: adds up to 1."""
    if sizes is None:
        return np.full(phi.shape[0], 1.0 / phi.shape[0])
    if sizes.shape != phi.shape[:1] or not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise ParameterError(f"sizes must be {phi.shape[0]} positive numbers.")
    return np.asarray(sizes / sizes.sum())


def _relevance(phi: Floats, relevance: float, sizes: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.log(phi) - np.log(sizes @ phi)
        score = relevance * np.log(phi) + (1.0 - relevance) * lift
    # A word without probability is salient nowhere.
    return np.where(phi > 0.0, score, -np.inf)


def _check(phi: Floats, count: int, relevance: float) -> None:
    if phi.ndim != 2 or not phi.size:  # noqa: PLR2004 - a matrix
        raise ParameterError("phi must be a matrix of dimensions x words.")
    if not 1 <= count <= phi.shape[1]:
        raise ParameterError(f"count must be 1 to {phi.shape[1]}, the words, got {count}.")
    if not 0.0 <= relevance <= 1.0:
        raise ParameterError(f"relevance must be between 0 and 1, got {relevance}.")
