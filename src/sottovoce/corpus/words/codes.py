"""From texts to streams of word codes: scanning, then the token rules on each distinct word.

`tokenize` gives the words themselves, for people and for short lists; counting does not go through
it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.corpus.words._lexicon import Lexicon
from sottovoce.corpus.words.characters import normal_form, normal_texts
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.corpus.words.scan import TextBuffers, WordStream, find_words, text_buffers
from sottovoce.errors import ParameterError

# A word that is not in the vocabulary still stands between its neighbours; a dropped one does not.
OUTSIDE = -1
DROPPED = -2

# Beyond this many distinct words a coder of known words starts its cache again.
_CACHE_WORDS = 1 << 20


class WordCoder:
    """Gives each word of a text the code of its form.

    With ``known`` forms, all others are OUTSIDE and memory is bounded; without, every new form
    gets the next code.
    """

    def __init__(self, rules: TokenRules, known: Mapping[str, int] | None = None) -> None:
        self._rules = rules
        self._form = rules.former()
        self._open = known is None
        self._forms = dict(known or {})
        # Words of a list may be spelt otherwise than texts are when they are read.
        self._spelt = {normal_form(form): code for form, code in self._forms.items()}
        # Stemming maps many words to a form, so the words cannot be listed beforehand.
        self._growing = self._open or rules.stem is not None
        self._forget()
        if not self._growing:
            other = [word for word in self._spelt if word not in self._forms]
            self._learn([*self._forms, *other, *rules.stop_words])

    @property
    def shared(self) -> bool:
        """Whether several threads may use this coder at once."""
        return not self._growing

    @property
    def forms(self) -> list[str]:
        """The forms in the order of their codes."""
        return list(self._forms)

    def encode(
        self, texts: TextBuffers, first: int, last: int
    ) -> tuple[WordStream, NDArray[np.int32]]:
        """The words of some texts, by their numbers, and the code of each number."""
        if self._growing and not self._open and len(self._lexicon) > _CACHE_WORDS:
            self._forget()
        stream = find_words(
            texts, first, last, self._lexicon, shortest=self._rules.shortest, growing=self._growing
        )
        if self._growing:
            self._code(self._lexicon.words(self._codes.size))
        return stream, self._codes

    def _forget(self) -> None:
        self._lexicon = Lexicon()
        self._codes = np.empty(0, np.int32)

    def _learn(self, words: list[str]) -> None:
        texts = text_buffers(pa.array(words, pa.large_string()))
        find_words(texts, 0, len(words), self._lexicon, shortest=1, growing=True)
        self._code(self._lexicon.words())

    def _code(self, words: Iterable[str]) -> None:
        codes = np.array([self._code_of(word) for word in words], np.int32)
        self._codes = np.concatenate([self._codes, codes])

    def _code_of(self, word: str) -> int:
        form = self._form(word)
        if form is None:
            return DROPPED
        if self._open:
            return self._forms.setdefault(form, len(self._forms))
        return self._forms.get(form, self._spelt.get(form, OUTSIDE))


def tokenize(texts: Sequence[str], rules: TokenRules | None = None) -> list[list[str]]:
    """The words of each text in the form in which they count, without bigrams.

    >>> tokenize(["A loan!", "The sea"])
    [['loan'], ['the', 'sea']]
    """
    if isinstance(texts, str):
        raise ParameterError("texts must be a list of texts, got one text: put it into a list.")
    coder = WordCoder(rules or TokenRules())
    spelt = normal_texts(pa.array(texts, pa.large_string()))
    stream, codes = coder.encode(text_buffers(spelt), 0, len(texts))
    forms = coder.forms
    words = [forms[code] if code != DROPPED else None for code in codes[stream.words].tolist()]
    begins = [0, *stream.ends.tolist()]
    return [
        [word for word in words[begin:end] if word is not None] for begin, end in pairwise(begins)
    ]
