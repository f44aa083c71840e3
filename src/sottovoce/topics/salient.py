"""The words that tell what a latent dimension is about, and how like a topic's words they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic

SALIENT_WORDS = 20
LEAST_LIFT = 3.0
_TINY = np.finfo(np.float64).tiny
Form: TypeAlias = Callable[[str], str | None]
"""How a model writes a word (stemmed, say), or None if it counts no such word."""


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


@dataclass(frozen=True, eq=False)
class Affinities:
    """Topics x dimensions, as in ``Fit``."""

    share: Floats
    lift: Floats
    reach: Floats
    telling: NDArray[np.int64]
    known: NDArray[np.int64]
    """By topic: how many of its words the model knows."""

    def score_pair(self, topic: int, dimension: int) -> tuple[float, int, float]:
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
