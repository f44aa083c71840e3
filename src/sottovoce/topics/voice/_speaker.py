"""Who speaks: the first-person space with the speaker of each post weighed in.

In communities with helpers, those who know a topic's words best write "you": the share of the first
person among first and second person tells them from people who write of themselves.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce._compiled import Whole, kernel
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.corpus.words._rules import TokenRules
from sottovoce.topics._catalogue import Catalogue
from sottovoce.topics._rows import checked_rows, contributions_of_words, scored, topic_number
from sottovoce.topics._space import Mode
from sottovoce.topics.voice._model import VoiceModel, VoiceScorer

KIND = "voice-s"
FIRST, SECOND = 1, 2


@dataclass(frozen=True, eq=False)
class SpeakerScorer:
    """The evidence of a post's words times the share of the first person in it."""

    words: VoiceScorer
    person: NDArray[np.uint8]
    """Of each word: the first person, the second, or 0."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The catalogue's topics, in its order."""
        return self.words.topics

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that tell something, and the persons."""
        return self.words.vocabulary

    @property
    def rules(self) -> TokenRules:
        """How texts become counts."""
        return self.words.rules

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """For each post and topic, evidence e (1 + f) / (2 + f + s), in nats.

        f and s are how often the post has words of the first and of the second person. The factor
        is the mean share of the first person after f + s draws from a uniform prior (Laplace's rule
        of succession): 1/2 without either, towards 1 for who speaks of themselves, towards 0 for
        who speaks to others.
        """
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            weigh_speaker(*rows, self.person, first, last, out)

        strengths = self.words.strengths(counts, threads=threads)
        return strengths * scored(rows, 1, work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it.

        A word of the second person takes some away, so its number is below 0.
        """
        column = topic_number(self.topics, topic)
        return contributions_of_words(
            counts, self.vocabulary, lambda posts: self.strengths(posts)[:, column]
        )


@kernel
def weigh_speaker(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.float64],
    person: NDArray[np.uint8],
    first: Whole,
    last: Whole,
    out: NDArray[np.float64],
) -> None:
    """The factor of each post: (1 + f) / (2 + f + s)."""
    for row in range(first, last):
        own, others = 0.0, 0.0
        for cell in range(pointers[row], pointers[row + 1]):
            if person[columns[cell]] == FIRST:
                own += counts[cell]
            elif person[columns[cell]] == SECOND:
                others += counts[cell]
        out[row, 0] = (1.0 + own) / (2.0 + own + others)


@dataclass(frozen=True, eq=False)
class SpeakerVoice:
    """The first-person space of a model, each post weighed by who speaks in it.

    The measures ``voice-s`` and ``voice-st`` are strength and persistence in it. Nothing is kept of
    a community but the best strengths, as in every space, so that states merge exactly.

    >>> from sottovoce.topics import train_voice
    >>> SpeakerVoice(train_voice(["i paid my debt", "you pay the bank"] * 10)).name
    'voice-s'
    """

    model: VoiceModel
    name: str = KIND

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the model's own, which covers the persons."""
        return hashlib.sha256(f"{KIND} {self.model.fingerprint}".encode()).hexdigest()

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> SpeakerScorer:  # noqa: ARG002 - not the paper's: one mode
        """How posts are scored for the topics of ``catalogue``."""
        parameters = self.model.parameters
        persons = {FIRST: parameters.first_person, SECOND: parameters.second_person}
        every = [word for words in persons.values() for word in words]
        known = self.model.scorer_with(every, catalogue)
        form, column = known.rules.former(), known.vocabulary.column
        person = np.zeros(len(known.vocabulary), np.uint8)
        for number, words in persons.items():
            for word in words:
                if (formed := form(word)) in column:
                    person[column[formed]] = number
        return SpeakerScorer(known, person)

    def save(self, folder: Path) -> None:
        """Write the model; who loads it has both spaces."""
        self.model.save(folder)
