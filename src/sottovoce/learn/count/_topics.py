"""Topics of an opened sum of pairs of words: free post-processing, from the sum alone.

Which documents there are nobody asks: the pairs' votes and the known variance of their noise say
which words stand together beyond chance, and how sure that is.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sottovoce._notebook import html_facts, html_table, text_table
from sottovoce.arrays import Floats
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.files import FilePath
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.topics.cooccurrence.noised import noised_pair_topics
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import Origin

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
        >>> from sottovoce.learn.count import counted_topics
        >>> notes = ["loan debt bank", "rash itch skin"] * 200
        >>> words = ["loan", "debt", "bank", "rash", "itch", "skin"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pairs = sv.count_together(
        ...         [notes] * 3, words=words, what="pairs", epsilon=4, ledger=f"{folder}/ledger"
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
