"""A topic's terms and phrases, made ready to be found in words.

Phrases are written in a small language, which `compile_phrase` explains and turns into a regular
expression. The tables here are its classes (<i>, <my>, ...) and gaps.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from sottovoce.assess.disclosure._tokens import ROLES, load_frames, table
from sottovoce.topics.shipped.rules import TopicRules

_CLASSES = {
    "<i>": "i|we",
    "<my>": "my|our",
    "<me>": "me|us|myself",
    "<be>": "am|is|are|was|were|be|been|being|become|became|becoming",
    "<have>": "have|had|has|having|got|get|getting",
    "<they>": "he|she|they|husband|wife|partner|boyfriend|girlfriend|bf|gf|ex|him|her|dad|mum|mom|"
    "father|mother|stepdad|stepfather|stepmum|parents|uncle|brother|family|parent|hubby|man|fella",
    "#": r"\d\S*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|"
    r"thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|few|couple|several|half|"
    r"first|second|third|fourth|fifth|sixth|last|third",
}
_ELEMENT = re.compile(r"\((?:[^()]|\([^()]*\))*\)[?$]?|<\w+>\??|\S+")
# In the text of a sentence this mark follows every word that no gap may hold.
BARRED = "\x01"
_WORD_END = BARRED + "? "
_GAP = "(?:[^ ,'" + BARRED + "]+ ){0,%d}?"
_GAP_AFTER_MY = "(?:(?!(?:is|are|was|were|has|have|had|be|been) )[^ ,'" + BARRED + "]+ ){0,2}?"
_MY = f"(?:(?:my|our){_WORD_END})"
_GAPS = {"~": 3, "~~": 6}
_LONGEST_WITHOUT_PLURAL = 3
# Letters of the roles of terms that say what one is or has.
_STATED_ROLES = ("S", "M", "C")
_LETTERS = re.compile(r"[a-z]+")
_SHORTEST_MISTYPED = 7
_VOWELS = "aeiou"
# Right words that look like one of ours mistyped.
_LOOKALIKES = frozenset(("addition", "additions", "believes", "disable", "disables", "convection"))
# Stands for any term, where phrases are numbered; clues have the numbers below it.
TERM = -1
CLUE, WORD = "K", "W"
"""The letters of clues and of the topic's other words, where evidence is weighed."""
_CONTENT_CLASSES = (
    "kin",
    "quality",
    "number",
    "time",
    "suffer",
    "diagnose",
    "identify",
    "self",
    "update",
)
_DIGIT = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


@dataclass(frozen=True)
class CompiledPhrase:
    """A phrase as a regular expression over words and blanks, and the words that it needs."""

    expression: str
    needs: tuple[frozenset[str], ...]
    """Of each of these it has a word; the rarest first."""
    own: bool
    """Whether it names the author itself, so that no other subject can be meant."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled when a post first has the words for it: most phrases wait."""
        return re.compile(self.expression)


@dataclass(frozen=True)
class CompiledTopic:
    """How one topic is found."""

    name: str
    terms: dict[str, list[tuple[tuple[str, ...], str]]]
    """By their first word: the words of each term, the longest first, and its role's letter."""
    phrases: tuple[CompiledPhrase, ...]
    harmless: tuple[CompiledPhrase, ...]
    denials: tuple[CompiledPhrase, ...] = ()
    unsure: frozenset[tuple[str, ...]] = frozenset()
    """Terms that only a rule which names the author may use."""
    illness: bool = False
    hints: dict[str, list[tuple[tuple[str, ...], str]]] = field(default_factory=dict)
    """By their first word: clues (``CLUE``) and the topic's other words (``WORD``)."""

    @property
    def single(self) -> Iterator[str]:
        """Its terms of one word that say what one is or has."""
        for forms in self.terms.values():
            yield from (form[0] for form, role in forms if len(form) == 1 and role in _STATED_ROLES)

    @property
    def words(self) -> Iterator[str]:
        """Every word of its terms and phrases."""
        for forms in self.terms.values():
            yield from (word for form, _ in forms for word in form)
        for phrase in (*self.phrases, *self.harmless):
            yield from _LETTERS.findall(phrase.expression)

    @cached_property
    def anchors(self) -> tuple[tuple[str, int, tuple[frozenset[str], ...]], ...]:
        """How a post is searched quickly: (word, number, further words).

        Without the word, the term, phrase or clue of that number cannot be in a post; nor without
        one of each set of further words. Phrases have their place as number, terms all `TERM`, and
        clues the numbers below it.
        """
        return tuple(self._anchors())

    def _anchors(self) -> Iterator[tuple[str, int, tuple[frozenset[str], ...]]]:
        for forms in self.terms.values():
            for form, _ in forms:
                first, *others = _rarest_first(form)
                yield first, TERM, tuple(frozenset((word,)) for word in others)
        for number, phrase in enumerate(self.phrases):
            for word in phrase.needs[0]:
                yield word, number, phrase.needs[1:]
        for number, form in enumerate(self._clues):
            first, *others = _rarest_first(form)
            yield first, TERM - 1 - number, tuple(frozenset((word,)) for word in others)

    @property
    def _clues(self) -> Iterator[tuple[str, ...]]:
        for forms in self.hints.values():
            yield from (form for form, letter in forms if letter == CLUE)


def compile_topic(name: str, words: tuple[str, ...], rules: TopicRules | None) -> CompiledTopic:
    """Make a topic ready: by its own rules, or by its words alone, read as conditions."""
    roles: dict[str, Iterable[str]] = {"conditions": words}
    phrases: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    if rules is not None:
        roles = dict(rules.roles)
        phrases, harmless = rules.phrases, rules.harmless
    return CompiledTopic(
        name,
        _terms(roles),
        tuple(compile_phrase(phrase) for phrase in phrases),
        tuple(compile_phrase(phrase) for phrase in harmless),
        () if rules is None else tuple(compile_phrase(phrase) for phrase in rules.denials),
        _unsure_terms(rules),
        rules is not None and rules.illness,
        {} if rules is None else _hints(rules),
    )


def _unsure_terms(rules: TopicRules | None) -> frozenset[tuple[str, ...]]:
    """Terms with an everyday meaning, and what several are: one author is not "alcoholics"."""
    if rules is None:
        return frozenset()
    several = (tuple(_forms(member))[1:] for member in rules.roles["members"])
    return frozenset(
        (
            *(form for term in rules.unsure for form in _forms(term)),
            *(form for forms in several for form in forms),
        )
    )


def _terms(roles: dict[str, Iterable[str]]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    letter: dict[tuple[str, ...], str] = {}
    for role, terms in roles.items():
        for term in terms:
            for form in _forms(term):
                letter[form] = ROLES.get(role, "")
    return _by_first_word(letter)


def _hints(rules: TopicRules) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    letter = {form: WORD for word in rules.words for form in _forms(word)}
    return _by_first_word(letter | {form: CLUE for clue in rules.clues for form in _forms(clue)})


def _by_first_word(
    letter: dict[tuple[str, ...], str],
) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for form in sorted(letter, key=len, reverse=True):
        found.setdefault(form[0], []).append((form, letter[form]))
    return found


def _forms(term: str) -> Iterator[tuple[str, ...]]:
    words = tuple(_DIGIT.sub(" ", term).split())
    yield words
    last = words[-1]
    if len(last) > _LONGEST_WITHOUT_PLURAL and last.isalpha() and not last.endswith("s"):
        yield (*words[:-1], last + "s")


def compile_phrase(phrase: str) -> CompiledPhrase:
    """Read a phrase: words, (one|of|these), optional ones with ?, # for a number, ~ for a gap.

    "$" after a word is the end of the sentence. Inside brackets a choice may have several words,
    and choices of its own.
    """
    parts: list[str] = []
    needs: list[frozenset[str]] = []
    elements = _ELEMENT.findall(_DIGIT.sub(" ", phrase))
    for written in elements:
        if written in _GAPS:
            parts.append(_GAP_AFTER_MY if parts == [_MY] else _GAP % _GAPS[written])
            continue
        last, element = written.endswith("$"), written.removesuffix("$")
        optional = element[0] in "(<" and element.endswith("?")
        bare = element[:-1] if optional else element
        choice = _CLASSES.get(bare) or (bare[1:-1] if bare.startswith("(") else bare)
        parts.append(f"(?:(?:{_expression(choice)}){_WORD_END})" + "?" * optional + "$" * last)
        if not optional and bare not in _CLASSES:
            needs.append(_list_needed_words(choice))
    own = elements[0] in {"<i>", "<my>", "i", "my", "our", "we"}
    usable = sorted((need for need in needs if need), key=_need_rarity)
    return CompiledPhrase("(?<= )" + "".join(parts), tuple(usable), own)


def _expression(choice: str) -> str:
    written = re.sub(r"(?<!\S)#|(?<=[|(])#", lambda _: f"(?:{_CLASSES['#']})", choice)
    written = re.sub(r"(?<=[a-z])\*", lambda _: r"\S*", written)
    # Marks that no phrase holds, so that the blank can be replaced between the words alone.
    written = written.replace(" ?", "\x02").replace("~ ", "\x03")
    joined = written.replace(" ", _WORD_END)
    return joined.replace("\x02", f"(?:{_WORD_END})?").replace("\x03", _GAP % _GAPS["~"])


def _list_needed_words(choice: str) -> frozenset[str]:
    """For each choice a word that it has; none at all if one of them has no plain word."""
    longest = []
    for each in re.sub(r"\([^()]*\)", "", choice).split("|"):
        plain = [word for word in each.split() if word.isalpha()]
        if not plain:
            return frozenset()
        longest.append(max(plain, key=lambda word: (-_commonness().get(word, 0), len(word))))
    return frozenset(longest)


@cache
def _commonness() -> dict[str, int]:
    """2 for function words, 1 for other words of the classes; what is not in it is rare."""
    frames = load_frames()
    content = {frames.letters[name] for name in _CONTENT_CLASSES}
    known = {word: 1 if letter in content else 2 for word, letter in frames.letter_of.items()}
    return dict.fromkeys(str(table("contexts.toml")["common"]).split(), 1) | known


def _word_rarity(word: str) -> tuple[int, int]:
    """A key by which rare words come first."""
    return _commonness().get(word, 0), -len(word)


def _rarest_first(form: tuple[str, ...]) -> Sequence[str]:
    return form if len(form) == 1 else sorted(form, key=_word_rarity)


def _need_rarity(need: frozenset[str]) -> tuple[int, int, int]:
    common, length = max(map(_word_rarity, need))
    return common, length, len(need)


def misspellings(words: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """The usual mistypings of ``words`` that are no ``known`` words, each with what was meant.

    The first letter is nearly always right, and short words are too near to others.

    >>> misspellings(["pregnant"], [])["pregant"]
    'pregnant'
    """
    long = [word for word in words if len(word) >= _SHORTEST_MISTYPED and word.isalpha()]
    right = {*known, *words, *_LOOKALIKES}
    return {wrong: word for word in long for wrong in _mistype_word(word) if wrong not in right}


def _mistype_word(word: str) -> Iterator[str]:
    for place in range(1, len(word)):
        before, letter, after = word[:place], word[place], word[place + 1 :]
        yield before + after
        yield before + letter + letter + after
        if after:
            yield before + after[0] + letter + after[1:]
        if letter in _VOWELS:
            yield from (before + vowel + after for vowel in _VOWELS if vowel != letter)
