"""Background knowledge: vector spaces, the catalogue of topics, judgements.

Begin with `_space`, what every vector space offers, and `_catalogue`, which topics there are. The
spaces are `_bow`, `lda`, `w2v` and `voice`; `_match` finds the latent dimensions of a topic,
`imports` reads other tools' models, `judgements` asks people, `cooccurrence` finds topics in pairs
of words.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "BagOfWords",
    "Catalogue",
    "LdaModel",
    "LdaParameters",
    "SkipGramModel",
    "SkipGramParameters",
    "Space",
    "Topic",
    "VoiceModel",
    "VoiceParameters",
    "WordChoice",
    "load_model",
    "match_model",
    "salient_words",
    "shipped_catalogue",
    "train_lda",
    "train_skip_gram",
    "train_voice",
]

if TYPE_CHECKING:
    from sottovoce.topics._background import WordChoice
    from sottovoce.topics._bow import BagOfWords
    from sottovoce.topics._catalogue import Catalogue, Topic
    from sottovoce.topics._load import load_model
    from sottovoce.topics._match import match_model
    from sottovoce.topics._salient import salient_words
    from sottovoce.topics._space import Space
    from sottovoce.topics.lda._model import LdaModel
    from sottovoce.topics.lda._train import LdaParameters, train_lda
    from sottovoce.topics.shipped import shipped_catalogue
    from sottovoce.topics.voice._model import VoiceModel
    from sottovoce.topics.voice._parameters import VoiceParameters
    from sottovoce.topics.voice._train import train_voice
    from sottovoce.topics.w2v._model import SkipGramModel
    from sottovoce.topics.w2v._train import SkipGramParameters, train_skip_gram
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "BagOfWords": "sottovoce.topics._bow",
            "Catalogue": "sottovoce.topics._catalogue",
            "LdaModel": "sottovoce.topics.lda._model",
            "LdaParameters": "sottovoce.topics.lda._train",
            "SkipGramModel": "sottovoce.topics.w2v._model",
            "SkipGramParameters": "sottovoce.topics.w2v._train",
            "Space": "sottovoce.topics._space",
            "Topic": "sottovoce.topics._catalogue",
            "VoiceModel": "sottovoce.topics.voice._model",
            "VoiceParameters": "sottovoce.topics.voice._parameters",
            "WordChoice": "sottovoce.topics._background",
            "load_model": "sottovoce.topics._load",
            "match_model": "sottovoce.topics._match",
            "salient_words": "sottovoce.topics._salient",
            "shipped_catalogue": "sottovoce.topics.shipped",
            "train_lda": "sottovoce.topics.lda._train",
            "train_skip_gram": "sottovoce.topics.w2v._train",
            "train_voice": "sottovoce.topics.voice._train",
        },
        extra="topics",
    )
