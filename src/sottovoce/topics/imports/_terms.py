"""Other tools' words as our terms."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.characters import fold_case, is_word
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ModelFileError

_PAIR = 2


def our_terms(words: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The terms that ``words`` become, and for each word the number of its term or -1.

    Words are put into lower case; ``first_second``, as phrase tools write it, becomes the bigram
    "first second"; what our tokeniser can never find is left out.
    """
    numbers: dict[str, int] = {}
    of_word = np.full(len(words), -1, np.int64)
    for place, word in enumerate(words):
        term = _term(word)
        if term is not None:
            of_word[place] = numbers.setdefault(term, len(numbers))
    if not numbers:
        raise ModelFileError("the model has no word that could be found in a text; check its file.")
    return tuple(numbers), of_word


def vocabulary_of(terms: Sequence[str], tool: str) -> Vocabulary:
    """The terms of an imported model, which whoever imports it vouches for."""
    return Vocabulary(tuple(terms), data_dependent=False, origin=f"imported from {tool}")


def rules_for(terms: Sequence[str], rules: TokenRules | None) -> TokenRules:
    """Rules under which every term can be found; bigrams are counted when there are any."""
    shortest = min(len(word) for term in terms for word in term.split(" "))
    pairs = any(" " in term for term in terms)
    rules = rules or TokenRules(shortest=shortest)
    return replace(rules, bigrams=rules.bigrams or pairs)


def _term(word: str) -> str | None:
    folded = fold_case(word)
    for separator in (" ", "_"):
        parts = folded.split(separator)
        if len(parts) == _PAIR and all(is_word(part) for part in parts):
            return " ".join(parts)
    return folded if is_word(folded) else None
