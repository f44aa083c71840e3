"""The world that communities live in: domains, topics, and the words people use for them.

The word lists are the files in ``words/``; this module only reads them.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DOMAINS = ("psychology", "medicine", "finance", "family", "law", "society", "other")


@dataclass(frozen=True)
class Topic:
    """A topic: ``direct`` words name it, ``indirect`` ones are how those it concerns talk."""

    name: str
    domain: str
    direct: tuple[str, ...]
    indirect: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """Every word list. ``domain_words`` has one entry per entry of ``DOMAINS``."""

    topics: tuple[Topic, ...]
    domain_words: tuple[tuple[str, ...], ...]
    function_words: tuple[str, ...]
    everyday_words: tuple[str, ...]
    ambiguous_words: tuple[str, ...]

    def topic_number(self, name: str) -> int:
        """Return the place of the topic called ``name``, or raise ``ValueError``."""
        return [topic.name for topic in self.topics].index(name)


@cache
def the_world() -> World:
    """Read the word lists, once."""
    domains = [_read(domain) for domain in DOMAINS]
    general = _read("general")
    return World(
        topics=tuple(topic for domain in domains for topic in _topics(domain)),
        domain_words=tuple(_words(domain["shared"]) for domain in domains),
        function_words=_words(general["function"]),
        everyday_words=_words(general["everyday"]),
        ambiguous_words=_words(general["ambiguous"]),
    )


def _read(name: str) -> dict[str, Any]:
    text = files(__package__).joinpath("words", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _topics(domain: dict[str, Any]) -> list[Topic]:
    return [
        Topic(
            name=topic["name"],
            domain=domain["domain"],
            direct=_words(topic["direct"]),
            indirect=_words(topic["indirect"]),
        )
        for topic in domain["topic"]
    ]


def _words(comma_separated: str) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in comma_separated.split(","))
