"""Why a sentence that fits a rule says nothing of its author after all.

Every word of a sentence is read as a letter for its class (`load_frames`): the author, a negation,
a verb and so on. Rules look at letters, and at words where a class is too wide. First a sentence is
read (`read_sentence`), then objections are looked for (`find_objection`); the questions at the end
are asked by single rules.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from sottovoce.assess.disclosure._terms import BARRED
from sottovoce.assess.disclosure._tokens import QUOTE, Sentence, load_frames, table

_WORD_LISTS = {name: str(words) for name, words in table("contexts.toml").items()}
WORD_SETS = {name: frozenset(words.split()) for name, words in _WORD_LISTS.items()}


def _load_sayings(name: str) -> dict[str, list[tuple[str, ...]]]:
    """The sayings of a list, by their first word."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for each in _WORD_LISTS[name].split(","):
        words = tuple(each.split())
        if words:
            found.setdefault(words[0], []).append(words)
    return found


_NOT_DENIED = _load_sayings("not_denied")
_ASIDES = _load_sayings("asides")
FRAMES = load_frames()
_LETTERS = FRAMES.letters
AUTHOR, MY, ME, YOU = (_LETTERS[name] for name in ("i", "my", "me", "you"))
THEY, KIN, NOT, IF, WOULD = (_LETTERS[name] for name in ("they", "kin", "not", "if", "would"))
_ADVERB, _THE, _AND = (_LETTERS[name] for name in ("adverb", "the", "and"))
_BARRED = frozenset({AUTHOR, YOU, THEY, KIN, NOT, IF, WOULD})
OTHERS = frozenset({YOU, THEY, KIN})
OWN = frozenset({AUTHOR, MY, ME})
OTHER, DOING = "_", "V"  # a word of no class; a word in -ing of no class
_DOUBT_REACH = 3  # words before "I" in which a doubt counts
_IT = (["it"], ["that"], ["this"])
_STORY = re.compile(
    r" in (?:the|a|my|this|that|our) (?:\S+ )?"
    r"(?:film|play|novel|musical|show|game|dream|story|panto|soap|book)\W? "
)
_LONGEST_OTHER = 4  # "red" and "king" are no verbs
# "Being ill is ..." speaks of being ill; "being ill, I ..." of its author.
_GERUNDS = frozenset(("being", "having", "living"))
_STATES = frozenset(("is", "are", "was", "does", "means", "can"))
_CONTRARY = frozenset(("were", "was", "did", "had"))
_AFTER_NAME = frozenset(("'s", "is", "has", "was", "had", "got", "says", "said", "told", "takes"))


@dataclass(frozen=True, eq=False)
class SentenceReading:
    """A sentence and the letters of its words."""

    sentence: Sentence
    letters: list[str]

    @cached_property
    def text(self) -> str:
        """The words with a blank before and after each, marked where no gap may hold them."""
        pairs = zip(self.sentence.words, self.letters, strict=True)
        return " " + "".join(f"{w}{BARRED if a in _BARRED else ''} " for w, a in pairs)

    @cached_property
    def word_set(self) -> frozenset[str]:
        """Its words, and "i", which it may have lost."""
        return frozenset((*self.sentence.words, "i"))

    @cached_property
    def is_elided(self) -> bool:
        """Whether the sentence begins with a verb that has lost its "I"."""
        words = self.sentence.words
        first = next((k for k, a in enumerate(self.letters) if a not in (_ADVERB, _AND)), None)
        if first is None or not _lost_i(words[first]):
            return False
        if words[first] in _GERUNDS and not _STATES.isdisjoint(self.clause(first)):
            return False
        following = self.letters[first + 1 : first + 2]
        return not following or following[0] not in (AUTHOR, YOU, THEY, KIN)

    def clause(self, first: int) -> list[str]:
        """The words from ``first`` on, up to a comma."""
        words = self.sentence.words[first:]
        return words[: words.index(",")] if "," in words else words

    @cached_property
    def own(self) -> bool:
        """Whether the author is named in it."""
        return any(letter in OWN for letter in self.letters)


def _lost_i(word: str) -> bool:
    verb = len(word) > _LONGEST_OTHER and word.endswith(("ed", "ing"))
    return verb or word in WORD_SETS["without_i"]


def read_sentence(sentence: Sentence, written: str) -> SentenceReading:
    """The letters of a sentence's words; negations that deny nothing are read as adverbs.

    A word with a capital letter before a verb, as in "and Dave has", is somebody's name; where a
    sentence begins, it is one only if it is a given name.
    """
    known = FRAMES.letter_of
    letters = [known.get(word) or _guess_letter(word) for word in sentence.words]
    for place in range(len(letters) - 1):
        if letters[place] == OTHER and sentence.words[place + 1] in _AFTER_NAME:
            start = sentence.spans[place][0]
            capital = written[start : start + 1].isupper()
            if capital and not written[start + 1 : start + 2].isupper():
                named = place or sentence.words[place] in WORD_SETS["given_names"]
                letters[place] = KIN if named else OTHER
    _read_asides(sentence.words, letters)
    if NOT in letters or KIN in letters or "but" in sentence.words:
        _read_over_negations(sentence.words, letters)
    return SentenceReading(sentence, letters)


def _guess_letter(word: str) -> str:
    if word[0].isdigit():
        return _LETTERS["number"]
    if word == QUOTE:
        return "Q"
    return DOING if word.endswith("ing") else OTHER


def _saying_length(sayings: dict[str, list[tuple[str, ...]]], words: list[str], place: int) -> int:
    """How many words of a saying stand at ``place``; 0 if none does."""
    for saying in sayings.get(words[place], ()):
        if tuple(words[place : place + len(saying)]) == saying:
            return len(saying)
    return 0


def _read_asides(words: list[str], letters: list[str]) -> None:
    """Read over asides: "thank you" names nobody, "if I'm honest" doubts nothing."""
    for place, word in enumerate(words):
        if word in _ASIDES:
            length = _saying_length(_ASIDES, words, place)
            letters[place : place + length] = [_ADVERB] * length
        called = word in WORD_SETS["vocatives"] and words[place - 1 : place] == [","]
        if called and words[place + 1 : place + 2] in ([], [","]):
            letters[place] = _ADVERB


def _read_over_negations(words: list[str], letters: list[str]) -> None:
    """Read over what denies nothing, as "if I weren't"; "anything but" denies."""
    for place, letter in enumerate(letters):
        if letter == WOULD and words[place + 1 : place + 2] == ["be"] and "but" in words[place:]:
            letters[place] = _ADVERB
        if words[place : place + 2] == ["anything", "but"]:
            letters[place : place + 2] = [NOT, _ADVERB]
        if _is_contrary(words, place):
            letters[place] = letters[place + 3] = _ADVERB
        for near in range(place, place + _saying_length(_NOT_DENIED, words, place)):
            letters[near] = _ADVERB if letters[near] == NOT else letters[near]


def _is_contrary(words: list[str], place: int) -> bool:
    """Whether it is said as contrary to fact: "if I weren't in a wheelchair"."""
    if words[place] not in {"if", "wish"} or words[place + 3 : place + 4] != ["not"]:
        return False
    return words[place + 1] in {"i", "we"} and words[place + 2] in _CONTRARY


def find_objection(reading: SentenceReading, first: int, last: int, *, own: int) -> str:
    """The reason why the words from ``first`` up to ``last`` are no statement, "" if none is.

    From ``own`` on they are the topic's own words, whose negations and modals belong to them.
    """
    words, letters = reading.sentence.words, reading.letters
    clause = _clause_start(words, first)
    left, before = words[clause:first], letters[clause:first]
    refused = _find_denial(left, before, letters[first:own], by_author=letters[first] == AUTHOR)
    if not refused and letters[first] == AUTHOR:
        near = range(max(0, first - 6), first)
        spoken = [words[k] for k in near if letters[k] != _ADVERB]
        refused = _find_hedge(reading, left, spoken)
    if not refused and not WORD_SETS["joking"].isdisjoint(words[max(0, first - 2) : own]):
        refused = "joke"
    mine = letters[first] == MY
    return (
        refused
        or _find_following_objection(words, last, mine=mine)
        or _find_metaphor(words, letters, (first, last), before, left)
    )


def _find_denial(left: list[str], before: list[str], inside: list[str], *, by_author: bool) -> str:
    if inside[:1] == [ME] and NOT in before[-3:]:
        return "negation"
    if NOT in inside or _is_denial(left, before, starts_with_i=by_author):
        return "negation"
    doubted = by_author and any(
        word in WORD_SETS["doubted"] and letter != _ADVERB
        for word, letter in zip(left[-_DOUBT_REACH:], before[-_DOUBT_REACH:], strict=True)
    )
    return "hypothetical" if doubted or IF in before or IF in inside or WOULD in inside else ""


def _find_hedge(reading: SentenceReading, left: list[str], before: list[str]) -> str:
    if reading.sentence.question and "when" in left:
        return "question"
    asked = bool(left) and left[-1] in WORD_SETS["asking"]
    if asked and (reading.sentence.question or len(left) == 1):
        return "question"
    return "third person" if _is_claim(before) else ""


def _find_following_objection(words: list[str], last: int, *, mine: bool) -> str:
    """The objection that what follows makes it a field of work, or a joke; "" if none."""
    if last >= len(words):
        return ""
    field = words[last] in WORD_SETS["compounds"]
    theirs = not mine and words[last] in WORD_SETS["compounds_of_others"]
    return "compound" if field or theirs or _is_joke(words[last:]) else ""


def _find_metaphor(
    words: list[str], letters: list[str], at: tuple[int, int], before: list[str], left: list[str]
) -> str:
    """The objection that "my" names something else: "coffee is my antidepressant"; "" if none."""
    first, last = at
    if letters[first] != MY:
        return ""
    named = "called" in words[last : last + 2]
    like = before[-1:] == [_LETTERS["is"]] and left[-2:-1] not in _IT
    return "metaphor" if named or like else ""


def _is_joke(after: list[str]) -> bool:
    """Whether what follows names it as a joke does: "called being near cheese", say."""
    return (
        after[0] == "called"
        and len(after) > 1
        and (after[1].endswith("ing") or FRAMES.letter_of.get(after[1]) in (_THE, MY, NOT))
    )


def _clause_start(words: list[str], first: int) -> int:
    for place in range(first - 1, -1, -1):
        if words[place] in {",", "but"}:
            return place + 1
    return 0


def _is_denial(left: list[str], before: list[str], *, starts_with_i: bool) -> bool:
    if NOT not in before[-4:]:
        return False
    if before[-1] == NOT:
        return True
    if not starts_with_i:
        return before[-2] == NOT and before[-1] in (_THE, _ADVERB)
    if left[-1] in WORD_SETS["denied_after"] and before[-2] == NOT:
        return True
    return (left[-2] if left[-1] == "that" else left[-1]) in WORD_SETS["denied_by"]


def _is_claim(left: list[str]) -> bool:
    for place in range(len(left) - 1, -1, -1):
        if left[place] in WORD_SETS["claims"]:
            before = left[:place]
            if any(word in WORD_SETS["knows"] for word in before):
                return False
            if left[place - 1 : place + 2] in _THEY_TOLD:
                return False
            subject = next(
                (w for w in reversed(before) if FRAMES.letter_of.get(w) in _SUBJECTS), ""
            )
            return subject not in {"i", "we", ""}
    return False


_SUBJECTS = frozenset({AUTHOR, YOU, THEY, KIN})
_THEY_TOLD = (["they", "told", "me"], ["they", "told", "us"], ["they", "said", "that"])


def is_fiction(reading: SentenceReading) -> bool:
    """Whether the sentence speaks of a role, a game or a story."""
    return not WORD_SETS["fiction"].isdisjoint(reading.sentence.words) or bool(
        _STORY.search(reading.text)
    )


def is_only_met(reading: SentenceReading, first: int, last: int, *, did: bool = False) -> bool:
    """Whether a verb between "I" and the topic's word says that the author met it, no more.

    With ``did`` verbs of feeling do not count as that: what one loves, one may well have done.
    """
    words = reading.sentence.words[first:last]
    met = not (WORD_SETS["met"].isdisjoint(words) and WORD_SETS["work"].isdisjoint(words))
    return met or not (did or WORD_SETS["feel"].isdisjoint(words))


def has_other_subject(reading: SentenceReading, first: int) -> bool:
    """Whether the nearest subject before ``first``, in its clause, is somebody else."""
    return _nearest_subject(reading, first) in OTHERS


def has_own_subject(reading: SentenceReading, first: int) -> bool:
    """Whether the nearest subject before ``first``, in its clause, is the author."""
    return _nearest_subject(reading, first) == AUTHOR


def _nearest_subject(reading: SentenceReading, first: int) -> str:
    start = _clause_start(reading.sentence.words, first)
    named = OTHERS | OWN
    return next((a for a in reversed(reading.letters[start:first]) if a in named), "")


def is_taking(reading: SentenceReading) -> bool:
    """Whether a verb says that something is taken, as a medicine is."""
    return not WORD_SETS["taking"].isdisjoint(reading.sentence.words)


def is_opinion(reading: SentenceReading) -> bool:
    """Whether the sentence says what its author thinks or read."""
    return not WORD_SETS["opinion"].isdisjoint(reading.sentence.words)


def is_one_person(word: str) -> bool:
    """Whether the word names one person."""
    return word in WORD_SETS["one_person"]


def is_soon(reading: SentenceReading) -> bool:
    """Whether the sentence says that something is about to be."""
    return not WORD_SETS["soon"].isdisjoint(reading.sentence.words)


def is_doubt(reading: SentenceReading, last: int) -> bool:
    """Whether a word before ``last`` makes the statement a fear, a wish or a thought."""
    return not WORD_SETS["doubted"].isdisjoint(reading.sentence.words[:last])


def is_now(reading: SentenceReading) -> bool:
    """Whether the sentence is about one day, and not about how things are in general."""
    return not WORD_SETS["now"].isdisjoint(reading.sentence.words)


def is_verdict(reading: SentenceReading) -> bool:
    """Whether the sentence speaks of a finding, or of somebody who finds."""
    words = reading.sentence.words
    return not (WORD_SETS["knows"].isdisjoint(words) and WORD_SETS["verdicts"].isdisjoint(words))


def is_of_body(reading: SentenceReading) -> bool:
    """Whether the sentence names a part of the body: "my left hip has arthritis"."""
    return not WORD_SETS["body"].isdisjoint(reading.sentence.words)
