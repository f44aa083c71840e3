"""How a topic's words are mistyped: one letter left out, doubled, swapped, or another vowel."""

from collections.abc import Iterable, Iterator

_SHORTEST = 7
_VOWELS = "aeiou"
# Right words that look like one of ours mistyped.
_OTHERS = frozenset(
    "addition additions believes disable disables convection convections portion interact".split()
)


def misspellings(words: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """The usual mistypings of ``words`` that are no ``known`` words, each with what was meant.

    The first letter is nearly always right, and short words are too near to others.

    >>> misspellings(["pregnant"], [])["pregant"]
    'pregnant'
    """
    long = [word for word in words if len(word) >= _SHORTEST and word.isalpha()]
    right = {*known, *words, *_OTHERS}
    return {wrong: word for word in long for wrong in _mistyped(word) if wrong not in right}


def _mistyped(word: str) -> Iterator[str]:
    for place in range(1, len(word)):
        before, letter, after = word[:place], word[place], word[place + 1 :]
        yield before + after
        yield before + letter + letter + after
        if after:
            yield before + after[0] + letter + after[1:]
        if letter in _VOWELS:
            yield from (before + vowel + after for vowel in _VOWELS if vowel != letter)
