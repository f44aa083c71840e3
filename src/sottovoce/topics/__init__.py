"""Background knowledge: vector spaces, the catalogue of topics, judgements."""

from sottovoce.topics.background import WordChoice
from sottovoce.topics.bow import BagOfWords
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.checkpoint import Checkpoint
from sottovoce.topics.lda import LdaModel, LdaParameters, train_lda
from sottovoce.topics.load import load_model
from sottovoce.topics.match import Matching
from sottovoce.topics.model_matching import catalogue_of, match_model
from sottovoce.topics.salient import salient_words
from sottovoce.topics.space import Mode, PostScorer, Space
from sottovoce.topics.voice import VoiceModel, VoiceParameters, train_voice
from sottovoce.topics.w2v import SkipGramModel, SkipGramParameters, train_skip_gram

__all__ = [
    "BagOfWords",
    "Catalogue",
    "Checkpoint",
    "LdaModel",
    "LdaParameters",
    "Matching",
    "Mode",
    "PostScorer",
    "SkipGramModel",
    "SkipGramParameters",
    "Space",
    "Topic",
    "VoiceModel",
    "VoiceParameters",
    "WordChoice",
    "catalogue_of",
    "load_model",
    "match_model",
    "salient_words",
    "train_lda",
    "train_skip_gram",
    "train_voice",
]
