"""What a classifier of a release will reach, tried on a pilot: true documents that are at hand.

How much of a classifier's accuracy noise takes depends on how the classes differ, which no public
figure says. A pilot says it: its documents get noise, a classifier learns from most of them and
tells the others, which are true. What noise does to sums over a class depends on the noise's
variance over the number of documents alone, so that P documents to learn from, with noise of the
variance

    v0 = v P/D,

stand for D documents with noise of variance v. For two-sided geometric noise v = 1/(cosh r - 1).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sottovoce._arrays import Floats, Integers
from sottovoce._notebook import html_facts
from sottovoce.errors import ParameterError
from sottovoce.privacy._exact import Exact, positive, positive_integer
from sottovoce.privacy._mechanism import geometric_noise
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release._counts import Counts, Matrix, checked_counts
from sottovoce.release.classify._choice import chosen_classifier
from sottovoce.release.classify._inputs import balanced_folds, encoded, refuse_texts

# Of each draw two fifths of the documents are told, each by a classifier of the other four fifths.
_FOLDS, _TOLD = 5, 2
FEWEST = 50
"""A pilot of fewer documents says too little."""
MOST_CELLS = 4_000_000
"""Of a larger pilot as many documents are drawn: it would take minutes, and say no more."""


@dataclass(frozen=True, repr=False)
class AccuracyForecast:
    """The accuracy to expect of a classifier that learns from a release, by a pilot.

    Private where the pilot is: it follows from true documents.

    >>> AccuracyForecast(0.72, 0.69, 0.75, 0.46, documents=10_000, rate=0.2, pilot=800)
    AccuracyForecast(accuracy=0.720, low=0.690, high=0.750, guessing=0.460)
    """

    accuracy: float
    low: float
    """One release in 40 will be below, about."""
    high: float
    """One release in 40 will be above, about."""
    guessing: float
    """What always naming the largest class gets right."""
    documents: int
    """How many the classifier would learn from."""
    rate: float
    """Of the noise, in nats per word: epsilon/N."""
    pilot: int
    """How many documents were tried."""

    def in_words(self) -> str:
        """The forecast as a sentence."""
        return (
            f"A classifier that learns from {self.documents:,} released documents will tell about "
            f"{self.accuracy:.0%} of true ones ({self.low:.0%} to {self.high:.0%}; guessing gets "
            f"{self.guessing:.0%})."
        )

    def facts(self) -> dict[str, float]:
        """The figures by name."""
        return dict(vars(self))

    def __repr__(self) -> str:
        return (
            f"AccuracyForecast(accuracy={self.accuracy:.3f}, low={self.low:.3f}, "
            f"high={self.high:.3f}, guessing={self.guessing:.3f})"
        )

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        return html_facts(self.facts(), "Accuracy to expect")


def forecast_accuracy(
    counts: Matrix,
    labels: ArrayLike,
    *,
    epsilon: Exact,
    precision: int,
    documents: int | None = None,
    draws: int = 5,
    seed: int = 0,
) -> AccuracyForecast:
    """The accuracy to expect of a classifier of a release, tried on true documents at hand.

    Nothing is released and no ledger is charged; the answer is as private as the documents are.

    Args:
        counts: of the pilot, documents by the columns that would be released.
        labels: its classes. They should have the shares that they will have in the release.
        epsilon: of the release that is planned.
        precision: its N.
        documents: how many it will have; None: as many as the pilot.
        draws: how often noise is drawn for the trial, at least 2.
        seed: of which documents are told in each draw; the noise has none.

    >>> import numpy as np
    >>> kinds = np.repeat(["debt", "sport"], 100)
    >>> counts = np.where(kinds[:, None] == "debt", [3, 0], [0, 3])
    >>> forecast_accuracy(counts, kinds, epsilon=5, precision=1, documents=1000).accuracy > 0.9
    True
    """
    rate = float(positive(epsilon, "epsilon") / positive_integer(precision, "precision"))
    positive_integer(draws, "draws")
    if draws < 2:  # noqa: PLR2004 - one has no spread
        raise ParameterError(f"draws must be at least 2, got {draws}: one has no spread.")
    refuse_texts(counts)
    known = checked_counts(counts)
    asked = known.shape[0] if documents is None else positive_integer(documents, "documents")
    codes = encoded(labels, known.shape[0])[1]
    rows = _tried(codes, known.shape[1], asked, seed)
    told = _accuracies(
        known[rows], codes[rows], _rate_of_pilot(rate, rows.size, asked), draws, seed
    )
    half = _half_range(told)
    mean = float(told.mean())
    return AccuracyForecast(
        mean,
        max(mean - half, 0.0),
        min(mean + half, 1.0),
        float(np.bincount(codes).max() / codes.size),
        documents=asked,
        rate=rate,
        pilot=rows.size,
    )


def _tried(codes: Integers, columns: int, documents: int, seed: int) -> Integers:
    """Which documents are tried: no more than are worth it, and than are learnt from."""
    if codes.size < FEWEST:
        raise ParameterError(f"a pilot must have at least {FEWEST} documents, got {codes.size}.")
    learnt = -(-documents * _FOLDS // (_FOLDS - 1))
    number = max(FEWEST, min(codes.size, learnt, MOST_CELLS // columns))
    drawn = np.random.default_rng([seed, codes.size]).permutation(codes.size)[:number]
    if len(np.unique(codes[drawn])) == 1:
        raise ParameterError(
            f"the {number:,} documents that would be tried are all of one class; give a pilot with "
            "more documents of the others."
        )
    return np.sort(drawn)


def _rate_of_pilot(rate: float, pilot: int, documents: int) -> Fraction:
    """The rate at which what is learnt from the pilot stands for so many ``documents``."""
    learnt = pilot * (_FOLDS - 1) / _FOLDS
    variance = NoiseLaw(rate).variance * learnt / documents
    return Fraction(math.acosh(1 + 1 / variance)).limit_denominator(10_000)


def _accuracies(counts: Counts, codes: Integers, rate: Fraction, draws: int, seed: int) -> Floats:
    """Of each draw of the noise."""
    return np.array(
        [
            np.mean(np.concatenate(list(_right(counts, codes, rate, seed + draw))))
            for draw in range(draws)
        ]
    )


def _right(counts: Counts, codes: Integers, rate: Fraction, seed: int) -> Iterator[Floats]:
    """Whether each document of two folds is told right."""
    cells = checked_counts(geometric_noise(counts, rate), signed=True)
    folds = balanced_folds(codes, seed, _FOLDS)
    for fold in range(_TOLD):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        chosen = chosen_classifier(cells[known], codes[known], float(rate), seed=seed)
        yield np.asarray(chosen.predict(counts[held]) == codes[held], np.float64)


def _half_range(values: Floats) -> float:
    """Where one more such value lies in 19 of 20 cases: t s sqrt(1 + 1/n) to either side."""
    number = values.size
    quantile = float(special.stdtrit(number - 1, 0.975))
    return quantile * float(values.std(ddof=1)) * math.sqrt(1 + 1 / number)
