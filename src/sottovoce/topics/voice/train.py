"""The first-person space as the posts at hand show it: what words weigh, and no text.

An adversary who has a community's posts can learn from them how its people speak of themselves. So
can we, in seconds, where no other background is at hand. What is kept is the weight of each word
for each topic of one catalogue: sums over many posts, not which words any post holds.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from sottovoce.arrays import Floats
from sottovoce.corpus.clean import CleaningCounts, clean_posts
from sottovoce.corpus.schema import BATCH_ROWS
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, DataError, ModelFileError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.model_file import (
    Expected,
    ModelCard,
    Origin,
    model_digest,
    read_files,
    write_folder,
)
from sottovoce.topics.space import Mode
from sottovoce.topics.training import MAX_TERMS, Texts, WordChoice, corpus_facts, text_arrays
from sottovoce.topics.voice.mentions import VoiceParameters, find_mentions
from sottovoce.topics.voice.model import VoiceModel, VoiceScorer

MIN_TEXTS = 10


def voice_words(stem: str | None = None) -> WordChoice:
    """All words are read, function words too: they tell who speaks."""
    return WordChoice(TokenRules(shortest=1, stem=stem), None, MIN_TEXTS, MAX_TERMS)


def train_voice(
    texts: Texts,
    parameters: VoiceParameters | None = None,
    *,
    words: WordChoice | None = None,
    public: bool = True,
) -> VoiceModel:
    """The first-person space of background texts: two passes over them, no random choice.

    The model holds which words each text has; that is no more private than the texts, which are
    public unless ``public`` is False.

    >>> texts = ["i paid my debt", "the bank lends money"] * 10
    >>> train_voice(texts).name
    'voice'
    """
    parameters, words = parameters or VoiceParameters(), words or voice_words()
    if words.rules.bigrams:
        raise ParameterError("the first-person space knows words only: leave bigrams out.")
    vocabulary = words.choose_words(texts, public=public)
    form = words.rules.former()
    mentions = find_mentions(
        text_arrays(texts),
        vocabulary,
        words.rules,
        first_person=[formed for word in parameters.first_person if (formed := form(word))],
        span=parameters.span,
    )
    if not mentions.near.any():
        raise CorpusError(
            "no background text has one of these first-person words near another word: "
            f"{', '.join(parameters.first_person)}; name those of the texts' language "
            "(--first-person ich,mich,mein; in Python VoiceParameters(first_person=...)), and "
            "keep them among the words that count."
        )
    origin = Origin(corpus_facts(texts), parameters.record(), {}, public)
    return VoiceModel(mentions, vocabulary, words.rules, origin, parameters)


KIND = "learnt-voice"
MOST_POSTS = 60_000
MOST_CHARACTERS = 1 << 25
LONGEST_POST = 1 << 14
"""A longer post shows no more of how its author speaks."""


@dataclass(frozen=True, eq=False)
class LearntVoice:
    """What words weigh for the topics of one catalogue, as the posts at hand show it."""

    scores: VoiceScorer
    catalogue: str
    """Fingerprint of the topics' names and words that it was learnt for."""
    origin: Origin = field(default_factory=Origin)
    name: str = "voice"

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that weigh something."""
        return self.scores.vocabulary

    @property
    def rules(self) -> TokenRules:
        """How texts become words."""
        return self.scores.rules

    @property
    def dimensions(self) -> int:
        """A number for each topic."""
        return len(self.scores.topics)

    @property
    def learnt(self) -> tuple[str, ...]:
        """The topics of which some post speaks in the first person; others weigh nothing."""
        told = np.flatnonzero(self.scores.weights.max(axis=0, initial=0.0)).tolist()
        return tuple(self.scores.topics[number] for number in told)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the weights, the words, the token rules and the topics."""
        numbers = (_pack_weights(self.scores.weights).data,)
        return model_digest(KIND, self.vocabulary, self.rules, numbers, self.catalogue)

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> VoiceScorer:  # noqa: ARG002 - not the paper's: one mode
        """How posts are scored for the topics that it was learnt for."""
        if topics_fingerprint(catalogue) != self.catalogue:
            raise ParameterError(
                "this background model was learnt for another catalogue of topics; learn it again "
                "from the posts, or give its catalogue."
            )
        return replace(self.scores, topics=catalogue.names)

    def save(self, folder: Path) -> None:
        """Write the model into ``folder``, for its owner only: private posts chose its words."""
        parameters = {"topics": list(self.scores.topics), "catalogue": self.catalogue}
        origin = replace(self.origin, parameters=parameters, public=False)
        sizes = len(self.vocabulary), self.dimensions
        card = ModelCard(KIND, self.fingerprint, *sizes, self.rules, origin, {})
        write_folder(folder, card, self.vocabulary, {"weights": _pack_weights(self.scores.weights)})

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard) -> "LearntVoice":
        """Read what ``save`` wrote."""
        told = card.origin.parameters
        topics, catalogue = told.get("topics"), told.get("catalogue")
        if not isinstance(topics, list) or len(topics) != card.dimensions:
            raise ModelFileError(f"the card of {folder} must name {card.dimensions} topics.")
        expected = {"weights": Expected("<f8", (card.words, card.dimensions))}
        vocabulary, arrays = read_files(folder, card, expected)
        names = tuple(map(str, topics))
        scores = VoiceScorer(names, vocabulary, card.rules, arrays["weights"])
        return cls(scores, str(catalogue), card.origin)


def learn_voice(
    posts: Iterable[pa.RecordBatch], catalogue: Catalogue, *, clean: bool = True
) -> LearntVoice:
    """The first-person space of posts (user, time, text), read once, for one catalogue.

    At most ``MOST_POSTS``, evenly over all of them and the same each time, are held in memory.
    """
    texts = _own_texts(_thin_posts(posts), clean=clean)
    try:
        model = train_voice(texts, public=False)
    except (CorpusError, ParameterError):
        raise _too_few() from None
    weights = {topic.name: _weights(model, topic) for topic in catalogue}
    mentioned = tuple(topic for topic in catalogue if weights[topic.name].any())
    if not mentioned:
        raise _too_few()
    scores = model.scorer(Catalogue(mentioned))
    columns = {name: number for number, name in enumerate(scores.topics)}
    spread = np.zeros((len(scores.vocabulary), len(catalogue)))
    for place, name in enumerate(catalogue.names):
        if name in columns:
            spread[:, place] = scores.weights[:, columns[name]]
    whole = replace(scores, topics=catalogue.names, weights=np.ascontiguousarray(spread))
    return LearntVoice(whole, topics_fingerprint(catalogue), Origin(public=False))


def topics_fingerprint(catalogue: Catalogue) -> str:
    """SHA-256 of the topics' names and words."""
    listed = [[topic.name, *topic.words] for topic in catalogue]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _too_few() -> DataError:
    return DataError(
        "the posts are too few, or not in English, to learn from them how people speak of any of "
        "the topics; give a --model, or choose a measure that needs none, such as bow-t."
    )


def _weights(model: VoiceModel, topic: Topic) -> Floats:
    """What words weigh for the topic; nothing where no post mentions it."""
    try:
        return model.weights(topic)
    except ParameterError:
        return np.zeros(len(model.vocabulary))


def _thin_posts(posts: Iterable[pa.RecordBatch]) -> list[tuple[str, str]]:
    """Author and text of every post, or of every second, fourth and so on if there are too many."""
    kept: list[tuple[str, str]] = []
    step, seen, size = 1, 0, 0
    for batch in posts:
        rows = pa.array(np.arange(-seen % step, batch.num_rows, step))
        seen += batch.num_rows
        texts = (text[:LONGEST_POST] for text in batch["text"].take(rows).to_pylist())
        for pair in zip(batch["user"].take(rows).to_pylist(), texts, strict=True):
            kept.append(pair)
            size += len(pair[1])
        while len(kept) > MOST_POSTS or size > MOST_CHARACTERS:
            kept, step = kept[::2], 2 * step
            size = sum(len(text) for _, text in kept)
    return kept


def _own_texts(kept: list[tuple[str, str]], *, clean: bool) -> list[str]:
    """Without what is not their authors'."""
    found: list[str] = []
    for first in range(0, len(kept), BATCH_ROWS):
        users, texts = zip(*kept[first : first + BATCH_ROWS], strict=True)
        batch = pa.record_batch({"user": pa.array(users), "text": pa.array(texts)})
        found += (clean_posts(batch, CleaningCounts()) if clean else batch)["text"].to_pylist()
    return found


def _pack_weights(weights: Floats) -> Floats:
    return np.ascontiguousarray(weights, dtype="<f8")
