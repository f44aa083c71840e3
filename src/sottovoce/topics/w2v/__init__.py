"""Word vectors by skip-gram: a trained model, its training, and the strength of a post."""

from sottovoce.topics.w2v._model import SkipGramModel
from sottovoce.topics.w2v._train import SkipGramParameters, train_skip_gram

__all__ = ["SkipGramModel", "SkipGramParameters", "train_skip_gram"]
