"""Background knowledge: vector spaces, the catalogue of topics, judgements.

Begin with `space`, what every vector space offers, and `catalogue`, which topics there are. The
spaces are the bag of words, `lda`, `w2v` and `voice`; `match` finds a topic's latent dimensions,
`imports` reads other tools' models, `judgements` asks people, `cooccurrence` finds topics in pairs
of words.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

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
    from sottovoce.topics.background import WordChoice
    from sottovoce.topics.catalogue import Catalogue, Topic
    from sottovoce.topics.lda.model import LdaModel
    from sottovoce.topics.lda.train import LdaParameters, train_lda
    from sottovoce.topics.load import load_model
    from sottovoce.topics.match import match_model
    from sottovoce.topics.salient import salient_words
    from sottovoce.topics.shipped.rules import shipped_catalogue
    from sottovoce.topics.space import BagOfWords, Space
    from sottovoce.topics.voice.mentions import VoiceParameters
    from sottovoce.topics.voice.model import VoiceModel
    from sottovoce.topics.voice.train import train_voice
    from sottovoce.topics.w2v.model import SkipGramModel
    from sottovoce.topics.w2v.train import SkipGramParameters, train_skip_gram
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "BagOfWords": "sottovoce.topics.space",
            "Catalogue": "sottovoce.topics.catalogue",
            "LdaModel": "sottovoce.topics.lda.model",
            "LdaParameters": "sottovoce.topics.lda.train",
            "SkipGramModel": "sottovoce.topics.w2v.model",
            "SkipGramParameters": "sottovoce.topics.w2v.train",
            "Space": "sottovoce.topics.space",
            "Topic": "sottovoce.topics.catalogue",
            "VoiceModel": "sottovoce.topics.voice.model",
            "VoiceParameters": "sottovoce.topics.voice.mentions",
            "WordChoice": "sottovoce.topics.background",
            "load_model": "sottovoce.topics.load",
            "match_model": "sottovoce.topics.match",
            "salient_words": "sottovoce.topics.salient",
            "shipped_catalogue": "sottovoce.topics.shipped",
            "train_lda": "sottovoce.topics.lda.train",
            "train_skip_gram": "sottovoce.topics.w2v.train",
            "train_voice": "sottovoce.topics.voice.train",
        },
        extra="topics",
    )
