"""A tokeniser that is slow and obviously right, and texts that are hard to tokenise."""

import random
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
    "àéîõüßÀÉÎÕÜẞİıſK",
    "ΑΒΣσςΏώ",
    "абвгдЁЖЯ",
    "אבגדה\u05b0\u05b1",
    "ابتثج\u064b\u0650",
    "हिन्दी\u094d",
    "漢字かなカナ한국",
    "𝒜𝓑𝟘𐐀𐐨",
    "\u0301\u0308\u0345\u20dd\ufe0f",
    "\u00ad\u200b\u200c\u200d\u200e\u202e\ufeff",
    "😀👍🏽👩‍👩‍👧❤️🇩🇪1️⃣",
    " \t\n\r\u00a0\u2028",
    ".,;:!?'\"-–…()[]{}<>@#&%$€",
    "\x00\x01\x7f\x85",
    "Ⅷ²½٣",
)
INVALID = (
    b"\xff",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xf5\x80\x80\x80",
    b"\x80",
)


def words(text: str | bytes, shortest: int = 2, longest: int = 256) -> list[str]:
    """The words of a text, by the rules of ``characters`` read aloud."""
    found, word = [], ""
    for character in _decoded(text) + " ":
        category = unicodedata.category(character)
        if character == "_" or character.isalnum() or (word and category.startswith("M")):
            word += "σ" if character in "Σς" else character.lower()
        elif category != "Cf":
            found.append(word)
            word = ""
    return [word for word in found if shortest <= len(word) <= longest]


def terms(text: str | bytes, *, bigrams: bool = False, shortest: int = 2) -> list[str]:
    """Words and, if asked for, pairs of neighbours."""
    single = words(text, shortest)
    pairs = [f"{a} {b}" for a, b in pairwise(single)] if bigrams else []
    return single + pairs


def counts(texts: Sequence[str | bytes], *, bigrams: bool = False) -> list[dict[str, int]]:
    """How often each term occurs in each text."""
    return [dict(Counter(terms(text, bigrams=bigrams))) for text in texts]


def awkward_texts(number: int, seed: int) -> Iterator[bytes]:
    """Texts of mixed scripts, marks, emoji, control characters and broken bytes."""
    draw = random.Random(seed)
    for _ in range(number):
        pieces = []
        for _ in range(draw.choice((0, 1, 3, 8, 20))):
            alphabet = draw.choice(ALPHABETS)
            letters = "".join(draw.choice(alphabet) for _ in range(draw.randint(1, 9)))
            pieces.append(letters.encode("utf-8", "surrogatepass"))
            pieces.append(draw.choice((b"", b" ", b" ", b"\xcc\x81", b"\xc2\xad")))
            if draw.random() < 0.05:
                pieces.append(draw.choice(INVALID))
        yield b"".join(pieces)


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
