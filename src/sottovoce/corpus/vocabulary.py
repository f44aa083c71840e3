"""The terms that count, in a fixed order, and whether the data chose them.

A vocabulary made without looking at the private texts is free to publish. One built from them tells
something about them, and keeps that mark wherever it goes: ``release`` must know.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path

from sottovoce.corpus.words.rules import ENGLISH, TokenRules, fold_case, is_word, normal_form
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.files import cause_of, whole_file
from sottovoce.parsing import parse_json

# "#" is in no term, so a header cannot be mistaken for one.
_MARK = "#sottovoce-vocabulary"
_HEADER = f"{_MARK} "
_ANY_WORD = TokenRules(shortest=1)
_MOST_WORDS = 2
_LONGEST_ORIGIN = 1000


@dataclass(frozen=True, repr=False)
class Vocabulary:
    """Terms (words, or bigrams "first second") in column order.

    >>> Vocabulary.public(["debt", "loan"])
    Vocabulary(terms=2, data_dependent=False, origin='a public list')
    """

    terms: tuple[str, ...]
    data_dependent: bool = field(kw_only=True)
    origin: str = field(kw_only=True)
    """How the terms were chosen, in words for a card: never a term or a count."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        if not self.terms:
            raise ParameterError("a vocabulary needs at least 1 term, got none.")
        repeated = len(self.terms) - len(set(self.terms))
        if repeated:
            raise ParameterError(f"the terms of a vocabulary must differ, got {repeated} repeated.")

    @classmethod
    def public(cls, terms: Iterable[str], *, origin: str = "a public list") -> "Vocabulary":
        """Terms chosen without looking at the private texts: the caller vouches for that."""
        if isinstance(terms, str):
            raise ParameterError("terms must be a list of words, got one text: put it into a list.")
        terms = tuple(terms)
        broken = len(terms) - sum(map(is_term, terms))
        if broken:
            raise ParameterError(
                f"a term is one word or two, in lower case, got {broken} that are not; "
                "Vocabulary.load skips such lines."
            )
        return cls(terms, data_dependent=False, origin=origin)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Vocabulary":
        """Read a list with one term a line; a list saved by Sottovoce keeps its mark and order.

        In a list without a mark, terms are put into lower case and lines that are not one word
        or two are skipped. A mark that is not in its place makes the list unusable: whoever put
        something before it may not know that the data chose the words.
        """
        path = Path(path)
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            why = cause_of(error, "it is no UTF-8 text")
            raise CorpusError(f"cannot read the vocabulary {path}: {why}.") from None
        marked = [number for number, line in enumerate(lines) if _MARK in line]
        if marked and marked != [0]:
            raise _damage_error(path)
        if marked:
            return _read_marked(lines, path)
        terms = tuple(dict.fromkeys(_usable_terms(lines)))
        if not terms:
            raise CorpusError(f"the vocabulary {path} holds no term; it needs one per line.")
        return cls(terms, data_dependent=False, origin="a public list")

    def save(self, path: str | PathLike[str]) -> None:
        """Write one term a line under a header that keeps the mark.

        Words that a private corpus chose are readable by the owner only.
        """
        with whole_file(Path(path), private=self.data_dependent) as temporary:
            temporary.write_text(self.as_text(), encoding="utf-8")

    def as_text(self) -> str:
        """What ``save`` writes."""
        mark = json.dumps({"data_dependent": self.data_dependent, "origin": self.origin})
        return "\n".join([_HEADER + mark, *self.terms, ""])

    def apply_rules(self, rules: TokenRules) -> "Vocabulary":
        """The terms in the form in which ``rules`` count them; what can never occur is left out."""
        form = rules.former()
        formed = (_form_term(term, form, rules.shortest) for term in self.terms)
        terms = tuple(dict.fromkeys(term for term in formed if term is not None))
        if not terms:
            raise ParameterError("no term of the vocabulary can occur under these token rules.")
        return replace(self, terms=terms)

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        # Terms that private texts chose are private too.
        shown = f"data_dependent={self.data_dependent}, origin={self.origin!r}"
        return f"Vocabulary(terms={len(self)}, {shown})"

    @cached_property
    def column(self) -> dict[str, int]:
        """The column of each term."""
        return {term: column for column, term in enumerate(self.terms)}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the terms in order."""
        return hashlib.sha256("\n".join(self.terms).encode()).hexdigest()


def _usable_terms(lines: list[str]) -> Iterator[str]:
    from sottovoce.corpus.words.codes import tokenize  # noqa: PLC0415 - loads the compiler

    for line, words in zip(lines, tokenize(lines, _ANY_WORD), strict=True):
        term = " ".join(words)
        if 1 <= len(words) <= _MOST_WORDS and term == fold_case(normal_form(line.strip())):
            yield term


def is_term(term: object) -> bool:
    """Whether ``term`` can be counted: one word or two, in lower case."""
    if not isinstance(term, str):
        return False
    words = term.split(" ")
    return len(words) <= _MOST_WORDS and all(map(is_word, words))


def _form_term(term: str, form: Callable[[str], str | None], shortest: int) -> str | None:
    words = [form(word) if len(word) >= shortest else None for word in term.split(" ")]
    return None if None in words else " ".join(word for word in words if word)


def _read_marked(lines: list[str], path: Path) -> Vocabulary:
    """Our own list, exactly: its columns must fit the counts that were saved with it."""
    try:
        mark = parse_json(lines[0].partition(_HEADER)[2])
        data_dependent, origin = mark["data_dependent"], mark["origin"]
    except (ValueError, KeyError, TypeError):
        raise _damage_error(path) from None
    sound = isinstance(data_dependent, bool) and isinstance(origin, str)
    sound = sound and len(origin) <= _LONGEST_ORIGIN
    if not sound or not lines[0].startswith(_HEADER):
        raise _damage_error(path)
    terms = tuple(line for line in lines[1:] if line)
    return Vocabulary(terms, data_dependent=data_dependent, origin=origin)


def _damage_error(path: Path) -> CorpusError:
    return CorpusError(
        f"the header of the vocabulary {path} is damaged or not in the first line, so nobody "
        "can tell whether the data chose the terms; save it again, or remove the header if the "
        "list is public."
    )


_FEWEST_WORDS = 100
SHARE = 0.15
"""So many words of English prose are function words at least."""
NOT_ENGLISH = (
    "these posts do not seem to be in English, but the built-in topics are: posts in another "
    "language score nothing. Give topics in their language with --topics."
)
EVERYDAY = "everyday"
"""The name under which the list is taken where a file of words is."""


@cache
def everyday_words() -> Vocabulary:
    """Everyday English, in the order of the alphabet.

    >>> len(everyday_words()) > 3000, everyday_words().data_dependent
    (True, False)
    """
    text = files("sottovoce.corpus").joinpath("everyday.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("#", "["))]
    listed = {word for line in lines for word in line.split()}
    return Vocabulary.public(sorted(listed - ENGLISH), origin="everyday English, a list of ours")


def named_vocabulary(name: str | PathLike[str]) -> Vocabulary:
    """The list of a file, or the shipped one by its name, unless a file has it."""
    path = Path(name)
    return (
        everyday_words() if str(name) == EVERYDAY and not path.exists() else Vocabulary.load(path)
    )


def seems_english(texts: Iterable[str]) -> bool:
    """Whether function words of English are as many as they must be; few texts do not tell.

    They are two fifths of the words of English prose, and hardly a tenth of its neighbours'.

    >>> seems_english(["I was at the sea and it was cold"] * 20)
    True
    >>> seems_english(["Ich war am Meer und das Wasser war noch kalt"] * 20)
    False
    """
    words = [word for text in texts for word in re.findall(r"\w+", text.casefold())]
    told = sum(word in ENGLISH for word in words)
    return len(words) < _FEWEST_WORDS or told >= SHARE * len(words)
