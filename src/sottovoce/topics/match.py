"""Which latent dimensions stand for which topics of a catalogue.

A topic may be spread over several dimensions, and a strength of interest is a cosine with their
indicator. So a dimension is taken in only if it raises that cosine for a text made of the topic's
own words. No two topics get the same dimension unasked: their scores would be equal, and a measure
that subtracts the interest in the rest of the domain would subtract the topic from itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.salient import SALIENT_WORDS, Floats, checked_sizes, salient_words

LEAST_SHARE = 0.05
LEAST_LIFT = 3.0
_SHOWN_WORDS = 10
_NAMING_WORDS = 3
UNJUDGED = "unjudged"
"""The domain of topics that no judge has seen."""

How = Literal["words", "chosen"]


@dataclass(frozen=True)
class Fit:
    """A dimension that stands for a topic, and why."""

    topic: str
    dimension: int
    share: float
    """How much of the dimension the topic's words are: their summed probability."""
    lift: float
    """How many times as much as over all dimensions."""
    reach: float
    """How much of a text made of the topic's words the dimension would take up."""
    words: tuple[str, ...]
    """The dimension's own most salient words."""
    how: How


@dataclass(frozen=True)
class Unmatched:
    """A topic for which nothing in the model fits, its nearest dimension, and why not."""

    topic: str
    known_words: int
    nearest: int | None
    share: float
    why: str


@dataclass(frozen=True)
class Matching:
    """The catalogue with its dimensions, and how they were found."""

    catalogue: Catalogue
    fits: tuple[Fit, ...]
    unmatched: tuple[Unmatched, ...]
    shared: tuple[int, ...]
    """Dimensions that more than one topic was given by choice."""

    def require_all(self) -> None:
        """Refuse a catalogue with topics that nothing stands for."""
        if self.unmatched:
            first = self.unmatched[0]
            raise InputError(
                f"{len(self.unmatched)} of {len(self.catalogue)} topics match no dimension, the "
                f"first {first.topic!r}: {first.why}. Choose one (--choose TOPIC=DIMENSION), or go "
                "on without them (--allow-unmatched)."
            )


@dataclass(frozen=True, eq=False)
class _Affinities:
    """Topics x dimensions, as in ``Fit``."""

    share: Floats
    lift: Floats
    reach: Floats
    known: NDArray[np.int64]


def match_catalogue(
    catalogue: Catalogue,
    phi: Floats,
    terms: Sequence[str],
    *,
    fingerprint: str,
    sizes: Floats | None = None,
    chosen: Mapping[str, Sequence[int]] | None = None,
    least_share: float = LEAST_SHARE,
    least_lift: float = LEAST_LIFT,
) -> Matching:
    """Match every topic to the latent dimensions of the model ``fingerprint`` by its words.

    ``phi`` is dimensions x ``terms``; ``sizes`` are how much of all text each dimension is. A
    dimension can stand for the topic whose words have the largest share of it, if that share is
    at least ``least_share`` and ``least_lift`` times the words' share over all dimensions.
    ``chosen`` overrules this for the topics it names.
    """
    chosen = chosen or {}
    _check(catalogue, phi, chosen, least_share, least_lift)
    affinities = _affinities(catalogue, phi, terms, checked_sizes(phi, sizes))
    taken = {dimension for dimensions in chosen.values() for dimension in dimensions}
    owner = affinities.share.argmax(axis=0)
    fitting = (affinities.share >= least_share) & (affinities.lift >= least_lift)
    dimensions: list[tuple[int, ...]] = []
    for place, topic in enumerate(catalogue):
        own = [
            dimension
            for dimension in np.flatnonzero(fitting[place] & (owner == place)).tolist()
            if dimension not in taken
        ]
        found = best_indicator(affinities.reach[place], own)
        dimensions.append(tuple(chosen.get(topic.name, found)))
    return _matching(catalogue, phi, terms, fingerprint, affinities, dimensions, chosen)


def best_indicator(reach: Floats, candidates: Sequence[int]) -> tuple[int, ...]:
    """The ``candidates`` whose indicator has the highest cosine with ``reach``.

    Of n candidates, the n of largest reach r are best, with cosine sum(r) / (sqrt(n) |r|).
    """
    if not candidates:
        return ()
    ordered = sorted(candidates, key=lambda dimension: (-reach[dimension], dimension))
    sums = np.cumsum(reach[ordered]) / np.sqrt(np.arange(1, len(ordered) + 1))
    return tuple(ordered[: int(sums.argmax()) + 1])


def word_columns(topic: Topic, column: Mapping[str, int]) -> tuple[dict[int, float], int]:
    """The columns of the topic's words with their weights, and how many words the model knows.

    Weights add up to 1 over the known words. A bigram that the model does not count stands for
    its two words, if it counts both; each gets half.
    """
    weights = topic.weights or (1.0,) * len(topic.words)
    found: dict[int, float] = {}
    known = 0
    for term, weight in zip(topic.words, weights, strict=True):
        parts = (term,) if term in column else tuple(term.split(" "))
        if not all(part in column for part in parts):
            continue
        known += 1
        for part in parts:
            found[column[part]] = found.get(column[part], 0.0) + weight / len(parts)
    total = sum(found.values())
    return {place: weight / total for place, weight in found.items() if total}, known


def _affinities(
    catalogue: Catalogue, phi: Floats, terms: Sequence[str], sizes: Floats
) -> _Affinities:
    column = {term: place for place, term in enumerate(terms)}
    share = np.zeros((len(catalogue), phi.shape[0]))
    reach, known = np.zeros_like(share), np.zeros(len(catalogue), np.int64)
    for place, topic in enumerate(catalogue):
        weights, known[place] = word_columns(topic, column)
        if weights:
            columns = list(weights)
            share[place] = phi[:, columns].sum(axis=1)
            reach[place] = _responsibility(phi[:, columns], sizes) @ list(weights.values())
    overall = np.maximum(share @ sizes, np.finfo(np.float64).tiny)
    return _Affinities(share, share / overall[:, None], reach, known)


def _responsibility(phi: Floats, sizes: Floats) -> Floats:
    """P(dimension | word), for a word met anywhere in the text the model was trained on."""
    joint = sizes[:, None] * phi
    return np.asarray(joint / np.maximum(joint.sum(axis=0), np.finfo(np.float64).tiny))


def _matching(
    catalogue: Catalogue,
    phi: Floats,
    terms: Sequence[str],
    fingerprint: str,
    affinities: _Affinities,
    dimensions: Sequence[tuple[int, ...]],
    chosen: Mapping[str, Sequence[int]],
) -> Matching:
    words = salient_words(phi, terms, min(_SHOWN_WORDS, len(terms)))
    fits = tuple(
        Fit(
            topic.name,
            dimension,
            float(affinities.share[place, dimension]),
            float(affinities.lift[place, dimension]),
            float(affinities.reach[place, dimension]),
            words[dimension],
            "chosen" if topic.name in chosen else "words",
        )
        for place, topic in enumerate(catalogue)
        for dimension in dimensions[place]
    )
    given = [fit.dimension for fit in fits]
    matched = tuple(
        replace(topic, dimensions=dimensions[place]) for place, topic in enumerate(catalogue)
    )
    return Matching(
        Catalogue(matched, fingerprint),
        fits,
        tuple(_unmatched(matched, affinities)),
        tuple(sorted({each for each in given if given.count(each) > 1})),
    )


def _unmatched(topics: Sequence[Topic], affinities: _Affinities) -> list[Unmatched]:
    owner = affinities.share.argmax(axis=0)
    found = []
    for place, topic in enumerate(topics):
        if topic.dimensions:
            continue
        known, nearest = int(affinities.known[place]), int(affinities.share[place].argmax())
        share, lift = float(affinities.share[place, nearest]), affinities.lift[place, nearest]
        if not known:
            why = "the model knows none of its words"
        elif owner[nearest] != place:
            why = f"dimension {nearest}, its nearest, is more about {topics[owner[nearest]].name!r}"
        else:
            why = f"dimension {nearest}, its nearest, has share {share:.3f} and lift {lift:.1f}"
        found.append(Unmatched(topic.name, known, nearest if known else None, share, why))
    return found


def _check(
    catalogue: Catalogue,
    phi: Floats,
    chosen: Mapping[str, Sequence[int]],
    least_share: float,
    least_lift: float,
) -> None:
    if not 0.0 < least_share <= 1.0:
        raise ParameterError(f"least share must be > 0 and <= 1, got {least_share}.")
    if not 0.0 <= least_lift < np.inf:
        raise ParameterError(f"least lift must be >= 0, got {least_lift}.")
    for name, dimensions in chosen.items():
        if name not in catalogue.by_name:
            raise ParameterError(f"the catalogue has no topic {name!r}.")
        if not dimensions:
            raise ParameterError(f"{name!r} must be given at least 1 dimension, got none.")
        outside = [each for each in dimensions if not 0 <= each < phi.shape[0]]
        if outside:
            raise ParameterError(
                f"dimensions must be 0 to {phi.shape[0] - 1} in this model, got {outside[0]}."
            )


def model_catalogue(
    phi: Floats,
    terms: Sequence[str],
    *,
    fingerprint: str,
    count: int = SALIENT_WORDS,
    relevance: float = 1.0,
    sizes: Floats | None = None,
) -> Catalogue:
    """One topic for each latent dimension, named by its number and first words, yet to be judged.

    R-Susceptibility, section 4.1. Weights are the words' probabilities in the dimension.
    """
    column = {term: place for place, term in enumerate(terms)}
    words = salient_words(phi, terms, count, relevance=relevance, sizes=sizes)
    digits = len(str(phi.shape[0] - 1))
    topics = tuple(
        Topic(
            name=f"{number:0{digits}} {' '.join(own[:_NAMING_WORDS])}",
            words=own,
            domain=UNJUDGED,
            weights=tuple(float(phi[number, column[word]]) for word in own),
            dimensions=(number,),
        )
        for number, own in enumerate(words)
    )
    return Catalogue(topics, fingerprint)
