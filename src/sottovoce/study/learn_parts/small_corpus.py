"""Short texts about two things, made up, so that a federation has something to train on."""

import numpy as np

from sottovoce.learn.texts.documents import Documents

_COMMON = 40
_TOPICAL = 12
_LENGTH = 14


def made_up_documents(count: int, seed: int) -> Documents:
    """Texts of made-up words; a few of them are likelier under one label than under the other."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, count)
    return Documents.of(
        [_text(chance, int(label)) for label in labels],
        [("garden", "kitchen")[label] for label in labels],
    )


def _text(chance: np.random.Generator, label: int) -> str:
    common = [f"common{word}" for word in chance.integers(0, _COMMON, _LENGTH)]
    about = label if chance.random() < 0.9 else 1 - label  # noqa: PLR2004 - some are misled
    topical = [f"topic{about}word{word}" for word in chance.integers(0, _TOPICAL, 3)]
    return " ".join(chance.permutation([*common, *topical]))
