"""gensim's models. Their files are pickles, which can run code: they are read when trusted only."""

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import MissingExtraError
from sottovoce.files import cause_of
from sottovoce.topics.card import ModelFileError
from sottovoce.topics.imports.topic_models import topic_model
from sottovoce.topics.imports.word_vectors import vector_model
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.w2v.model import SkipGramModel

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from gensim.models import LdaModel as GensimLda

TOOL = "gensim"


def import_gensim(
    path: Path, rules: TokenRules | None = None, *, trust_pickle: bool = False
) -> LdaModel | SkipGramModel:
    """The model that gensim's ``save`` wrote: LdaModel, Word2Vec or KeyedVectors.

    Loading it runs whatever code the file holds, so ``trust_pickle`` must say that it may.
    """
    if not trust_pickle:
        raise ModelFileError(
            f"{path} is a pickle, which can run any code when it is read. If you trust whoever "
            "made it, add --trust-pickle (in Python trust_pickle=True); else have it saved as "
            "word2vec text, or as MALLET state."
        )
    return from_gensim(_loaded(path), rules)


def from_gensim(
    model: Any,  # noqa: ANN401 - whichever of gensim's it is
    rules: TokenRules | None = None,
) -> LdaModel | SkipGramModel:
    """A gensim model in memory as ours."""
    if hasattr(model, "get_topics") and hasattr(model, "alpha"):
        return from_gensim_lda(model, rules)
    vectors = getattr(model, "wv", model)
    if hasattr(vectors, "index_to_key"):
        return from_keyed_vectors(vectors, rules)
    raise ModelFileError(
        f"a gensim model must be LdaModel, Word2Vec or KeyedVectors, got {type(model).__name__}."
    )


def from_gensim_lda(model: "GensimLda", rules: TokenRules | None = None) -> LdaModel:
    """Phi is the topics' mean under the posterior, alpha as it was fitted."""
    phi = np.asarray(model.get_topics(), np.float64)
    words = [str(model.id2word[number]) for number in range(phi.shape[1])]
    alpha = np.asarray(model.alpha, np.float64)
    return topic_model(phi.T, alpha, words, tool=TOOL, rules=rules)


def from_keyed_vectors(vectors: "KeyedVectors", rules: TokenRules | None = None) -> SkipGramModel:
    """Word vectors as gensim holds them."""
    return vector_model(list(vectors.index_to_key), vectors.vectors, tool=TOOL, rules=rules)


def _loaded(path: Path) -> Any:  # noqa: ANN401 - whichever of gensim's it is
    try:
        from gensim.utils import SaveLoad  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("gensim", "topics") from error
    try:
        model = SaveLoad.load(str(path))
        # An LDA model keeps its counts in a file of their own.
        return type(model).load(str(path)) if hasattr(model, "get_topics") else model
    except (OSError, EOFError, ValueError, AttributeError, pickle.UnpicklingError) as error:
        why = cause_of(error)
        raise ModelFileError(f"cannot read {path} as a gensim model: {why}.") from None
