"""What the topic metrics share: checked topic-word matrices and their top words."""

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.release.counts import Floats, Integers

TOP = 20


def top_words(phi: Floats, top: int = TOP) -> Integers:
    """The ``top`` most probable words of each topic, most probable first; ties by word number."""
    topics = checked_topics(phi)
    if not 1 <= top <= topics.shape[1]:
        raise ParameterError(f"top must be 1 to {topics.shape[1]}, the words, got {top}.")
    return np.argsort(-topics, axis=1, kind="stable")[:, :top]


def checked_topics(phi: Floats) -> Floats:
    """``phi`` as a matrix of topics by words, finite and >= 0."""
    topics = np.asarray(phi, dtype=np.float64)
    if topics.ndim != 2 or not topics.size:  # noqa: PLR2004  # a matrix has two axes
        raise ParameterError(f"topics must be a topics x words matrix, got shape {topics.shape}.")
    if not np.isfinite(topics).all() or topics.min() < 0:
        raise ParameterError("topics must hold finite probabilities >= 0.")
    return topics
