"""The first-person space: which words surround a topic when people speak of themselves."""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "FIRST_PERSON",
    "SpeakerVoice",
    "VoiceModel",
    "VoiceParameters",
    "train_voice",
]

if TYPE_CHECKING:
    from sottovoce.topics.voice.model import SpeakerVoice, VoiceModel
    from sottovoce.topics.voice.parameters import FIRST_PERSON, VoiceParameters
    from sottovoce.topics.voice.train import train_voice
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "FIRST_PERSON": "sottovoce.topics.voice.parameters",
            "SpeakerVoice": "sottovoce.topics.voice.model",
            "VoiceModel": "sottovoce.topics.voice.model",
            "VoiceParameters": "sottovoce.topics.voice.parameters",
            "train_voice": "sottovoce.topics.voice.train",
        },
        extra="topics",
    )
