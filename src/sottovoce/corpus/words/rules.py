r"""Which words of a text count, and in which form; what each Unicode character does to a word.

The built-in stop list, function words of English, is public: it says nothing about any corpus.

A character is one of four kinds, in tables that a kernel can index:
- WORD: letters, numbers and the underscore (Python's `\w`) start or continue a word;
- EXTEND: combining marks continue a word that has begun, but start none;
- IGNORE: format characters (soft hyphen, joiners, direction marks) vanish, so that an invisible
  character neither hides a word nor splits it;
- SEPARATOR: everything else ends a word.
Lower-casing is per character, with Greek final sigma folded to sigma, so that a word has one form.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import snowballstemmer
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.files import cause_of

SEPARATOR, WORD, EXTEND, IGNORE = 0, 1, 2, 3
CODE_POINTS = 0x110000
NOT_ASCII = 1
# The one character whose lower case is two: i and a dot above.
DOTTED_I = 0x130
# A longer run is no word but data (base64, a key); it is dropped, so it cannot fill the lexicon.
LONGEST_WORD = 256

_SURROGATES = range(0xD800, 0xE000)
# The rest is unassigned or private use; a test checks that no mark or format character is there.
_PLANES_WITH_MARKS = (range(0x20000), range(0xE0000, 0xE1000))
_CAPITAL_SIGMA, _SIGMA, _FINAL_SIGMA = 0x3A3, 0x3C3, 0x3C2


class Characters(NamedTuple):
    """Tables over code points, and a shortcut over the bytes of ASCII text."""

    kind: NDArray[np.uint8]
    """SEPARATOR, WORD, EXTEND or IGNORE for each code point."""
    lower: NDArray[np.int32]
    """The lower-case code point; the dotted capital I gets its second character in the kernel."""
    ascii_fold: NDArray[np.uint8]
    """For each byte: its lower-case form in a word, 0 for a separator, NOT_ASCII beyond ASCII."""


@cache
def character_tables() -> Characters:
    """Build the tables from the Unicode database of the running Python (under 0.1 s, once)."""
    kind = _kinds()
    lower = _lower_case()
    ascii_fold = np.full(256, NOT_ASCII, np.uint8)
    ascii_fold[:128] = np.where(kind[:128] == WORD, lower[:128], 0)
    for table in (kind, lower, ascii_fold):
        table.setflags(write=False)
    return Characters(kind, lower, ascii_fold)


def fold_case(text: str) -> str:
    """``text`` in lower case, character by character, as the scanner folds it."""
    lower = character_tables().lower
    return "".join(
        character.lower() if ord(character) == DOTTED_I else chr(lower[ord(character)])
        for character in text
    )


def is_word(text: str) -> bool:
    """Whether ``text`` is exactly one word, in lower case."""
    if text.isascii() and text.isalnum() and text == text.lower():
        return True  # most are, and their characters need no table
    kind = character_tables().kind
    kinds = [kind[ord(character)] for character in text]
    return (
        bool(kinds)
        and kinds[0] == WORD
        and all(one in (WORD, EXTEND) for one in kinds)
        and fold_case(text) == text
    )


def _kinds() -> NDArray[np.uint8]:
    kind = np.zeros(CODE_POINTS, np.uint8)
    every = _every_character()
    for run in re.finditer(r"\w+", every):
        kind[run.start() : run.end()] = WORD
    for plane in _PLANES_WITH_MARKS:
        for point in plane:
            if kind[point] != WORD:
                kind[point] = _kind_outside_words(every[point])
    return kind


def _kind_outside_words(character: str) -> int:
    category = unicodedata.category(character)
    if category[0] == "M":
        return EXTEND
    return IGNORE if category == "Cf" else SEPARATOR


def _lower_case() -> NDArray[np.int32]:
    # Context and expansion are the two ways str.lower() is not per character: take them out first.
    every = _every_character().replace(chr(DOTTED_I), "i").replace(chr(_CAPITAL_SIGMA), "s")
    lower = np.frombuffer(every.lower().encode("utf-32-le", "surrogatepass"), np.int32).copy()
    lower[[_CAPITAL_SIGMA, _FINAL_SIGMA]] = _SIGMA
    return lower


@cache
def _every_character() -> str:
    points = np.arange(CODE_POINTS, dtype="<u4")
    # A lone surrogate cannot occur in UTF-8; a blank keeps its place.
    points[_SURROGATES.start : _SURROGATES.stop] = ord(" ")
    return points.tobytes().decode("utf-32-le")


# Arabic vowel signs, the dagger alif and the stretching dash; Hebrew points and accents.
_POINTS = "\u064b-\u0652\u0670\u0640\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
# Marks, the parts of Korean syllables, and three signs that are letters.
_RESPELT = rf"[\p{{M}}\x{{1160}}-\x{{11FF}}\x{{2126}}\x{{212A}}\x{{212B}}{_POINTS}]"
_DROPPED = dict.fromkeys(
    point
    for first, last in (
        (0x64B, 0x652),
        (0x670, 0x670),
        (0x640, 0x640),
        (0x591, 0x5BD),
        (0x5BF, 0x5BF),
        (0x5C1, 0x5C2),
        (0x5C4, 0x5C5),
        (0x5C7, 0x5C7),
    )
    for point in range(first, last + 1)
)


def normal_form(text: str) -> str:
    """One text as words are looked for in it.

    >>> normal_form("u\u0308ber") == "\u00fcber"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_DROPPED)


def normal_form_placed(text: str) -> tuple[str, list[int]]:
    """The same, and where in ``text`` each of its characters begins; last where ``text`` ends.

    >>> normal_form_placed("u\u0308b")
    ('üb', [0, 2, 3])
    """
    parts: list[str] = []
    places: list[int] = []
    start = 0
    for place in range(1, len(text) + 1):
        if place < len(text) and unicodedata.combining(text[place]):
            continue
        parts.append(normal_form(text[start:place]))
        places += [start] * len(parts[-1])
        start = place
    return "".join(parts), [*places, len(text)]


def normal_texts(texts: pa.Array) -> pa.Array:
    """The same for an array of strings; the array itself where nothing is spelt otherwise."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return texts
    if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
        return texts
    found = pc.match_substring_regex(texts, _RESPELT).fill_null(False)
    if not pc.any(found).as_py():
        return texts
    composed = pc.utf8_normalize(texts.filter(found), form="NFC")
    plain = pc.replace_substring_regex(composed, f"[{_POINTS}]", "")
    return pc.replace_with_mask(texts, found, plain)


@dataclass(frozen=True)
class TokenRules:
    """How texts become terms.

    A word is a run of letters, numbers, underscores and marks, in lower case, of at least
    ``shortest`` characters (and at most 256: longer runs are data, not words). Then, in this order:
    stop words are dropped, the rest is stemmed, and with ``bigrams`` each two words that are then
    neighbours also make a term "first second".

    >>> from sottovoce.corpus import tokenize
    >>> tokenize(["The loans"], TokenRules(stop_words=frozenset({"the"}), stem="english"))
    [['loan']]
    """

    shortest: int = 2
    stop_words: frozenset[str] = frozenset()
    stem: str | None = None
    bigrams: bool = False

    def __post_init__(self) -> None:
        # Whoever counts is kept by the rules, so that these must not change.
        object.__setattr__(self, "stop_words", frozenset(self.stop_words))
        if not 1 <= self.shortest <= LONGEST_WORD:
            raise ParameterError(
                f"shortest must be between 1 and {LONGEST_WORD}, got {self.shortest}."
            )
        if self.stem is not None and self.stem not in snowballstemmer.algorithms():
            known = ", ".join(sorted(snowballstemmer.algorithms()))
            raise ParameterError(f"stem must be one of {known}, got {self.stem!r}.")

    def former(self) -> Callable[[str], str | None]:
        """A function from a word (in lower case) to the form in which it counts, None if in none.

        It is for one thread: a stemmer keeps state while it works.
        """
        stemmed = str if self.stem is None else snowballstemmer.stemmer(self.stem).stemWord
        return lambda word: None if word in self.stop_words else stemmed(word) or None


_WORDS = """
    about above after again against all almost also although always am among an and another any are
    around as at away back be because been before being below between both but by came can cannot
    come could did do does doing done down during each either else enough even ever every few for
    from further get gets getting go goes going gone got had has have having he her here hers
    herself him himself his how however if in indeed instead into is it its itself just least less
    let like ll made make many may me might mine more most much must my myself neither never no nor
    not now of off often on once one only or other others our ours ourselves out over own per
    perhaps quite rather re really said same say says see seem seems several shall she should since
    so some such than that the their theirs them themselves then there therefore these they this
    those though through thus to together too toward towards under until up upon us used using
    usually ve very was we well were what whatever when whenever where whether which while who whom
    whose why will with within without would yes yet you your yours yourself yourselves
    """
ENGLISH = frozenset(_WORDS.split())
STOP_WORDS = {"english": ENGLISH}


def load_stop_words(name_or_file: str | None) -> frozenset[str]:
    """The list of that name, or the words of that file, one a line; none for None."""
    if name_or_file is None:
        return frozenset()
    if name_or_file in STOP_WORDS:
        return STOP_WORDS[name_or_file]
    try:
        lines = Path(name_or_file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(STOP_WORDS)
        raise ParameterError(
            f"stop words must be one of {known} or a readable file, got {name_or_file!r} "
            f"({cause_of(error, 'it is no UTF-8 text')})."
        ) from None
    return frozenset(fold_case(line.strip()) for line in lines if line.strip())
