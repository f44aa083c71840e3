"""One door to every stored model."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import ModelCard, open_folder
from sottovoce.topics.voice.model import VoiceModel
from sottovoce.topics.voice.train import LearntVoice
from sottovoce.topics.w2v.model import SkipGramModel

Model: TypeAlias = LdaModel | SkipGramModel | VoiceModel | LearntVoice

_KINDS: dict[str, Callable[[Path, ModelCard], Model]] = {
    "lda": LdaModel.from_folder,
    "w2v": SkipGramModel.from_folder,
    "voice": VoiceModel.from_folder,
    "learnt-voice": LearntVoice.from_folder,
}


def load_model(path: Path | str) -> Model:
    """The model in the folder ``path``; what is no sound model is refused.

    >>> import tempfile
    >>> import numpy as np
    >>> from sottovoce.corpus import TokenRules, Vocabulary
    >>> model = SkipGramModel(np.eye(2), Vocabulary.public(["debt", "loan"]), TokenRules())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "model"))
    ...     load_model(Path(folder, "model")).fingerprint == model.fingerprint
    True
    """
    folder = Path(path)
    card = open_folder(folder)
    if card.kind not in _KINDS:
        raise ModelFileError(
            f"{folder} holds a model of an unknown kind; known are {', '.join(_KINDS)}."
        )
    try:
        model = _KINDS[card.kind](folder, card)
    except ParameterError as error:
        raise ModelFileError(f"the model {folder} is damaged: {error}") from None
    if model.fingerprint != card.fingerprint:
        raise ModelFileError(f"the model {folder} does not match its card's fingerprint.")
    return model
