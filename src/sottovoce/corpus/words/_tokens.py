"""Texts as lists of words, for people and for short lists; counting does not go through here."""

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa

from sottovoce.corpus.words._codes import DROPPED, WordCoder
from sottovoce.corpus.words._rules import TokenRules
from sottovoce.corpus.words._scan import text_buffers


def tokenize(texts: Sequence[str], rules: TokenRules | None = None) -> list[list[str]]:
    """The words of each text in the form in which they count, without bigrams.

    >>> tokenize(["A loan!", "The sea"])
    [['loan'], ['the', 'sea']]
    """
    coder = WordCoder(rules or TokenRules())
    stream, codes = coder.encode(text_buffers(pa.array(texts, pa.large_string())), 0, len(texts))
    forms = coder.forms
    words = [forms[code] if code != DROPPED else None for code in codes[stream.words].tolist()]
    begins = [0, *stream.ends.tolist()]
    return [
        [word for word in words[begin:end] if word is not None] for begin, end in pairwise(begins)
    ]
