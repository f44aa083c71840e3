"""A published release's words and compression map, as the columns of a common classifier."""

from pathlib import Path

import numpy as np

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import SottovoceError
from sottovoce.federation.config.party import ConfigError
from sottovoce.learn.texts.recipe import FeatureMap
from sottovoce.release.compression import load_maps
from sottovoce.release.folder import MAP_STEM, VOCABULARY_FILE, verified_card


def released_map(folder: Path) -> tuple[tuple[str, ...], FeatureMap]:
    """The words of the release in ``folder``, and from each of them to its one column.

    Every file of the release is held against its card first.
    """
    try:
        verified_card(folder)
        words = Vocabulary.load(folder / VOCABULARY_FILE).terms
        maps, _ = load_maps(folder / MAP_STEM)
    except SottovoceError as error:
        raise ConfigError(f"the release {folder} cannot be used: {error}") from None
    if len(maps) != 1:
        raise ConfigError(
            f"the release {folder} must have one map for all documents, got {len(maps)}: a column "
            "must mean the same everywhere."
        )
    column = maps[0].column.astype(np.int64)
    entries = np.column_stack([np.arange(len(column)), column])
    return words, FeatureMap(entries, np.ones(len(column)), maps[0].columns)
