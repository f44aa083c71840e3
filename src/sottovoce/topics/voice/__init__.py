"""The first-person space: which words surround a topic when people speak of themselves."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "FIRST_PERSON",
    "VoiceModel",
    "VoiceParameters",
    "train_voice",
]

if TYPE_CHECKING:
    from sottovoce.topics.voice._model import VoiceModel
    from sottovoce.topics.voice._train import FIRST_PERSON, VoiceParameters, train_voice
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "FIRST_PERSON": "sottovoce.topics.voice._train",
            "VoiceModel": "sottovoce.topics.voice._model",
            "VoiceParameters": "sottovoce.topics.voice._train",
            "train_voice": "sottovoce.topics.voice._train",
        },
        extra="topics",
    )
