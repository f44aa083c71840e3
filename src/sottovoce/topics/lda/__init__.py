"""Latent Dirichlet allocation: a trained model, its training, and the topics of a post."""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "LdaModel",
    "LdaParameters",
    "train_lda",
]

if TYPE_CHECKING:
    from sottovoce.topics.lda.model import LdaModel
    from sottovoce.topics.lda.train import LdaParameters, train_lda
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "LdaModel": "sottovoce.topics.lda.model",
            "LdaParameters": "sottovoce.topics.lda.train",
            "train_lda": "sottovoce.topics.lda.train",
        },
        extra="topics",
    )
