"""Latent Dirichlet allocation: a trained model, its training, and the topics of a post."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "LdaModel",
    "LdaParameters",
    "train_lda",
]

if TYPE_CHECKING:
    from sottovoce.topics.lda._model import LdaModel
    from sottovoce.topics.lda._train import LdaParameters, train_lda
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "LdaModel": "sottovoce.topics.lda._model",
            "LdaParameters": "sottovoce.topics.lda._train",
            "train_lda": "sottovoce.topics.lda._train",
        },
        extra="topics",
    )
