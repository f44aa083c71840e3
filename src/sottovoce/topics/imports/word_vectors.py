"""Word vectors that other tools trained, as ours."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.card import ModelFileError, Origin
from sottovoce.topics.imports.terms import our_terms, rules_for, vocabulary_of
from sottovoce.topics.w2v.files.binary import binary_vectors
from sottovoce.topics.w2v.files.limits import EmbeddingError, checked_size
from sottovoce.topics.w2v.files.text import text_vectors
from sottovoce.topics.w2v.model import SkipGramModel

TOOL = "word2vec"


def import_word2vec(path: Path, rules: TokenRules | None = None) -> SkipGramModel:
    """Vectors from a file of GloVe or word2vec; a name that ends in .bin is word2vec's binary."""
    read = binary_vectors if path.suffix == ".bin" else text_vectors
    words, rows = [], []
    try:
        for word, row in read(path, None):
            words.append(word.decode(errors="replace"))
            rows.append(row)
            checked_size(len(rows), row.size)
    except OSError as error:
        raise EmbeddingError(f"cannot read {path}: {error.strerror}.") from None
    if not rows:
        raise EmbeddingError(f"{path} holds no word.")
    return vector_model(words, np.stack(rows), tool=TOOL, rules=rules)


def vector_model(
    words: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    tool: str,
    rules: TokenRules | None = None,
) -> SkipGramModel:
    """A model from words and their vectors; of words that become the same term the first counts."""
    terms, of_word = our_terms(words)
    first = np.full(len(terms), -1, np.int64)
    places = np.flatnonzero(of_word >= 0)[::-1]
    first[of_word[places]] = places
    origin = Origin(parameters={"tool": tool, "words_left_out": int((of_word < 0).sum())})
    try:
        return SkipGramModel(
            vectors[first], vocabulary_of(terms, tool), rules_for(terms, rules), origin
        )
    except ParameterError as error:
        raise ModelFileError(f"the vectors of {tool} are unusable: {error}") from None
