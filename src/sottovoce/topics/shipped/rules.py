"""The shipped topics: their terms by role, their phrases, and how each list was written.

One TOML file a topic, in ``topics/``. A term's role says how a sentence must name it for it to be
its author's: what one is (``states``, ``members``), has (``conditions``), lives with (``signs``:
medicines, papers, appointments) or did (``acts``). ``phrases`` are whole first-person sayings,
``harmless`` ones where the words mean something else, ``unsure`` terms with an everyday meaning
beside. ``names`` and ``words`` tell the topic only. ``clues.toml`` has, for all topics, words that
point to one without naming it.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sottovoce.corpus.vocabulary import is_term
from sottovoce.topics.catalogue import Catalogue, Topic

ROLES = ("names", "states", "members", "conditions", "signs", "acts")
# How the paper calls those of its topics that are called otherwise here.
PAPER_NAMES = {
    "clinical depression": "depression",
    "hiv": "HIV and sexual health",
    "financial debts": "debt",
}


@dataclass(frozen=True)
class TopicRules:
    """One shipped topic, as its file has it."""

    name: str
    domain: str
    how: str
    """How its lists were written."""
    roles: dict[str, tuple[str, ...]]
    words: tuple[str, ...]
    phrases: tuple[str, ...]
    harmless: tuple[str, ...]
    """Where the words mean something else: such a sentence says nothing."""
    denials: tuple[str, ...]
    """Sayings after which the whole post says nothing of its author: "the lump was benign"."""
    unsure: tuple[str, ...]
    """Terms with a second, everyday meaning: only a rule that names the author may use them."""
    illness: bool
    """Whether it is an illness: mostly the author's where nobody else is named."""
    clues: tuple[str, ...] = ()
    """Words that point to it without naming it; no words of the catalogue's topic."""

    @property
    def topic(self) -> Topic:
        """The topic of a catalogue: every term of one word or two, what names it first."""
        terms = [term for role in self.roles.values() for term in role] + list(self.words)
        return Topic(
            self.name,
            tuple(dict.fromkeys(term for term in terms if is_term(term))),
            self.domain,
            sensitive=True,
        )


@cache
def shipped_rules() -> dict[str, TopicRules]:
    """The rules of each shipped topic, by its name."""
    here = files(__package__)
    clues = tomllib.loads((here / "clues.toml").read_text(encoding="utf-8"))
    found = [file for file in (here / "topics").iterdir() if file.name.endswith(".toml")]
    read = [_rules(tomllib.loads(file.read_text(encoding="utf-8")), clues) for file in found]
    return {rules.name: rules for rules in sorted(read, key=lambda rules: rules.name.lower())}


def rules_of(name: str) -> TopicRules | None:
    """The shipped rules of a topic of this name, or of the paper's name for it."""
    return shipped_rules().get(PAPER_NAMES.get(name, name))


@cache
def shipped_catalogue() -> Catalogue:
    """The catalogue that is taken where none is given: 22 topics of special-category life.

    Its lists are written by us, from what people say and clinics, courts and offices call it; none
    is made from a corpus. ``topics/shipped`` has a file a topic, which says how.

    >>> catalogue = shipped_catalogue()
    >>> len(catalogue), len(catalogue.sensitive), "debt" in catalogue.names
    (22, 22, True)
    """
    return Catalogue(tuple(rules.topic for rules in shipped_rules().values()))


def _rules(entry: dict[str, Any], clues: dict[str, str]) -> TopicRules:
    return TopicRules(
        name=entry["name"],
        domain=entry["domain"],
        how=" ".join(entry["how"].split()),
        roles={role: _terms(entry.get(role, "")) for role in ROLES},
        words=_terms(entry["words"]),
        phrases=tuple(entry["phrases"]),
        harmless=tuple(entry["harmless"]),
        denials=tuple(entry.get("denials", ())),
        unsure=_terms(entry.get("unsure", "")),
        illness=entry.get("illness", False),
        clues=_terms(clues[entry["name"]]),
    )


def _terms(written: str) -> tuple[str, ...]:
    terms = (" ".join(term.split()) for term in written.split(","))
    return tuple(dict.fromkeys(term for term in terms if term))
