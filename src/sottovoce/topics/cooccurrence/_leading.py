"""The leading directions of a matrix of pairs, turned until each is the words of one topic."""

import numpy as np

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
