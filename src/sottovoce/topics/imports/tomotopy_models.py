"""tomotopy's LDA models, from its own files or already in memory."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.card import ModelFileError
from sottovoce.topics.imports.topic_models import topic_model
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.lda.train import load_tomotopy

if TYPE_CHECKING:
    import tomotopy

TOOL = "tomotopy"


def import_tomotopy(path: Path, rules: TokenRules | None = None) -> LdaModel:
    """The model that ``tomotopy.LDAModel.save`` wrote to ``path``.

    Its parameters are pickled; only plain values are read, so the file cannot run code through
    them. The rest is parsed by tomotopy itself.
    """
    try:
        model = load_tomotopy(path)
    except ModelFileError:
        raise
    except Exception as error:  # noqa: BLE001 - its compiled loader raises what it likes
        raise ModelFileError(
            f"cannot read {path} as a tomotopy LDA model: {type(error).__name__}."
        ) from None
    return from_tomotopy(model, rules)


def from_tomotopy(model: "tomotopy.LDAModel", rules: TokenRules | None = None) -> LdaModel:
    """A tomotopy LDA model in memory as ours."""
    phi = np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], np.float64)
    alpha = np.asarray(model.alpha, np.float64)
    alpha = np.full(model.k, alpha) if alpha.ndim == 0 else alpha
    return topic_model(phi.T, alpha, list(model.used_vocabs), tool=TOOL, rules=rules)
