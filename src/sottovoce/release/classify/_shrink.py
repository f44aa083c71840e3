"""Means of words and of classes, shrunk by the variance that the noise's law gives them."""

import math

import numpy as np
from scipy import special

from sottovoce.arrays import Floats

RATIOS = np.exp(np.linspace(-3.5, 3.0, 40))
ROUNDS = 30
_LEAST = 1e-12


def positive_means(means: Floats, variance: float) -> Floats:
    """E[m | its noisy mean], for m > 0 with an exponential prior of the words' mean.

    With noise N(0, s^2) the posterior is N(mean - s^2/m0, s^2) cut to m > 0, m0 the mean over all
    words; its mean is location + s phi(t)/Phi(t), t = location/s.
    """
    deviation = math.sqrt(variance)
    # The mean over words has noise too; where it is lost in that, it is at most about this.
    typical = max(float(means.mean()), deviation / math.sqrt(means.size))
    location = means - variance / typical
    standard = location / deviation
    logs = -0.5 * standard**2 - 0.5 * math.log(2 * math.pi) - special.log_ndtr(standard)
    return np.maximum(location + deviation * np.exp(logs), _LEAST)


def shrunk_ratios(means: Floats, variances: Floats, base: Floats) -> Floats:
    """E[m_kw / m_w | the noisy class means], the ratios' prior learnt from all cells by EM.

    Args:
        means: classes x words, each with noise N(0, variance).
        variances: of each of them.
        base: m_w, of each word over all documents.
    """
    weights = base**2 / variances
    weights /= weights.sum()
    likelihoods = _likelihoods(means, variances, base)
    prior = np.full(RATIOS.size, 1 / RATIOS.size)
    for _ in range(ROUNDS):
        prior = np.einsum("kw,kwg->g", weights, _posterior(likelihoods, prior))
    return np.asarray(_posterior(likelihoods, prior) @ RATIOS)


def _likelihoods(means: Floats, variances: Floats, base: Floats) -> Floats:
    away = means[:, :, None] - RATIOS * base[:, None]
    logs = -0.5 * away**2 / variances[:, :, None]
    return np.asarray(np.exp(logs - logs.max(axis=-1, keepdims=True)))


def _posterior(likelihoods: Floats, prior: Floats) -> Floats:
    joint = likelihoods * prior
    return np.asarray(joint / joint.sum(axis=-1, keepdims=True))
