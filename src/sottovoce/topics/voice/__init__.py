"""The first-person space: which words surround a topic when people speak of themselves."""

from sottovoce.topics.voice._model import VoiceModel
from sottovoce.topics.voice._train import FIRST_PERSON, VoiceParameters, train_voice

__all__ = ["FIRST_PERSON", "VoiceModel", "VoiceParameters", "train_voice"]
