"""Faults in noise that is known cell by cell, each with the class of fault that it stands for."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Dense = NDArray[np.int64]
Break = Callable[[Dense, Dense], Dense]
"""True counts and sound noise in, broken noise out."""


def _some(shape: tuple[int, ...], share: float) -> NDArray[np.bool_]:
    return np.random.default_rng().random(shape) < share


def _where(chosen: Callable[[Dense], NDArray[np.bool_]]) -> Break:
    return lambda true, noise: np.where(chosen(true), 0, noise)


def _rolled(noise: Dense, lag: int, share: float) -> Dense:
    return np.where(
        _some(noise.shape, share), np.roll(noise.ravel(), lag).reshape(noise.shape), noise
    )


def _row_totals(true: Dense) -> Dense:
    return np.asarray(true.sum(axis=1, keepdims=True))


def _halved(true: Dense, noise: Dense) -> Dense:
    return np.where(true == 2, noise // 2, noise)


def _last_column_mirrored(_true: Dense, noise: Dense) -> Dense:
    noise[:, -1] = -noise[:, 0]
    return noise


def _partly_shared(_true: Dense, noise: Dense) -> Dense:
    noise[5] = np.where(_some(noise[5].shape, 0.6), noise[300], noise[5])
    return noise


def _reversed_row(_true: Dense, noise: Dense) -> Dense:
    noise[200] = noise[100][::-1]
    return noise


FAULTS: dict[str, Break] = {
    # Too small, by value.
    "counts of 1 exact": _where(lambda true: true == 1),
    "counts of 0 exact": _where(lambda true: true == 0),
    "counts above 2 exact": _where(lambda true: true > 2),
    "odd counts exact": _where(lambda true: true % 2 == 1),
    "counts of 2 with half the noise": _halved,
    "a tenth copied from the truth": lambda true, noise: np.where(_some(true.shape, 0.1), 0, noise),
    # Too small, by row, column, place.
    "row 17 exact": lambda _true, noise: noise * (np.arange(len(noise)) != 17)[:, None],
    "the last column exact": lambda _true, noise: noise * (np.arange(noise.shape[1]) < 95),
    "rows of an odd total exact": _where(lambda true: _row_totals(true) % 2 == 1),
    "rows of one word exact": _where(lambda true: (true > 0).sum(axis=1, keepdims=True) == 1),
    "cells beside a count exact": _where(lambda true: np.roll(true, 1, axis=1) > 0),
    "every 100th cell exact": lambda true, noise: np.where(
        np.arange(true.size).reshape(true.shape) % 100 == 3, 0, noise
    ),
    "the last 60 cells exact": lambda true, noise: np.where(
        np.arange(true.size).reshape(true.shape) >= true.size - 60, 0, noise
    ),
    # Support and law.
    "upper tail cut": lambda _true, noise: np.minimum(noise, 9),
    "lower tail cut": lambda _true, noise: np.maximum(noise, -9),
    "even alone": lambda _true, noise: noise // 2 * 2,
    "never 0": lambda _true, noise: np.where(noise == 0, 1, noise),
    "outputs never below 0": lambda true, noise: np.maximum(noise, -true),
    "a bias of 1 in a fifth": lambda _true, noise: noise + _some(noise.shape, 0.2),
    "normal noise of the same spread": lambda _true, noise: np.rint(
        np.random.default_rng().normal(0, np.sqrt(2 * 0.6065) / (1 - 0.6065), noise.shape)
    ).astype(np.int64),
    # Reuse and correlation.
    "rows partly shared": _partly_shared,
    "a row reversed in another": _reversed_row,
    "a column mirrored": _last_column_mirrored,
    "a tenth of the noise drawn 1,000 cells before": lambda _true, noise: _rolled(noise, 1000, 0.1),
    "the sign of the count's parity": lambda true, noise: np.where(
        true > 0, np.abs(noise) * (1 - true % 2 * 2), noise
    ),
    "a word added to another column": lambda true, noise: noise + (true[:, [7]] > 0),
}
