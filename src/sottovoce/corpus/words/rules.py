"""Which words of a text count, and in which form."""

from collections.abc import Callable
from dataclasses import dataclass

import snowballstemmer

from sottovoce.corpus.words.scan import LONGEST_WORD
from sottovoce.errors import ParameterError


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
