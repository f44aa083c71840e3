"""Word vectors by skip-gram: a trained model, its training, and the strength of a post."""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "SkipGramModel",
    "SkipGramParameters",
    "train_skip_gram",
]

if TYPE_CHECKING:
    from sottovoce.topics.w2v.model import SkipGramModel
    from sottovoce.topics.w2v.train import SkipGramParameters, train_skip_gram
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "SkipGramModel": "sottovoce.topics.w2v.model",
            "SkipGramParameters": "sottovoce.topics.w2v.train",
            "train_skip_gram": "sottovoce.topics.w2v.train",
        },
        extra="topics",
    )
