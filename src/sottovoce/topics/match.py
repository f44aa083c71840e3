"""Which latent dimensions of a trained model stand for which topics of a catalogue.

A topic may be spread over several dimensions, and a strength of interest is a cosine with their
indicator. So a dimension is taken in only if it raises that cosine for a text made of the topic's
own words. No two topics get the same dimension unasked: their scores would be equal, and a measure
that subtracts the interest in the rest of the domain would subtract the topic from itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.load import load_model
from sottovoce.topics.salient import (
    SALIENT_WORDS,
    Affinities,
    affinities_of,
    checked_sizes,
    salient_words,
)

LEAST_SHARE = 0.05
LEAST_WORDS = 3
LEAST_REACH = 0.1
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
    telling: int
    """How many of the topic's words are characteristic of the dimension."""
    reach: float
    """How much of a text made of the topic's words the dimension would take up."""
    words: tuple[str, ...]
    """The dimension's own most salient words."""
    how: How
    also: str | None = None
    """Another topic whose words have at least half as much of the dimension: it mixes the two."""


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

    def without_unmatched(self) -> Catalogue:
        """The catalogue without the topics that nothing stands for, so that it can be scored."""
        matched = tuple(topic for topic in self.catalogue if topic.dimensions)
        if not matched:
            raise InputError("no topic matches any dimension: the model is about other things.")
        return replace(self.catalogue, topics=matched)

    def require_all(self) -> None:
        """Refuse a catalogue with topics that nothing stands for."""
        if self.unmatched:
            first = self.unmatched[0]
            raise InputError(
                f"{len(self.unmatched)} of {len(self.catalogue)} topics match no dimension, the "
                f"first {first.topic!r}: {first.why}. Choose one (--choose TOPIC=DIMENSION, in "
                "Python chosen=), or continue without them (--allow-unmatched, in Python "
                "without_unmatched())."
            )


def match_model(
    catalogue: Catalogue,
    model: LdaModel,
    *,
    chosen: Mapping[str, Sequence[int]] | None = None,
    least_share: float = LEAST_SHARE,
) -> Matching:
    """Match every topic to the latent dimensions of ``model`` by its words.

    A dimension can stand for the topic whose words have the largest share of it, if that share is
    at least ``least_share`` and three of the words are three times as likely in it as overall.
    Together such dimensions must take up a tenth of a text made of the topic's words. ``chosen``
    overrules this for the topics it names.

    >>> from sottovoce.topics import Topic
    >>> import numpy as np
    >>> from sottovoce.corpus import TokenRules, Vocabulary
    >>> words = Vocabulary.public(["debt", "loan", "baby", "birth"])
    >>> phi = np.array([[0.5, 0], [0.5, 0], [0, 0.5], [0, 0.5]])
    >>> model = LdaModel(phi, np.ones(2), words, TokenRules())
    >>> catalogue = Catalogue((Topic("debts", ("debt", "loan"), "money"),))
    >>> match_model(catalogue, model, chosen={"debts": [0]}).catalogue.topics[0].dimensions
    (0,)
    """
    chosen = chosen or {}
    form, shortest = model.rules.former(), model.rules.shortest
    phi, terms = by_dimension(model), model.vocabulary.terms
    _check(catalogue, model, chosen, least_share)
    affinities = affinities_of(
        catalogue,
        phi,
        terms,
        checked_sizes(phi, model.alpha),
        lambda word: form(word) if len(word) >= shortest else None,
    )
    fitting = _fitting(catalogue, affinities, least_share)
    fitting[:, [dimension for given in chosen.values() for dimension in given]] = False
    found = [_find_fit(affinities.reach[place], fitting[place]) for place in range(len(catalogue))]
    dimensions = [
        tuple(chosen.get(name, own)) for name, own in zip(catalogue.names, found, strict=True)
    ]
    fits = _list_fits(catalogue, model, affinities, dimensions, chosen)
    given = Counter(fit.dimension for fit in fits)
    matched = tuple(
        replace(topic, dimensions=dimensions[place]) for place, topic in enumerate(catalogue)
    )
    return Matching(
        Catalogue(matched, model.fingerprint),
        fits,
        tuple(_list_unmatched(matched, affinities)),
        tuple(sorted(each for each, times in given.items() if times > 1)),
    )


def _list_fits(
    catalogue: Catalogue,
    model: LdaModel,
    affinities: Affinities,
    dimensions: Sequence[tuple[int, ...]],
    chosen: Mapping[str, Sequence[int]],
) -> tuple[Fit, ...]:
    phi, terms = by_dimension(model), model.vocabulary.terms
    words = salient_words(phi, terms, min(_SHOWN_WORDS, len(terms)))
    return tuple(
        Fit(
            topic.name,
            dimension,
            float(affinities.share[place, dimension]),
            float(affinities.lift[place, dimension]),
            int(affinities.telling[place, dimension]),
            float(affinities.reach[place, dimension]),
            words[dimension],
            "chosen" if topic.name in chosen else "words",
            _also(catalogue, affinities.share[:, dimension], place),
        )
        for place, topic in enumerate(catalogue)
        for dimension in dimensions[place]
    )


def catalogue_of(
    model: LdaModel, *, count: int = SALIENT_WORDS, relevance: float = 1.0
) -> Catalogue:
    """One topic for each latent dimension, named by its number and first words, yet to be judged.

    R-Susceptibility, section 4.1. Weights are the words' probabilities in the dimension.
    """
    phi, terms = by_dimension(model), model.vocabulary.terms
    column = model.vocabulary.column
    words = salient_words(phi, terms, count, relevance=relevance, sizes=model.alpha)
    digits = len(str(len(phi) - 1))
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
    return Catalogue(topics, model.fingerprint)


def load_latent(path: Path) -> LdaModel:
    """The topic model in the folder ``path``; other kinds have no latent dimensions to match."""
    model = load_model(path)
    if not isinstance(model, LdaModel):
        raise InputError(f"only an lda model has latent topics to match, got {model.name}.")
    return model


def by_dimension(model: LdaModel) -> Floats:
    """Phi with a row for each dimension."""
    return model.phi.T.astype("float64")


def _fitting(catalogue: Catalogue, affinities: Affinities, least_share: float) -> NDArray[np.bool_]:
    """Topics x dimensions: which could stand for which; at most one topic to a dimension."""
    owner = affinities.share.argmax(axis=0)
    own = owner[None, :] == np.arange(len(catalogue))[:, None]
    words = np.array([min(LEAST_WORDS, len(topic.words)) for topic in catalogue])
    several = affinities.telling >= words[:, None]
    return np.asarray(own & several & (affinities.share >= least_share))


def _find_fit(reach: Floats, fitting: NDArray[np.bool_]) -> tuple[int, ...]:
    best = best_indicator(reach, np.flatnonzero(fitting).tolist())
    return best if reach[list(best)].sum() >= LEAST_REACH else ()


def best_indicator(reach: Floats, candidates: Sequence[int]) -> tuple[int, ...]:
    """The ``candidates`` whose indicator has the highest cosine with ``reach``.

    Of n candidates, the n of largest reach r are best, with cosine sum(r) / (sqrt(n) |r|).
    """
    if not candidates:
        return ()
    ordered = sorted(candidates, key=lambda dimension: (-reach[dimension], dimension))
    sums = np.cumsum(reach[ordered]) / np.sqrt(np.arange(1, len(ordered) + 1))
    return tuple(ordered[: int(sums.argmax()) + 1])


def _also(catalogue: Catalogue, share: Floats, place: int) -> str | None:
    others = share.copy()
    others[place] = -1.0
    rival = int(others.argmax())
    return (
        catalogue.names[rival] if others[rival] >= share[place] / 2 and others[rival] > 0 else None
    )


def _list_unmatched(topics: Sequence[Topic], affinities: Affinities) -> list[Unmatched]:
    owner = affinities.share.argmax(axis=0)
    found = []
    for place, topic in enumerate(topics):
        if topic.dimensions:
            continue
        known, nearest = int(affinities.known[place]), int(affinities.share[place].argmax())
        share, telling, reach = affinities.score_pair(place, nearest)
        if not known:
            why = "the model knows none of its words"
        elif owner[nearest] != place:
            why = f"dimension {nearest}, its nearest, is more about {topics[owner[nearest]].name!r}"
        else:
            why = (
                f"of dimension {nearest}, its nearest, its words are {share:.1%}, {telling} of "
                f"them are characteristic of it, and it would take up {reach:.1%} of a text made "
                "of them"
            )
        found.append(Unmatched(topic.name, known, nearest if known else None, share, why))
    return found


def _check(
    catalogue: Catalogue, model: LdaModel, chosen: Mapping[str, Sequence[int]], least_share: float
) -> None:
    if not 0.0 < least_share <= 1.0:
        raise ParameterError(f"least share must be > 0 and <= 1, got {least_share}.")
    for name, dimensions in chosen.items():
        if name not in catalogue.by_name:
            raise ParameterError(f"the catalogue has no topic {name!r}.")
        if not dimensions:
            raise ParameterError(f"{name!r} must be given at least 1 dimension, got none.")
        outside = [each for each in dimensions if not 0 <= each < model.dimensions]
        if outside:
            raise ParameterError(
                f"dimensions must be 0 to {model.dimensions - 1} in this model, got {outside[0]}."
            )
