"""The catalogue: which topics there are, their salient words, domains and sensitivity."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError, ParameterError


@dataclass(frozen=True)
class Topic:
    """One topic: R-Susceptibility, Definition 3, before it is a vector."""

    name: str
    words: tuple[str, ...]
    """Its salient words or bigrams ("first second"), the most salient first."""
    domain: str
    sensitive: bool = False
    weights: tuple[float, ...] | None = None
    """The weight of each word in the topic; None weighs them alike."""
    dimensions: tuple[int, ...] = ()
    """The latent dimensions of the catalogue's model that stand for this topic."""


@dataclass(frozen=True)
class Catalogue:
    """Topics by name, in a fixed order."""

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
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"cannot read the catalogue {path}: {type(error).__name__}.") from None
        return cls(tuple(_topic(entry) for entry in content["topic"]), content.get("model"))

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


def _topic(entry: dict[str, Any]) -> Topic:
    weights = entry.get("weights")
    return Topic(
        name=entry["name"],
        words=tuple(entry["words"]),
        domain=entry["domain"],
        sensitive=entry.get("sensitive", False),
        weights=None if weights is None else tuple(weights),
        dimensions=tuple(entry.get("dimensions", ())),
    )
