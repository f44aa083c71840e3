"""The catalogue: which topics there are, their salient words, domains and sensitivity."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sottovoce.corpus.vocabulary import is_term
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue_file import entry_label, is_name, read_entries, write_entries


@dataclass(frozen=True)
class Topic:
    """One topic: R-Susceptibility, Definition 3, before it is a vector.

    >>> Topic("financial debts", ("debt", "credit card"), "finance", sensitive=True).words
    ('debt', 'credit card')
    """

    name: str
    words: tuple[str, ...]
    """Its salient words or bigrams ("first second"), the most salient first."""
    domain: str
    sensitive: bool = False
    weights: tuple[float, ...] | None = None
    """The weight of each word in the topic; None weighs them alike."""
    dimensions: tuple[int, ...] = ()
    """The latent dimensions of the catalogue's model that stand for this topic."""

    def __post_init__(self) -> None:
        for name, text in (("name", self.name), ("domain", self.domain)):
            if not is_name(text):
                raise ParameterError(f"{name} must be a printable text without blanks around it.")
        self._check_words()
        if self.weights is not None:
            self._check_weights(self.weights)
        if any(dimension < 0 for dimension in self.dimensions):
            raise self._error(f"dimensions must be >= 0, got {min(self.dimensions)}.")
        if len(set(self.dimensions)) < len(self.dimensions):
            raise self._error("dimensions must differ, got one repeated.")

    def _check_words(self) -> None:
        if not self.words:
            raise self._error("words must be at least 1, got none.")
        unusable = sum(not is_term(word) for word in self.words)
        if unusable:
            raise self._error(
                f"words must each be one word or two in lower case, got {unusable} that are not."
            )
        repeated = len(self.words) - len(set(self.words))
        if repeated:
            raise self._error(f"words must differ, got {repeated} repeated.")

    def _check_weights(self, weights: tuple[float, ...]) -> None:
        if len(weights) != len(self.words):
            raise self._error(
                f"weights must be as many as words, {len(self.words)}, got {len(weights)}."
            )
        # Written so that a NaN is refused too.
        unusable = sum(not 0 <= weight < math.inf for weight in weights)
        if unusable:
            raise self._error(f"weights must be finite and >= 0, got {unusable} that are not.")
        if not any(weights):
            raise self._error("weights must not all be 0.")

    def _error(self, what: str) -> ParameterError:
        return ParameterError(f"topic {self.name!r}: {what}")


@dataclass(frozen=True)
class Catalogue:
    """Topics by name, in a fixed order.

    >>> catalogue = Catalogue((Topic("debts", ("debt",), "finance", sensitive=True),))
    >>> catalogue.names, len(catalogue.sensitive)
    (('debts',), 1)
    """

    topics: tuple[Topic, ...]
    model: str | None = None
    """Fingerprint of the model whose dimensions the topics name; None when none is matched."""

    def __post_init__(self) -> None:
        if not self.topics:
            raise ParameterError("a catalogue needs at least 1 topic, got none.")
        repeated = len(self.topics) - len({topic.name for topic in self.topics})
        if repeated:
            raise ParameterError(f"the topics of a catalogue must differ, got {repeated} repeated.")

    @classmethod
    def load(cls, path: Path) -> "Catalogue":
        """Read a TOML catalogue: an optional ``model``, then one ``[[topic]]`` for each topic."""
        try:
            model, entries = read_entries(path)
            topics = tuple(_topic(entry, number) for number, entry in enumerate(entries, start=1))
            return cls(topics, model)
        except InputError as error:
            raise InputError(f"the catalogue {path}: {error}") from None

    def save(self, path: Path, *, private: bool = False) -> None:
        """Write the catalogue as TOML, so that ``load`` gives an equal one.

        Words that a model of private texts chose are for their owner only: ``private``.
        """
        entries = (_entry(topic) for topic in self.topics)
        write_entries(path, self.model, entries, private=private)

    def __len__(self) -> int:
        return len(self.topics)

    def __iter__(self) -> Iterator[Topic]:
        return iter(self.topics)

    @cached_property
    def by_name(self) -> Mapping[str, Topic]:
        """The topic of each name."""
        return {topic.name: topic for topic in self.topics}

    @property
    def names(self) -> tuple[str, ...]:
        """The topics' names, in order."""
        return tuple(topic.name for topic in self.topics)

    @property
    def sensitive(self) -> tuple[Topic, ...]:
        """The topics that were judged sensitive."""
        return tuple(topic for topic in self.topics if topic.sensitive)

    def domain_of(self, topic: Topic) -> tuple[Topic, ...]:
        """The topics of the same domain, ``topic`` included (Definition 6)."""
        return tuple(other for other in self.topics if other.domain == topic.domain)


def _topic(entry: dict[str, Any], number: int) -> Topic:
    weights = entry.get("weights")
    try:
        return Topic(
            name=entry["name"],
            words=tuple(entry["words"]),
            domain=entry["domain"],
            sensitive=entry.get("sensitive", False),
            weights=None if weights is None else tuple(map(float, weights)),
            dimensions=tuple(entry.get("dimensions", ())),
        )
    except OverflowError:
        label = entry_label(entry["name"], number)
        raise InputError(f"{label}: weights must be finite and >= 0.") from None
    except ParameterError as error:
        # A name that cannot be printed is told by its place.
        told = str(error).startswith("topic ")
        raise InputError(f"{'' if told else f'topic {number}: '}{error}") from None


def _entry(topic: Topic) -> dict[str, Any]:
    return {
        "name": topic.name,
        "domain": topic.domain,
        "sensitive": topic.sensitive,
        "words": list(topic.words),
        "weights": None if topic.weights is None else list(topic.weights),
        "dimensions": list(topic.dimensions) or None,
    }
