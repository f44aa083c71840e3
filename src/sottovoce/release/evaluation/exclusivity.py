"""Exclusivity (Bischof and Airoldi 2012): how much a topic's top words are its own."""

import numpy as np

from sottovoce.release.counts import Floats
from sottovoce.release.evaluation.topics import TOP, checked_topics, top_words


def topic_exclusivity(phi: Floats, top: int = TOP) -> float:
    """Mean over topics k and their top words w of phi_kw / sum_j phi_jw. Range (0, 1]."""
    topics = checked_topics(phi)
    totals = topics.sum(axis=0)
    shares = np.divide(topics, totals, out=np.zeros_like(topics), where=totals > 0)
    return float(np.take_along_axis(shares, top_words(topics, top), axis=1).mean())
