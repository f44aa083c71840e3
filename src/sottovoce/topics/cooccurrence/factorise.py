"""Topics whose documents would have words together as often as was counted.

A topic k with word probabilities b_k that documents use now more, now less (variance a_k) adds
a_k b_k b_k' to the covariance of the words' counts. So with W = (sqrt(a_k) b_k) the covariance off
the diagonal is W W', W >= 0. We seek the W that fits best in least squares, each pair divided by
its standard deviation: the nearest matrix that is positive semidefinite, of rank K and without
negative entries, its diagonal aside. The search starts from the pairs' leading directions
(`_leading`).

What is known of the noise enters by ``deviations`` alone; released counts and noised sums both
come in here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError

_SPARE = 10
"""Directions more than are wanted make the wanted ones come sooner."""
_FIRST_STEPS, _STEPS, _ROUNDS = 12, 3, 12
_TURNS = 200
_TURNED = 1e-7


def checked_pairs(pairs: Floats) -> Floats:
    """``pairs`` as a finite symmetric matrix with zeros on its diagonal."""
    square = np.array(pairs, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1] or not square.size:  # noqa: PLR2004 - two axes
        raise ParameterError(f"pairs must be a matrix of words by words, got {square.shape}.")
    if not np.isfinite(square).all() or not np.allclose(square, square.T):
        raise ParameterError("pairs must be finite and symmetric.")
    np.fill_diagonal(square, 0)
    return square


def leading_topics(square: Floats, topics: int, seed: int) -> Floats:
    """Words x topics, >= 0: where the search for topics starts.

    The diagonal is unknown, and filled in by turns with what the leading directions say of it: a
    projection on positive semidefinite matrices of that rank, and one on the known entries. With
    exact pairs and topics of few words the turned directions are the topics (Rohe and Zeng 2023).
    """
    filled = square.copy()
    start = np.random.default_rng(seed).standard_normal((len(square), topics + _SPARE))
    values, basis = _leading(filled, topics, start[:, : len(square)], _FIRST_STEPS)
    for _ in range(_ROUNDS):
        np.fill_diagonal(filled, (basis[:, :topics] ** 2) @ values)
        values, basis = _leading(filled, topics, basis, _STEPS)
    turned = varimax(basis[:, :topics] * np.sqrt(values))
    return np.asarray(np.maximum(turned * np.sign((turned**3).sum(axis=0)), 0))


def _leading(square: Floats, rank: int, start: Floats, steps: int) -> tuple[Floats, Floats]:
    """The largest eigenvalues, cut at 0, and all vectors found, by ``steps`` of power iteration."""
    basis = start
    for _ in range(steps):
        basis, _upper = np.linalg.qr(square @ basis)
    values, turned = np.linalg.eigh(basis.T @ (square @ basis))
    order = np.argsort(-values, kind="stable")
    return np.maximum(values[order[:rank]], 0), (basis @ turned)[:, order]


def varimax(loadings: Floats) -> Floats:
    """The rotation of ``loadings`` whose squares vary most within each column (Kaiser 1958)."""
    turn, before = np.eye(loadings.shape[1]), 0.0
    for _ in range(_TURNS):
        turned = loadings @ turn
        pull = loadings.T @ (turned**3 - turned * (turned**2).mean(axis=0))
        left, sizes, right = np.linalg.svd(pull)
        turn = left @ right
        if sizes.sum() <= before * (1 + _TURNED):
            break
        before = float(sizes.sum())
    return np.asarray(loadings @ turn)


_RATE, _MOMENTUM, _SCALE = 0.1, 0.9, 0.95
TINY = 1e-20
Singles: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PairTopics:
    """Topics that were fitted to pairs of words."""

    topics: Floats
    """The probability of each word in each topic: topics x words, rows sum to 1."""
    weights: Floats
    """How much of the pairs' covariance is each topic's."""
    misfit: float
    """Sum of squares of what the topics leave, in standard deviations; less is better."""


def pair_topics(
    pairs: Floats,
    topics: int,
    *,
    totals: Floats,
    deviations: Floats | None = None,
    starts: int = 1,
    steps: int = 300,
    seed: int = 0,
) -> PairTopics:
    """The ``topics`` that fit the covariance ``pairs`` of words best.

    Args:
        pairs: how much oftener than by chance two words stand in one document; words x words.
            The diagonal is not looked at.
        topics: how many.
        totals: how often each word was used; also approximate.
        deviations: d_i, such that the standard deviation of pair (i, j) is d_i d_j up to a
            constant; None: the same for all.
        starts: how many starts, the first from the leading directions, the others at random.
        steps: of descent from each start.
        seed: of the random starts.

    >>> import numpy as np
    >>> two = np.kron(np.eye(2), np.ones((3, 3)))  # words 0-2 stand together, and words 3-5
    >>> found = pair_topics(two, 2, totals=np.ones(6))
    >>> sorted(found.topics.round(1).tolist())
    [[0.0, 0.0, 0.0, 0.3, 0.3, 0.3], [0.3, 0.3, 0.3, 0.0, 0.0, 0.0]]
    """
    square = checked_pairs(pairs)
    scale = np.ones(len(square)) if deviations is None else np.asarray(deviations, np.float64)
    _check(square, topics, totals, scale)
    usual = np.maximum(totals, np.mean(np.maximum(totals, 0)) / 100 + TINY)
    with threadpool_limits(1):  # so that no sum depends on the number of threads
        scaled = square / np.outer(scale, scale)
        fits = [
            _descend(scaled, start / scale[:, None], np.sqrt(usual / usual.mean() / scale), steps)
            for start in _starts(square, topics, usual, starts, seed)
        ]
    weighted, misfit = min(fits, key=lambda fit: fit[1])
    return _as_topics(weighted * scale[:, None], misfit, usual)


def _check(square: Floats, topics: int, totals: Floats, scale: Floats) -> None:
    words = len(square)
    if not 1 <= topics <= words:
        raise ParameterError(f"topics must be 1 to {words}, the words, got {topics}.")
    if np.shape(totals) != (words,) or scale.shape != (words,):
        raise ParameterError(f"totals and deviations must be one for each of {words} words.")
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        raise ParameterError("deviations must be finite and > 0.")


def _starts(square: Floats, topics: int, usual: Floats, starts: int, seed: int) -> Iterator[Floats]:
    leading = leading_topics(square, topics, seed)
    yield leading
    size = np.sqrt((leading**2).sum() / topics)
    generator = np.random.default_rng(seed)
    for _ in range(starts - 1):
        drawn = usual[:, None] * generator.standard_gamma(1.0, (len(usual), topics))
        yield size * drawn / np.sqrt((drawn**2).sum(axis=0))


def _descend(pairs: Floats, start: Floats, unit: Floats, steps: int) -> tuple[Floats, float]:
    """W >= 0 with least ||pairs - W W'||^2 off the diagonal, and that sum.

    W is the square of what moves, so that it stays >= 0; each entry moves in its word's own unit,
    at a speed that its recent slopes set (Kingma and Ba 2015), slower towards the end.
    """
    held: Singles = pairs.astype(np.float32)
    root: Singles = np.sqrt(start + 1e-4 * start.mean() + TINY).astype(np.float32)
    own = (unit[:, None] * np.sqrt(start.mean())).astype(np.float32)
    root = descend(root, own, lambda root: _slope(held, root), steps)
    return _scale_start(pairs, (root * root).astype(np.float64))


def descend(
    root: Singles, own: Singles, slope_of: Callable[[Singles], Singles], steps: int
) -> Singles:
    """Move ``root`` down its slope, each entry in its ``own`` unit."""
    speed, spread = np.zeros_like(root), np.zeros_like(root)
    for step in range(1, steps + 1):
        slope = slope_of(root) * own
        speed += (1 - _MOMENTUM) * (slope - speed)
        spread += (1 - _SCALE) * (slope * slope - spread)
        size = _RATE * min(1.0, 2 * (1 - step / steps) + 0.02) / (1 - _MOMENTUM**step)
        move = speed / (np.sqrt(spread / (1 - _SCALE**step)) + TINY)
        root = np.abs(root - np.float32(size) * own * move)
    return root


def _slope(pairs: Singles, root: Singles) -> Singles:
    """Of half the misfit, by ``root``, up to a constant."""
    weighted = root * root
    own = (weighted * weighted).sum(axis=1, keepdims=True) * weighted
    return np.asarray((weighted @ (weighted.T @ weighted) - own - pairs @ weighted) * root)


def _scale_start(pairs: Floats, weighted: Floats) -> tuple[Floats, float]:
    """``weighted`` times what makes it fit best, 0 where any size fits worse than none; its misfit.

    ||P - s V||^2 with V = W W' is least at s = <P, V> / <V, V>, and at 0 if that is negative.
    """
    fitted = weighted @ weighted.T
    np.fill_diagonal(fitted, 0)
    square = float((fitted**2).sum())
    size = max(float((pairs * fitted).sum()) / square, 0.0) if square > 0 else 0.0
    return weighted * np.sqrt(size), float(((pairs - size * fitted) ** 2).sum())


def _as_topics(weighted: Floats, misfit: float, usual: Floats) -> PairTopics:
    """Columns as distributions; a topic that came to nothing is what all words do."""
    sizes = weighted.sum(axis=0)
    return PairTopics(as_distributions(weighted, usual / usual.sum()), sizes**2, misfit)


def as_distributions(weighted: Floats, usual: Floats) -> Floats:
    """A row of probabilities for each column; one that came to nothing is what all words do."""
    sizes = weighted.sum(axis=0)
    some = sizes > 0
    shares = np.where(some, weighted / np.where(some, sizes, 1), usual[:, None])
    return np.ascontiguousarray(shares.T)
