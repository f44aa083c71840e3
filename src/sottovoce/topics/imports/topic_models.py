"""Topic models that other tools trained, as ours."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.card import ModelFileError, Origin
from sottovoce.topics.imports.terms import our_terms, rules_for, vocabulary_of
from sottovoce.topics.lda.model import LdaModel


def topic_model(
    weights: NDArray[np.float64],
    alpha: NDArray[np.float64],
    words: Sequence[str],
    *,
    tool: str,
    rules: TokenRules | None = None,
    libraries: dict[str, str] | None = None,
) -> LdaModel:
    """A model from the weight of each word (row) in each dimension (column).

    Words that become the same term are added up; the terms' probabilities are made to sum to 1
    again after words that no text can hold have been left out.
    """
    terms, of_word = our_terms(words)
    phi = np.zeros((len(terms), weights.shape[1]))
    np.add.at(phi, of_word[of_word >= 0], weights[of_word >= 0])
    sums = phi.sum(axis=0)
    if not (np.isfinite(sums).all() and (sums > 0).all()):
        raise ModelFileError("each latent dimension of the model must have words; one has none.")
    origin = Origin(
        parameters={"tool": tool, "words_left_out": int((of_word < 0).sum())},
        libraries=libraries or {},
    )
    try:
        return LdaModel(
            (phi / sums).astype(np.float32),
            alpha,
            vocabulary_of(terms, tool),
            rules_for(terms, rules),
            origin,
        )
    except ParameterError as error:
        raise ModelFileError(f"the model of {tool} is unusable: {error}") from None
