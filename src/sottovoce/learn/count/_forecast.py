"""What a count together will show, from public figures alone, before anybody spends.

Of D documents with S votes each, M words, and n peers of whom the noise of h counts, a cell has
noise of variance v = (n/h) 2 a/(1 - a)^2 with a = e^(-epsilon/S): about 2 (n/h) (S/epsilon)^2.

*Words*: the standard error of a word's votes is sqrt(v), against about D (S - 1)/M of them.

*Pairs*: noise and chance make eigenvalues up to 2 sqrt(M (v + 3 L)), L = 2 D S/M^2 votes a pair; of
texts, dimension k has one of about S D/(9 k M^(1/2)). So about

    dimensions = u/26,    u = (D/M) / sqrt((n/h)/epsilon^2 + 3 D/(S M^2))

stand above it: twice the documents, or twice epsilon, or half the words, show twice as many. With e
of them a reader recognises about 0.7 K x/(1 + x) of K topics, x = (e/(0.216 K))^1.47.

*Classes*: what a classifier keeps of its gain over guessing the largest label is about
1/(1 + (6/x)^1.6), with x = D q epsilon ((S - 1)/S) / sqrt(2 M n/h) and q the share of a smaller one
of K labels: 1/K, or (1 - p)/(K - 1) if that is less, where the largest has the share p.

The constants were found on blog openings and complaints (dimensions, topics) and on messages,
complaints and news (classes). Texts of another kind may be twice as good or as bad.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sottovoce._forecasts import check_accuracies, fewest_documents
from sottovoce._notebook import html_facts
from sottovoce.learn.count._recipe import CountRecipe
from sottovoce.privacy._exact import Exact, positive, positive_integer
from sottovoce.privacy.shares import SharesLaw

_A_DIMENSION, _BUNCHED = 26.0, 3.0
_SEEN, _HALF, _STEEP = 0.7, 0.216, 1.47
_KEPT_HALF, _KEPT_STEEP = 6.0, 1.6
_TOO_FEW = 0.2
"""Of the topics asked for; fewer are not worth what they cost."""


@dataclass(frozen=True, repr=False)
class CountForecast:
    """What a count together will show, by rule of thumb.

    >>> from sottovoce.learn.count import forecast_count
    >>> few = forecast_count(documents=3_573, words=300, epsilon=1, votes=30, parties=4)
    >>> few.topics_seen, few.too_few_for_topics
    (0, True)
    >>> few.at(documents=100_000).topics_seen
    13
    """

    documents: int
    words: int
    votes: int
    epsilon: Fraction
    parties: int
    drop: int = 0
    collude: int = 1
    topics: int = 25
    """How many are looked for."""
    labels: int = 2
    true_accuracy: float | None = None
    """What a classifier reaches where there is no noise, if that is known."""
    largest_label: float | None = None
    """The share of the largest label, if that is known."""

    def __post_init__(self) -> None:
        for name in ("documents", "words", "topics", "labels"):
            positive_integer(getattr(self, name), name)
        recipe = CountRecipe("words", self.votes, self.epsilon, self.drop, self.collude)
        recipe.check_parties(self.parties)
        check_accuracies(
            {"true_accuracy": self.true_accuracy, "largest_label": self.largest_label},
            "the accuracy without noise and the share of the largest label",
        )

    @property
    def honest(self) -> int:
        """The fewest peers, h, whose noise is in the sum and told to nobody."""
        return self.parties - self.drop - self.collude

    @property
    def error(self) -> float:
        """The standard error of each cell, with all peers in the sum."""
        rate = self.epsilon / self.votes
        return float(SharesLaw(rate, shares=self.parties, among=self.honest).variance ** 0.5)

    @property
    def relative_error(self) -> float:
        """That error, as a part of the votes of a word that is as frequent as the mean."""
        return self.error * self.words / (self.documents * max(self.votes - 1, 1))

    @property
    def dimensions(self) -> float:
        """How many directions of the pairs will stand above noise and chance, about."""
        noise = self.parties / self.honest / float(self.epsilon) ** 2
        chance = _BUNCHED * self.documents / (self.votes * self.words**2)
        return self.documents / self.words / math.sqrt(noise + chance) / _A_DIMENSION

    @property
    def topics_seen(self) -> int:
        """How many of the topics a reader will recognise, about."""
        reached: float = (self.dimensions / (_HALF * self.topics)) ** _STEEP
        return round(_SEEN * self.topics * reached / (1 + reached))

    @property
    def too_few_for_topics(self) -> bool:
        """Whether less than a fifth of the topics will be seen."""
        return self.topics_seen < _TOO_FEW * self.topics

    @property
    def gain_kept(self) -> float:
        """The part of a classifier's gain over guessing the largest label that is left."""
        noise = math.sqrt(2 * self.words * self.parties / self.honest)
        votes = self.documents * self._smaller_label() * (self.votes - 1) / self.votes
        signal = votes * float(self.epsilon) / noise
        return float(1 / (1 + (_KEPT_HALF / max(signal, 1e-9)) ** _KEPT_STEEP))

    @property
    def accuracy(self) -> float | None:
        """Of a classifier from word votes by label, about."""
        if self.true_accuracy is None or self.largest_label is None:
            return None
        return self.largest_label + self.gain_kept * (self.true_accuracy - self.largest_label)

    def _smaller_label(self) -> float:
        """The share of documents that a smaller label has, about."""
        even = 1 / self.labels
        if self.largest_label is None:
            return even
        return min(even, (1 - self.largest_label) / max(self.labels - 1, 1))

    def at(self, documents: int) -> "CountForecast":
        """The same for another number of documents."""
        return replace(self, documents=documents)

    def documents_for(self, topics_seen: int) -> int | None:
        """How many documents would show so many of the topics, about; None: no number would."""
        positive_integer(topics_seen, "topics_seen")
        return fewest_documents(lambda number: self.at(number).topics_seen >= topics_seen)

    def in_words(self) -> str:
        """The forecast in sentences."""
        told = f"About {self.topics_seen} of {self.topics} topics will be recognised"
        if self.too_few_for_topics:
            needed = self.documents_for(max(1, round(_TOO_FEW * self.topics)))
            more = "" if needed is None else f": about {needed:,} would show a fifth of them"
            told = f"{self.documents:,} documents are too few for topics{more}"
        classes = f"A classifier keeps about {self.gain_kept:.0%} of its gain over guessing"
        if self.accuracy is not None:
            classes += f", an accuracy of about {self.accuracy:.2f}"
        return (
            f"{told}. {classes}. The standard error of a cell is {self.error:.3g} votes, "
            f"{self.relative_error:.0%} of a usual word's."
        )

    def facts(self) -> dict[str, object]:
        """The figures by name."""
        return {
            "documents": self.documents,
            "words": self.words,
            "votes": self.votes,
            "epsilon": float(self.epsilon),
            "parties": self.parties,
            "drop": self.drop,
            "collude": self.collude,
            "error": self.error,
            "relative_error": self.relative_error,
            "dimensions": self.dimensions,
            "topics": self.topics,
            "topics_seen": self.topics_seen,
            "too_few_for_topics": self.too_few_for_topics,
            "gain_kept": self.gain_kept,
            "accuracy": self.accuracy,
        }

    def __repr__(self) -> str:
        return (
            f"CountForecast(documents={self.documents}, error={self.error:.3g}, "
            f"topics_seen={self.topics_seen} of {self.topics}, gain_kept={self.gain_kept:.2f})"
        )

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        return html_facts(self.facts(), "What a count together will show, about")


def forecast_count(
    *,
    documents: int,
    words: int,
    epsilon: Exact,
    votes: int = 10,
    parties: int = 3,
    drop: int = 0,
    collude: int = 1,
    topics: int = 25,
    labels: int = 2,
    true_accuracy: float | None = None,
    largest_label: float | None = None,
) -> CountForecast:
    """What counting ``documents`` together would show; nothing private is asked, nothing spent.

    Args:
        documents: of all peers together, about.
        words: of the public list.
        epsilon: of a whole document.
        votes: S, the most votes of a document.
        parties: how many peers count together.
        drop: how many of them may be lost on the way.
        collude: how many of them may work against the others.
        topics: how many will be looked for, in pairs of words.
        labels: how many there are, where words are counted by label.
        true_accuracy: of a classifier where there is no noise, if that is known.
        largest_label: the share of the largest label, if that is known.

    Example:
        >>> from sottovoce.learn.count import forecast_count
        >>> forecast = forecast_count(documents=20_000, words=300, epsilon=1, parties=4)
        >>> str(forecast)[:39]
        '20,000 documents are too few for topics'
    """
    return CountForecast(
        documents,
        words,
        votes,
        positive(epsilon, "epsilon"),
        parties,
        drop,
        collude,
        topics,
        labels,
        true_accuracy,
        largest_label,
    )
