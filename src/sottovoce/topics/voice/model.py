"""The first-person space as a value, and the strength of interest in it.

The model holds the words of background texts, and which of them were near an I. How much a word
speaks for a topic are the shrunk log-odds of the company that its mentions keep.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.model_file import (
    Expected,
    ModelCard,
    Origin,
    model_digest,
    read_files,
    write_folder,
)
from sottovoce.topics.space import Mode, Space, checked_rows, score_rows, topic_number
from sottovoce.topics.voice.mentions import FIRST, SECOND, Mentions, SpeakerScorer, VoiceParameters

KIND = "voice"
SPEAKER_KIND = "voice-s"
PRIOR_TEXTS = 30.0
"""Texts' worth of the background's own frequencies added to both sides."""
LEAST_Z = 2.0
"""Log-odds within so many standard errors of 0 count for nothing."""


@dataclass(frozen=True, eq=False)
class VoiceScorer:
    """The evidence of a post's distinct words, summed."""

    topics: tuple[str, ...]
    vocabulary: Vocabulary
    rules: TokenRules
    weights: NDArray[np.float64]
    """The evidence of each word (row) for each topic."""

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """For each post and topic, the evidence of its words in nats: 0 or more, not a cosine."""
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            _sums(rows.pointers, rows.columns, self.weights, first, last, out)

        return score_rows(rows, len(self.topics), work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: its evidence."""
        number = topic_number(self.topics, topic)
        rows = checked_rows(counts, self.vocabulary)
        added = self.weights[rows.columns, number]
        return sparse.csr_array((added, rows.columns, rows.pointers), shape=counts.shape)


@kernel
def _sums(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    weights: NDArray[np.float64],
    first: Whole,
    last: Whole,
    out: NDArray[np.float64],
) -> None:
    for row in range(first, last):
        for cell in range(pointers[row], pointers[row + 1]):
            for topic in range(weights.shape[1]):
                out[row, topic] += weights[columns[cell], topic]


def evidence_of_words(
    with_mention: Floats, mentions: int, without_mention: Floats, others: int
) -> Floats:
    """The weight of each word, in nats, from how many background texts of each kind hold it.

    a of n texts with a mention and b of m others hold the word, which is in a share q of all;
    lambda is ``PRIOR_TEXTS``. The log-odds (B. Monroe, M. Colaresi and K. Quinn, Fightin' Words,
    Political Analysis, 2008) and their standard error are

        w = ln((a + lambda q) / (n + lambda)) - ln((b + lambda q) / (m + lambda)),
        s = sqrt(1 / (a + lambda q) + 1 / (b + lambda q)),

    and the weight is w (1 - (2 s / w)^2) where w > 2 s, and 0 elsewhere: what few texts show is
    shrunk, as James and Stein would, and a word that speaks against the topic says nothing.
    """
    q = (with_mention + without_mention) / max(mentions + others, 1)
    a = with_mention + PRIOR_TEXTS * q
    b = without_mention + PRIOR_TEXTS * q
    weights: Floats = np.zeros(len(q))
    seen = q > 0
    w = np.log(a[seen] / (mentions + PRIOR_TEXTS)) - np.log(b[seen] / (others + PRIOR_TEXTS))
    z = w / np.sqrt(1.0 / a[seen] + 1.0 / b[seen])
    trusted = z > LEAST_Z
    weights[seen] = np.where(trusted, w * (1.0 - (LEAST_Z / np.where(trusted, z, 1.0)) ** 2), 0.0)
    return weights


@dataclass(frozen=True, eq=False)
class VoiceModel:
    """What is known of people who speak of themselves.

    A background text *mentions* a topic if one of the topic's salient words stands near a
    first-person word in it. Words that are more frequent in texts with a mention than in others
    are evidence for the topic, the salient words among them (``evidence_of_words``), but words that
    only hold sentences together, and the persons themselves, are none (``VoiceParameters``). The
    strength of a post is the sum of the evidence of its distinct words; the paper's strength,
    breadth and persistence of interest, with it in place of a cosine, are the measures ``voice``,
    ``voice-d``, ``voice-t`` and ``voice-dt``. The paper has no such space.

    >>> from sottovoce.topics import train_voice
    >>> train_voice(["i paid my debt", "the bank lends money"] * 10).vocabulary.terms[:3]
    ('bank', 'debt', 'i')
    """

    mentions: Mentions
    vocabulary: Vocabulary
    rules: TokenRules
    origin: Origin = field(default_factory=Origin)
    parameters: VoiceParameters = field(default_factory=VoiceParameters)
    name: str = KIND

    def __post_init__(self) -> None:
        pointers, columns, near = self.mentions
        ascending = pointers.size > 1 and pointers[0] == 0 and (np.diff(pointers) >= 0).all()
        if not ascending or pointers[-1] != columns.size or near.size != columns.size:
            raise ParameterError("mentions must be sparse rows: one pointer more than texts.")
        if columns.size and not 0 <= columns.min() <= columns.max() < len(self.vocabulary):
            raise ParameterError("mentions must be of the vocabulary's words.")

    @property
    def texts(self) -> int:
        """How many background texts there are."""
        return int(self.mentions.pointers.size - 1)

    @property
    def dimensions(self) -> int:
        """A text is not placed in a space of dimensions: 1 number for each topic."""
        return 1

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the mentions, the words, the token rules, and what is no evidence."""
        named = _list_arrays(self.mentions).items()
        numbers = (part for name, array in named for part in (name.encode(), array.data))
        return model_digest(KIND, self.vocabulary, self.rules, numbers, self.parameters.record())

    def weights(self, topic: Topic) -> NDArray[np.float64]:
        """The evidence of every word of the vocabulary for ``topic``."""
        mentioned = self._mentioning(self.columns(topic.words))
        if not mentioned.any():
            raise ParameterError(
                f"topic {topic.name!r} needs a word that some background text has near a "
                "first-person word, got none."
            )
        with_mention = self._texts_with_each_word(mentioned)
        without = self._texts_with_each_word(~mentioned)
        mentions = int(mentioned.sum())
        weights = evidence_of_words(with_mention, mentions, without, self.texts - mentions)
        weights[self.columns(self.parameters.without_evidence)] = 0.0
        return weights

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> VoiceScorer:  # noqa: ARG002 - not the paper's: one mode
        """How posts are scored for the topics of ``catalogue``."""
        return self.scorer_with((), catalogue)

    def scorer_with(self, others: Iterable[str], catalogue: Catalogue) -> VoiceScorer:
        """The same, knowing ``others`` too, whatever they tell."""
        weights = np.stack([self.weights(topic) for topic in catalogue], axis=1)
        telling = weights.max(axis=1) > 0
        if not telling.any():
            raise ParameterError("the background is too small to learn what any word stands for.")
        telling[self.columns(others)] = True
        places = np.flatnonzero(telling)
        known = Vocabulary(
            tuple(self.vocabulary.terms[word] for word in places),
            data_dependent=self.vocabulary.data_dependent,
            origin=self.vocabulary.origin,
        )
        return VoiceScorer(
            catalogue.names, known, self.rules, np.ascontiguousarray(weights[places])
        )

    def variants(self) -> tuple[Space, ...]:
        """The space in which each post is weighed by who speaks."""
        return (SpeakerVoice(self),)

    def save(self, folder: Path) -> None:
        """Write the model into ``folder``."""
        sizes = {"texts": self.texts, "cells": int(self.mentions.columns.size)}
        origin = Origin(
            self.origin.corpus,
            {**self.origin.parameters, **self.parameters.record(), **sizes},
            self.origin.libraries,
            self.origin.public,
        )
        card = ModelCard(
            KIND, self.fingerprint, len(self.vocabulary), self.dimensions, self.rules, origin, {}
        )
        write_folder(folder, card, self.vocabulary, _list_arrays(self.mentions))

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard) -> "VoiceModel":
        """Read what ``save`` wrote."""
        texts, cells = (card.origin.parameters.get(name) for name in ("texts", "cells"))
        if type(texts) is not int or type(cells) is not int or min(texts, cells) < 0:
            raise ModelFileError(f"the card of {folder} must say how many texts and cells it has.")
        expected = {
            "pointers": Expected("<i8", (texts + 1,)),
            "columns": Expected("<i4", (cells,)),
            "near": Expected("|u1", (cells,)),
        }
        vocabulary, arrays = read_files(folder, card, expected)
        mentions = Mentions(arrays["pointers"], arrays["columns"], arrays["near"])
        parameters = _parameters(card.origin.parameters)
        return cls(mentions, vocabulary, card.rules, card.origin, parameters)

    def columns(self, words: Iterable[str]) -> list[int]:
        """The columns of those ``words`` that it knows; bigrams are no words of this space."""
        form, column = self.rules.former(), self.vocabulary.column
        formed = {form(word) for word in words}
        return sorted(column[word] for word in formed if word in column)

    def _mentioning(self, columns: list[int]) -> NDArray[np.bool_]:
        """The texts in which one of ``columns`` stands near a first-person word."""
        salient = np.zeros(len(self.vocabulary), np.bool_)
        salient[columns] = True
        cells = salient[self.mentions.columns] & (self.mentions.near > 0)
        mentioned = np.zeros(self.texts, np.bool_)
        mentioned[self._text_of_cell[cells]] = True
        return mentioned

    def _texts_with_each_word(self, texts: NDArray[np.bool_]) -> NDArray[np.float64]:
        cells = texts[self._text_of_cell]
        counts = np.bincount(self.mentions.columns[cells], minlength=len(self.vocabulary))
        return counts.astype(np.float64)

    @cached_property
    def _text_of_cell(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.texts), np.diff(self.mentions.pointers))


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
    name: str = SPEAKER_KIND

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the model's own, which covers the persons."""
        return hashlib.sha256(f"{SPEAKER_KIND} {self.model.fingerprint}".encode()).hexdigest()

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


def _parameters(card: Mapping[str, Any]) -> VoiceParameters:
    """What a card says of training."""
    names = ("first_person", "second_person", "function_words")
    first, second, function_words = (_words(card.get(name)) for name in names)
    if type(card.get("span")) is not int:
        raise ParameterError("span must be a whole number.")
    return VoiceParameters(first, card["span"], second, frozenset(function_words))


def _words(listed: object) -> tuple[str, ...]:
    if not isinstance(listed, list):
        raise ParameterError("the persons and function words must be lists of words.")
    if not all(isinstance(word, str) for word in listed):
        raise ParameterError("the persons and function words must be words.")
    return tuple(listed)


def _list_arrays(mentions: Mentions) -> dict[str, NDArray[np.generic]]:
    return {
        "pointers": mentions.pointers.astype("<i8"),
        "columns": mentions.columns.astype("<i4"),
        "near": mentions.near.astype("|u1"),
    }
