"""The catalogue: which topics there are, their salient words, domains and sensitivity.

On disk it is TOML: an optional ``model``, then one ``[[topic]]`` for each topic. The simulator
writes the same format from the layer below; a test keeps the two alike. Errors name a topic and its
field, never what else stands in the file.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from sottovoce.corpus.vocabulary import is_term
from sottovoce.corpus.words.rules import normal_form
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import cause_of, whole_file
from sottovoce.parsing import did_you_mean, parse_toml, toml_lines, toml_table

MOST_BYTES = 64 * 1024 * 1024
_LONGEST_SHOWN = 40
_SENSITIVE = "sensitive"
_REQUIRED = ("name", "domain", "words")
_KEYS = (*_REQUIRED, "sensitive", "weights", "dimensions")
_TYPES: dict[str, tuple[type, str]] = {
    "name": (str, "a text"),
    "domain": (str, "a text"),
    "sensitive": (bool, "true or false"),
    "words": (list, "a list of texts"),
    "weights": (list, "a list of numbers"),
    "dimensions": (list, "a list of whole numbers"),
}
_ITEMS: dict[str, tuple[type, ...]] = {
    "words": (str,),
    "weights": (int, float),
    "dimensions": (int,),
}


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
        if isinstance(self.words, str):
            raise self._error('words must be a tuple of words, got one text: write ("loan",).')
        if not self.words:
            raise self._error("words must be at least 1, got none.")
        unusable = [word for word in self.words if not is_term(word)]
        if unusable:
            raise self._error(
                f"words must each be one word or two in lower case, got {len(unusable)} that are "
                f"not, the first {_shown_word(unusable[0])}."
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
    def load(cls, path: str | PathLike[str]) -> "Catalogue":
        """Read a TOML catalogue: an optional ``model``, then one ``[[topic]]`` for each topic."""
        try:
            model, entries = read_entries(Path(path))
            topics = tuple(_topic(entry, number) for number, entry in enumerate(entries, start=1))
            return cls(topics, model)
        except InputError as error:
            raise InputError(f"the catalogue {path}: {error}") from None

    def save(self, path: str | PathLike[str], *, private: bool = False) -> None:
        """Write the catalogue as TOML, so that ``load`` gives an equal one.

        Words that a model of private texts chose are for their owner only: ``private``.
        """
        entries = (_entry(topic) for topic in self.topics)
        write_entries(Path(path), self.model, entries, private=private)

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

    def find_names(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The topics meant: by their names, or by a domain's, or by a word of domains' names.

        >>> from sottovoce.topics.shipped.rules import shipped_catalogue
        >>> shipped_catalogue().find_names(["Addiction", "debt"])
        ('alcohol', 'drug addiction', 'debt')
        """
        return tuple(dict.fromkeys(name for each in asked for name in self._match_names(each)))

    def _match_names(self, asked: str) -> tuple[str, ...]:
        if asked in self.by_name:
            return (asked,)
        wanted = asked.strip().casefold()
        same = tuple(name for name in self.names if name.casefold() == wanted)
        of_domain = tuple(t.name for t in self.topics if t.domain.casefold() == wanted)
        of_word = tuple(t.name for t in self.topics if wanted in t.domain.casefold().split())
        if found := same or of_domain or of_word or self._all_sensitive(wanted):
            return found
        raise self._unknown(asked)

    def _all_sensitive(self, wanted: str) -> tuple[str, ...]:
        """What ``sensitive`` stands for where no topic or domain is called so."""
        return tuple(t.name for t in self.sensitive) if wanted == _SENSITIVE else ()

    def _unknown(self, asked: str) -> ParameterError:
        domains = tuple(dict.fromkeys(topic.domain for topic in self.topics))
        words = [word for domain in domains for word in domain.split() if word != "and"]
        shared = [word for word in dict.fromkeys(words) if words.count(word) > 1]
        several = f"; or several domains: {', '.join(shared)}" if shared else ""
        return ParameterError(
            f"topic must be one of {', '.join(self.names)}, got {asked!r}; or a domain: "
            f"{', '.join(domains)}{several}.{did_you_mean(asked, (*self.names, *domains, *words))}"
        )

    def domain_of(self, topic: Topic) -> tuple[Topic, ...]:
        """The topics of the same domain, ``topic`` included (Definition 6)."""
        return tuple(other for other in self.topics if other.domain == topic.domain)


def _shown_word(word: object) -> str:
    """A refused word as it may be shown: a catalogue is public, but may be any file by mistake."""
    text = str(word)
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    return repr(shown) if isinstance(word, str) else f"a {type(word).__name__}"


def _topic(entry: dict[str, Any], number: int) -> Topic:
    weights = entry.get("weights")
    try:
        return Topic(
            name=entry["name"],
            words=tuple(map(normal_form, entry["words"])),
            domain=entry["domain"],
            sensitive=entry.get("sensitive", False),
            weights=None if weights is None else tuple(map(float, weights)),
            dimensions=tuple(entry.get("dimensions", ())),
        )
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


def is_name(text: str) -> bool:
    """Whether ``text`` can name a topic or domain: something to read, safe to print."""
    return bool(text.strip()) and text == text.strip() and text.isprintable()


def read_entries(path: Path) -> tuple[str | None, list[dict[str, Any]]]:
    """The model's fingerprint and the topics' entries: keys and types as they should be."""
    content = parse_toml(_text(path))
    _refuse_unknown(content, ("model", "topic"), "at the top")
    model, entries = content.get("model"), content.get("topic")
    if not isinstance(entries, list) or not entries:
        raise InputError("topic must be at least one [[topic]] table, got none.")
    if model is not None and not (isinstance(model, str) and is_name(model)):
        raise InputError("model must be the fingerprint of a model, as a text.")
    for number, entry in enumerate(entries, start=1):
        _check_entry(entry, number)
    if model is None and any(entry.get("dimensions") for entry in entries):
        raise InputError("dimensions mean nothing without their model: match again.")
    return model, entries


def catalogue_text(model: str | None, entries: Iterable[Mapping[str, Any]]) -> str:
    """What ``write_entries`` writes; keys whose value is None are left out."""
    head = [f"{line}\n" for line in toml_lines({"model": model})]
    tables = [toml_table("[[topic]]", entry, word_a_line=True) for entry in entries]
    return "\n".join(head + tables)


def write_entries(
    path: Path, model: str | None, entries: Iterable[Mapping[str, Any]], *, private: bool
) -> None:
    """Write a catalogue, whole or not at all."""
    text = catalogue_text(model, entries)
    with whole_file(path, private=private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size <= MOST_BYTES:
            return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"it cannot be read: {cause_of(error)}.") from None
    except UnicodeDecodeError:
        raise InputError("it is no UTF-8 text.") from None
    raise InputError(f"it must have at most {MOST_BYTES:,} bytes, got {size:,}.")


def _check_entry(entry: object, number: int) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"topic {number} must be a [[topic]] table.")
    label = entry_label(entry.get("name"), number)
    missing = [key for key in _REQUIRED if key not in entry]
    if missing:
        raise InputError(f"{label} has no {missing[0]}.")
    _refuse_unknown(entry, _KEYS, f"in {label}")
    for key, value in entry.items():
        kind, wanted = _TYPES[key]
        if not isinstance(value, kind) or not _items_fit(key, value):
            raise InputError(f"{label}: {key} must be {wanted}.")


def entry_label(name: object, number: int) -> str:
    """How an error calls a topic: by its name if that can be printed, else by its place."""
    return f"topic {name!r}" if isinstance(name, str) and is_name(name) else f"topic {number}"


def _items_fit(key: str, value: Any) -> bool:  # noqa: ANN401 - whatever the file holds
    allowed = _ITEMS.get(key)
    return allowed is None or all(
        isinstance(item, allowed) and not isinstance(item, bool) for item in value
    )


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    unknown = sum(key not in known for key in table)
    if unknown:
        raise InputError(f"{unknown} unknown keys {where}; known are {', '.join(known)}.")
