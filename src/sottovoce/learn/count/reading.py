"""Topics and a classifier of documents from an opened sum: free post-processing of it alone.

Naive Bayes needs of the documents no more than how often those of each label use each word, which
is what was counted. With n_kw the votes of label k for word w, noise included, and s the standard
deviation of the noise in each cell, the share of word w is

    (max(n_kw, 0) + max(s, 1)) / sum over words of the same,

so that a word whose votes the noise could have made says next to nothing of the label. More noise
draws all labels' shares together. Ratios of the labels that were shrunk by their own distribution
(empirical Bayes) were worse at epsilon 1: an error of .043 instead of .035 on short messages, of
.31 instead of .27 on news. Shares drawn towards those of all labels were no better on the whole.

Topics: Which documents there are nobody asks: the pairs' votes and the known variance of their
noise say which words stand together beyond chance, and how sure that is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce._notebook import html_facts, html_table, text_table
from sottovoce.arrays import Floats, Integers
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.files import FilePath
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.features import word_counts
from sottovoce.topics.cooccurrence.noised import noised_pair_topics
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import Origin

FEWEST_LABELS = 2


@dataclass(frozen=True, eq=False, repr=False)
class CountedClassifier:
    """Naive Bayes from word votes by label, which classifies texts.

    Attributes:
        words: the public words, in the order of ``log_shares``.
        labels: the public label names.
        log_shares: of each word under each label: labels x words.
        log_priors: of each label, by how many documents it has.
        deviation: of the noise in each cell, by which shares were shrunk.
        rules: what a word is.
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    log_shares: Floats = field(repr=False)
    log_priors: Floats
    deviation: float
    rules: TokenRules = field(default_factory=TokenRules)

    @property
    def classes_(self) -> NDArray[np.str_]:
        """The labels, as scikit-learn has them."""
        return np.array(self.labels)

    def scores(self, texts: Sequence[str]) -> Floats:
        """The logarithm of each label's weight given each text, up to a constant a text.

        A word counts once however often a text has it, as it had one vote.
        """
        given = tuple(texts)
        if not given:
            return np.zeros((0, len(self.labels)))
        used = (word_counts(given, self.words, self.rules) > 0).astype(np.float64)
        return np.asarray(used @ self.log_shares.T + self.log_priors)

    def predict(self, texts: Sequence[str]) -> NDArray[np.str_]:
        """A label per text."""
        return np.asarray(self.classes_[self.scores(texts).argmax(axis=1)])

    def score(self, texts: Sequence[str], labels: Sequence[Any]) -> float:
        """The share of texts whose label is found."""
        return float(np.mean(self.predict(texts) == np.array([str(each) for each in labels])))

    def __repr__(self) -> str:
        return f"CountedClassifier(labels={len(self.labels)}, words={len(self.words)})"

    def _repr_html_(self) -> str:
        facts = {
            "labels": ", ".join(self.labels),
            "words": len(self.words),
            "standard deviation of a cell's noise": self.deviation,
        }
        return html_facts(facts, "Classifier, counted together")


def counted_classifier(
    counted: TogetherCounts, *, rules: TokenRules | None = None
) -> CountedClassifier:
    """The classifier of words that were counted by label; costs nothing more.

    Args:
        counted: words by label, counted together.
        rules: what a word is; as it was counted.

    Example:
        >>> import tempfile, sottovoce as sv
        >>> from sottovoce.learn.count.reading import counted_classifier
        >>> mine = (["cheap pills now", "lunch at noon"] * 200, ["spam", "ham"] * 200)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counted = sv.count_together(
        ...         [mine] * 3, words=["cheap", "lunch", "noon", "pills"], epsilon=1, votes=4,
        ...         labels=["ham", "spam"], ledger=f"{folder}/ledger",
        ...     )
        >>> counted_classifier(counted).predict(["pills, cheap!", "lunch?"]).tolist()
        ['spam', 'ham']
    """
    if counted.what != "words" or len(counted.labels) < FEWEST_LABELS:
        raise ParameterError(
            f"a classifier needs words counted by at least {FEWEST_LABELS} labels; count words "
            "with labels=[...]."
        )
    deviation = counted.variance**0.5
    shares = shrunk_shares(counted.word_totals, counted.document_totals, deviation)
    return CountedClassifier(
        counted.words, counted.labels, *shares, deviation, rules or TokenRules()
    )


def shrunk_shares(words: Integers, documents: Integers, deviation: float) -> tuple[Floats, Floats]:
    """The logarithms of each word's share under each label, and of each label's."""
    least = max(deviation, 1.0)
    votes = np.maximum(words, 0) + least
    labels = np.maximum(documents, least).astype(np.float64)
    return np.log(votes / votes.sum(axis=1, keepdims=True)), np.log(labels / labels.sum())


DEFAULT_TOPICS = 25
_COMMON = 0.05
"""What a saved topic has of the words of all, so that no word is excluded."""
_MIXTURE = 0.1
_SHOWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class CountedTopics:
    """Topics of all holders' documents, read from the pairs that they counted together.

    Attributes:
        words: the public words, in the order of ``components``.
        components: the probability of each word in each topic: topics x words.
        weights: the share of the pairs that are of each topic.
        frequencies: how often each word is used, about; they sum to 1.
        dimensions: how many directions of the pairs stand above noise and chance.
        share: the share of pairs without a topic, chosen by what was held out of the noise.
        held_out: the misfit of each share that was tried.
        facts: how it was counted, for the model's card.
    """

    words: tuple[str, ...]
    components: Floats
    weights: Floats
    frequencies: Floats
    dimensions: int
    share: float
    held_out: dict[str, float]
    facts: dict[str, str | int | float] = field(default_factory=dict)

    def top(self, most: int = _SHOWN) -> list[dict[str, object]]:
        """The topics, the largest first, each with its likeliest words."""
        rows = []
        for place in np.argsort(-self.weights, kind="stable").tolist():
            best = np.argsort(-self.components[place], kind="stable")[:most]
            shown = " ".join(self.words[word] for word in best)
            rows.append({"topic": place, "share": float(self.weights[place]), "words": shown})
        return rows

    def warning(self) -> str | None:
        """What to tell whoever asked for more topics than the sum shows; None: nothing."""
        asked = len(self.components)
        if self.dimensions >= asked:
            return None
        return (
            f"{asked} topics were asked for, but the noise of this sum leaves {self.dimensions}: "
            "further topics are partly noise. Ask for fewer topics or words, or count more "
            "documents."
        )

    def lda_model(self, rules: TokenRules | None = None) -> LdaModel:
        """As a model that ``assess --model`` and ``topics show`` take, once saved."""
        mixed = (1 - _COMMON) * self.components + _COMMON * self.frequencies
        columns = (mixed / mixed.sum(axis=1, keepdims=True)).T.astype(np.float32)
        vocabulary = Vocabulary(self.words, data_dependent=False, origin="the words of a count")
        return LdaModel(
            np.ascontiguousarray(columns),
            np.full(len(self.components), _MIXTURE),
            vocabulary,
            rules or TokenRules(),
            Origin(parameters=dict(self.facts)),
        )

    def save(self, folder: FilePath, rules: TokenRules | None = None) -> None:
        """Write the model into ``folder``; ``rules`` are those by which words were counted."""
        self.lda_model(rules).save(Path(folder))

    def __repr__(self) -> str:
        return (
            f"CountedTopics(topics={len(self.components)}, words={len(self.words)}, "
            f"dimensions={self.dimensions})"
        )

    def __str__(self) -> str:
        return text_table(self.top())

    def _repr_html_(self) -> str:
        facts = {"dimensions above the noise": self.dimensions, **self.facts}
        return html_facts(facts, "Topics counted together") + html_table(self.top(), "Topics")


def counted_topics(
    counted: TogetherCounts, topics: int = DEFAULT_TOPICS, *, seed: int = 0
) -> CountedTopics:
    """The topics of a count of pairs; costs nothing more.

    Args:
        counted: pairs of words, counted together.
        topics: how many to look for.
        seed: of what is drawn to choose how topics are read.

    Example:
        >>> import tempfile, sottovoce as sv
        >>> from sottovoce.learn import counted_topics
        >>> notes = [[f"loan debt bank {who}", f"rash itch skin {who}"] * 200 for who in "abc"]
        >>> words = ["loan", "debt", "bank", "rash", "itch", "skin"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pairs = sv.count_together(
        ...         notes, words=words, what="pairs", epsilon=4, ledger=f"{folder}/ledger"
        ...     )
        >>> found = counted_topics(pairs, 2)
        >>> sorted(" ".join(sorted(row["words"].split())) for row in found.top(3))
        ['bank debt loan', 'itch rash skin']
    """
    if counted.what != "pairs":
        raise ParameterError('topics need pairs of words; count them with what="pairs".')
    read = noised_pair_topics(
        counted.pair_totals.astype(np.float64), topics, variance=counted.variance, seed=seed
    )
    return CountedTopics(
        counted.words,
        read.topics,
        read.weights,
        read.frequencies,
        read.dimensions,
        read.share,
        read.held_out,
        _facts(counted, topics, seed),
    )


def _facts(counted: TogetherCounts, topics: int, seed: int) -> dict[str, str | int | float]:
    return {
        "method": "pairs counted together",
        "topics": topics,
        "seed": seed,
        "epsilon": str(counted.epsilon),
        "votes": counted.votes,
        "peers": counted.parties,
        "documents_about": round(counted.documents),
    }
