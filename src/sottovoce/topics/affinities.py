"""How much of each latent dimension the words of each topic are, and the other way round."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.salient import Floats

LEAST_LIFT = 3.0
_TINY = np.finfo(np.float64).tiny
Form: TypeAlias = Callable[[str], str | None]
"""How a model writes a word (stemmed, say), or None if it counts no such word."""


@dataclass(frozen=True, eq=False)
class Affinities:
    """Topics x dimensions, as in ``Fit``."""

    share: Floats
    lift: Floats
    reach: Floats
    telling: NDArray[np.int64]
    known: NDArray[np.int64]
    """By topic: how many of its words the model knows."""

    def at(self, topic: int, dimension: int) -> tuple[float, int, float]:
        """Share, telling words and reach of one pair."""
        place = topic, dimension
        return float(self.share[place]), int(self.telling[place]), float(self.reach[place])


def known_words(
    topic: Topic, column: Mapping[str, int], form: Form = str
) -> dict[tuple[int, ...], float]:
    """The topic's words that the model knows, as columns, with their weights, which add up to 1.

    A bigram that the model does not count is known by its two words, if it counts both. Words that
    the model writes alike are one.
    """
    weights = topic.weights or (1.0,) * len(topic.words)
    found: dict[tuple[int, ...], float] = {}
    for term, weight in zip(topic.words, weights, strict=True):
        columns = _columns(term, column, form)
        if columns and weight:
            found[columns] = found.get(columns, 0.0) + weight
    total = sum(found.values())
    return {columns: weight / total for columns, weight in found.items()}


def _columns(term: str, column: Mapping[str, int], form: Form) -> tuple[int, ...]:
    words = [form(word) for word in term.split(" ")]
    known = [word for word in words if word]
    if len(known) < len(words):
        return ()
    parts = [" ".join(known)] if " ".join(known) in column else known
    return tuple(column[part] for part in parts) if all(part in column for part in parts) else ()


def affinities_of(
    catalogue: Catalogue, phi: Floats, terms: Sequence[str], sizes: Floats, form: Form
) -> Affinities:
    column = {term: place for place, term in enumerate(terms)}
    shape = len(catalogue), phi.shape[0]
    share, reach, telling = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    known = np.zeros(len(catalogue), np.int64)
    for place, topic in enumerate(catalogue):
        for columns, weight in known_words(topic, column, form).items():
            word = phi[:, columns]
            # No bigram is more frequent than the rarer of its words.
            mass = word.min(axis=1)
            share[place] += mass
            telling[place] += (mass >= LEAST_LIFT * (sizes @ mass)) & (mass > 1 / len(terms))
            reach[place] += weight * _responsibility(word, sizes)
            known[place] += 1
    overall = np.maximum(share @ sizes, _TINY)
    return Affinities(share, share / overall[:, None], reach, telling, known)


def _responsibility(word: Floats, sizes: Floats) -> Floats:
    """P(dimension | word), for a word met anywhere in the text the model was trained on.

    For two words: that both come from the dimension, given that they come from one.
    """
    joint = sizes * word.prod(axis=1)
    return np.asarray(joint / max(joint.sum(), _TINY))
