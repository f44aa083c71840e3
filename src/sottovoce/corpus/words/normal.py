"""One spelling for texts that look alike: Unicode's composed form, without vowel points.

An umlaut is one character or two, and Arabic and Hebrew are written with vowel points or, mostly,
without. Words are looked for in the composed form without these points. Text in ASCII, and any that
is spelt so already, is passed on as it is, to the bit.
"""

import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

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
