"""Which words of a text count, and in which form.

The built-in stop list, function words of English, is public: it says nothing about any corpus.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import snowballstemmer

from sottovoce.corpus.words.characters import LONGEST_WORD, fold_case
from sottovoce.errors import ParameterError
from sottovoce.files import cause_of


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
