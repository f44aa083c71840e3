"""The first-person space: which words surround a topic when people speak of themselves."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "FIRST_PERSON",
    "SpeakerVoice",
    "VoiceModel",
    "VoiceParameters",
    "train_voice",
]

if TYPE_CHECKING:
    from sottovoce.topics.voice._model import SpeakerVoice, VoiceModel
    from sottovoce.topics.voice._parameters import FIRST_PERSON, VoiceParameters
    from sottovoce.topics.voice._train import train_voice
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "FIRST_PERSON": "sottovoce.topics.voice._parameters",
            "SpeakerVoice": "sottovoce.topics.voice._model",
            "VoiceModel": "sottovoce.topics.voice._model",
            "VoiceParameters": "sottovoce.topics.voice._parameters",
            "train_voice": "sottovoce.topics.voice._train",
        },
        extra="topics",
    )
