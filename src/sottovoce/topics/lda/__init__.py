"""Latent Dirichlet allocation: a trained model, its training, and the topics of a post."""

from sottovoce.topics.lda._model import LdaModel
from sottovoce.topics.lda._train import LdaParameters, train_lda

__all__ = ["LdaModel", "LdaParameters", "train_lda"]
