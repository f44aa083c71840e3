"""A public list of words of everyday English, shipped: what a release may count without asking.

Put down by us, subject by subject; no text was counted for it. Function words are left out: they
tell next to nothing of a document and would take most of its words.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import ENGLISH

_FEWEST_WORDS = 100
SHARE = 0.15
"""So many words of English prose are function words at least."""
NOT_ENGLISH = (
    "these posts do not seem to be in English, and the built-in topics are: what is written in "
    "another language scores nothing. --topics takes topics in its words."
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
