"""What a reader will see in a release that nobody has made yet, from public figures alone.

For D documents of n counted words each, M columns and noise of variance v, dimension k of the texts
has the strength

    l_k = a n^2 k^-b / (v + c n)

a document, in units of the noise: documents are as far apart as their lengths allow, and each
further dimension is weaker. It is seen where l_k > sqrt(M/D), so that

    dimensions = (a n^2 sqrt(D/M) / (v + c n))^(1/b).

What a classifier keeps of its gain over always guessing the largest class follows, with y the
normal quantile of its accuracy on true text (1 where that is not known), from

    x = 2 D n y^2 / (M v),    kept = 1 / (1 + (x1/x)^g).

a, b, c and x1, g were fitted to complaints, news, encyclopaedia and blog texts; the guide shows how
far they are off there. Texts of another kind may be as far off again. No public figure says how the
classes differ, so that accuracies come with a range; a pilot says more (`forecast_accuracy`).
"""

import math
from dataclasses import dataclass, replace

from scipy import special

from sottovoce._forecasts import check_accuracies, fewest_documents
from sottovoce._notebook import html_facts
from sottovoce.errors import ParameterError
from sottovoce.privacy._exact import Exact, positive, positive_integer
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.privacy._sampler import check_rate
from sottovoce.release.analysis._meter import recognised_topics

_SIGNAL, _DECAY, _CHANCE = 0.0046, 1.3, 0.0038
_HALF, _SLOPE = 3.1, 0.65
# What a classifier reaches on true text where that is not known: its normal quantile is 1.
_TYPICAL = 0.84
# Where nine in ten of 180 accuracies lay that were measured for 15 labellings of development texts.
_BELOW, _ABOVE = 0.15, 0.08
# Beyond, there is next to nothing to gain in such an example.
_GUESSED = 0.7
DEFAULT_TOPICS = 25
# Below what changes the accuracies of complaints and news, by which the rule was found.
_SEVERAL = 0.9
# More than all people have written, and squares of it are still numbers.
_MOST = 10**15


@dataclass(frozen=True, repr=False)
class ReleaseForecast:
    """What a reader of a release will see, by rule of thumb.

    >>> from sottovoce.release.analysis import forecast_release
    >>> forecast = forecast_release(
    ...     documents=100_000, length=70, words=1000, epsilon=2, precision=4, topics=25
    ... )
    >>> forecast.topics_seen > forecast.at(documents=1000).topics_seen
    True
    """

    documents: int
    length: float
    """Counted words a document, about."""
    columns: int
    rate: float
    """Of the noise, in nats per word: epsilon/N."""
    topics: int = DEFAULT_TOPICS
    """How many are looked for."""
    true_accuracy: float | None = None
    """What a classifier reaches on the true text, if that is known."""
    largest_class: float | None = None
    """The share of the largest class, if that is known."""
    repetition: float = math.inf
    """How many times likelier a word is where it was used once; about 3 for simulated documents."""

    def __post_init__(self) -> None:
        for name in ("documents", "columns", "topics"):
            _check_number(getattr(self, name), "words" if name == "columns" else name)
        if not 0 < self.length <= _MOST:
            raise ParameterError(
                f"length must be > 0 and at most {_MOST:.0e}, in words a document; "
                f"got {self.length}."
            )
        check_accuracies(
            {"true_accuracy": self.true_accuracy, "largest_class": self.largest_class},
            "the accuracy on true text and the share of the largest class",
        )
        if (self.true_accuracy or 1) < (self.largest_class or 0):
            raise ParameterError(
                "true_accuracy must be at least largest_class, what guessing gets; got "
                f"{self.true_accuracy:g} and {self.largest_class:g}."
            )
        NoiseLaw(self.rate)

    @property
    def dimensions(self) -> int:
        """How many dimensions of meaning will stand above the noise, about."""
        return round(min(self._dimensions(), self.columns))

    @property
    def topics_seen(self) -> int:
        """How many of the topics a reader will recognise, about."""
        return round(recognised_topics(self.dimensions, self.topics, self.repetition))

    @property
    def gain_kept(self) -> float:
        """The part of a classifier's gain over guessing the largest class that is left."""
        variance = NoiseLaw(self.rate).variance
        signal = 2 * self.documents * self.length * self._apart**2 / (self.columns * variance)
        return float(1 / (1 + (_HALF / max(signal, 1e-12)) ** _SLOPE))

    @property
    def accuracy(self) -> float | None:
        """Of a classifier that is trained on the release and reads true documents, about."""
        if self.true_accuracy is None or self.largest_class is None:
            return None
        return self.largest_class + self.gain_kept * (self.true_accuracy - self.largest_class)

    @property
    def accuracy_range(self) -> tuple[float, float] | None:
        """Where the accuracy lies for nine labellings in ten: more depends on how classes differ.

        `sottovoce.release.classify.forecast_accuracy` says it of documents at hand.
        """
        if self.accuracy is None or self.true_accuracy is None:
            return None
        low, high = self.accuracy - _BELOW, self.accuracy + _ABOVE
        return max(low, 0.0), min(high, self.true_accuracy)

    def at(self, documents: int) -> "ReleaseForecast":
        """The same for another number of documents."""
        return replace(self, documents=documents)

    def documents_for(self, topics_seen: int) -> int | None:
        """How many documents would show so many of the topics, about; None: no number would."""
        positive_integer(topics_seen, "topics_seen")
        return fewest_documents(lambda number: self.at(number).topics_seen >= topics_seen)

    def in_words(self, guessing: float = 0.5) -> str:
        """The forecast in sentences; ``guessing``: how often that is right, for an example."""
        seen, asked = self.topics_seen, self.topics
        told = f"A reader will recognise about {seen} of {asked} topics"
        more = min(asked // 2, max(2 * seen, 5))
        needed = self.documents_for(more) if more > seen else None
        if needed is not None and needed > self.documents:
            told += f"; {more} would need about {needed:,} documents of this length"
        gain = f"A classifier keeps about {self.gain_kept:.0%} of its gain over guessing"
        return f"{told}. {gain}{self._example(guessing)}."

    def _example(self, guessing: float) -> str:
        if self.accuracy_range is not None:
            low, high = self.accuracy_range
            return (
                f", an accuracy of about {self.accuracy:.2f} ({low:.2f} to {high:.2f}, by how the "
                "classes differ)"
            )
        if guessing > _GUESSED:
            return ""
        then = guessing + self.gain_kept * (_TYPICAL - guessing)
        return (
            f": one that gets {_TYPICAL:.0%} of documents right when it learns from true text, "
            f"where guessing gets {guessing:.0%}, would get about {then:.0%}"
        )

    def facts(self) -> dict[str, object]:
        """The figures by name."""
        return {
            "documents": self.documents,
            "length": self.length,
            "columns": self.columns,
            "rate": self.rate,
            "dimensions": self.dimensions,
            "topics": self.topics,
            "topics_seen": self.topics_seen,
            "gain_kept": self.gain_kept,
            "accuracy": self.accuracy,
            "accuracy_range": self.accuracy_range,
        }

    def __repr__(self) -> str:
        return (
            f"ReleaseForecast(documents={self.documents}, dimensions={self.dimensions}, "
            f"topics_seen={self.topics_seen} of {self.topics}, gain_kept={self.gain_kept:.2f})"
        )

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        return html_facts(self.facts(), "What a reader will see, about")

    @property
    def _apart(self) -> float:
        """How far classes lie apart: the normal quantile of the accuracy on true text.

        That is of two classes. Of several, an accuracy near a half says much more, and is taken as
        the part of the way from guessing to always right that it is.
        """
        if self.true_accuracy is None:
            return 1.0
        quantile = float(special.ndtri(self.true_accuracy))
        guessed = 0.5 if self.largest_class is None else self.largest_class
        part = (self.true_accuracy - guessed) / (1 - guessed)
        return max(quantile, _SEVERAL * float(special.ndtri((1 + part) / 2)), 0.0)

    def _dimensions(self) -> float:
        variance = NoiseLaw(self.rate).variance
        signal = _SIGNAL * self.length**2 / (variance + _CHANCE * self.length)
        return float((signal * (self.documents / self.columns) ** 0.5) ** (1 / _DECAY))


def _check_number(value: int, name: str) -> None:
    if positive_integer(value, name) > _MOST:
        raise ParameterError(f"{name} must be at most {_MOST:.0e}.")


def dimensions_grown(dimensions: int, times: float) -> float:
    """About how many dimensions so many ``times`` the documents would show, of the same length."""
    return float(dimensions * times ** (1 / (2 * _DECAY)))


def forecast_release(
    *,
    documents: int,
    length: float,
    words: int,
    epsilon: Exact,
    precision: int,
    topics: int = DEFAULT_TOPICS,
    true_accuracy: float | None = None,
    largest_class: float | None = None,
    repetition: float = math.inf,
) -> ReleaseForecast:
    """What a reader would see of ``documents`` of about ``length`` counted words each.

    ``words``: how many are counted, or columns after compression. With ``true_accuracy``, what a
    classifier reaches on the true text, and the share of the ``largest_class``, the accuracy of one
    that is trained on the release. ``repetition``: about 3 for documents that are drawn from topics
    and not written by people. Nothing private is asked.

    >>> str(forecast_release(documents=1000, length=10, words=1000, epsilon=1, precision=2))[:33]
    'A reader will recognise about 0 o'
    """
    rate = positive(epsilon, "epsilon") / positive_integer(precision, "precision")
    check_rate(rate)
    return ReleaseForecast(
        documents,
        float(length),
        words,
        float(rate),
        topics,
        true_accuracy,
        largest_class,
        repetition,
    )
