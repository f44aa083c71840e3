"""Background knowledge: vector spaces, the catalogue of topics, judgements.

Begin with `space`, what every vector space offers, and `catalogue`, which topics there are. The
spaces are the bag of words, `lda`, `w2v` and `voice`; `match` finds a topic's latent dimensions,
`imports` reads other tools' models, `judgements` asks people, `cooccurrence` finds topics in pairs
of words.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

if TYPE_CHECKING:
    from sottovoce.topics.catalogue import Catalogue as Catalogue
    from sottovoce.topics.catalogue import Topic as Topic
    from sottovoce.topics.lda.train import LdaParameters as LdaParameters
    from sottovoce.topics.lda.train import train_lda as train_lda
    from sottovoce.topics.load import load_model as load_model
    from sottovoce.topics.match import match_model as match_model
    from sottovoce.topics.shipped.rules import shipped_catalogue as shipped_catalogue
    from sottovoce.topics.space import BagOfWords as BagOfWords
    from sottovoce.topics.space import Space as Space
    from sottovoce.topics.training import WordChoice as WordChoice
    from sottovoce.topics.voice.mentions import VoiceParameters as VoiceParameters
    from sottovoce.topics.voice.train import train_voice as train_voice
    from sottovoce.topics.w2v.train import SkipGramParameters as SkipGramParameters
    from sottovoce.topics.w2v.train import train_skip_gram as train_skip_gram
else:
    __getattr__, __dir__ = attach(__name__, extra="topics")
