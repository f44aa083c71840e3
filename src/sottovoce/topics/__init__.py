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
    "LdaParameters",
    "SkipGramParameters",
    "Space",
    "Topic",
    "VoiceParameters",
    "WordChoice",
    "load_model",
    "match_model",
    "shipped_catalogue",
    "train_lda",
    "train_skip_gram",
    "train_voice",
]

if TYPE_CHECKING:
    from sottovoce.topics.background import WordChoice
    from sottovoce.topics.catalogue import Catalogue, Topic
    from sottovoce.topics.lda.train import LdaParameters, train_lda
    from sottovoce.topics.load import load_model
    from sottovoce.topics.match import match_model
    from sottovoce.topics.shipped.rules import shipped_catalogue
    from sottovoce.topics.space import BagOfWords, Space
    from sottovoce.topics.voice.mentions import VoiceParameters
    from sottovoce.topics.voice.train import train_voice
    from sottovoce.topics.w2v.train import SkipGramParameters, train_skip_gram
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "BagOfWords": "sottovoce.topics.space",
            "Catalogue": "sottovoce.topics.catalogue",
            "LdaParameters": "sottovoce.topics.lda.train",
            "SkipGramParameters": "sottovoce.topics.w2v.train",
            "Space": "sottovoce.topics.space",
            "Topic": "sottovoce.topics.catalogue",
            "VoiceParameters": "sottovoce.topics.voice.mentions",
            "WordChoice": "sottovoce.topics.background",
            "load_model": "sottovoce.topics.load",
            "match_model": "sottovoce.topics.match",
            "shipped_catalogue": "sottovoce.topics.shipped.rules",
            "train_lda": "sottovoce.topics.lda.train",
            "train_skip_gram": "sottovoce.topics.w2v.train",
            "train_voice": "sottovoce.topics.voice.train",
        },
        extra="topics",
    )
