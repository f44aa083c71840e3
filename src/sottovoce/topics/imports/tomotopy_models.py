"""tomotopy's LDA models, from its own files or already in memory."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import MissingExtraError
from sottovoce.topics.card import ModelFileError
from sottovoce.topics.imports import tomotopy_child
from sottovoce.topics.imports.topic_models import topic_model
from sottovoce.topics.lda.model import LdaModel

if TYPE_CHECKING:
    import tomotopy

TOOL = "tomotopy"
_SECONDS = 600


def import_tomotopy(path: Path, rules: TokenRules | None = None) -> LdaModel:
    """The model that ``tomotopy.LDAModel.save`` wrote to ``path``.

    Its parameters are pickled; only plain values are read, so the file cannot run code through
    them. The rest is parsed by tomotopy itself, in another process, since it may not survive it.
    """
    if importlib.util.find_spec("tomotopy") is None:
        raise MissingExtraError("tomotopy", "topics")
    with TemporaryDirectory() as folder:
        _read_elsewhere(path, folder)
        words = json.loads(Path(folder, tomotopy_child.WORDS).read_text(encoding="utf-8"))
        with np.load(Path(folder, tomotopy_child.NUMBERS), allow_pickle=False) as numbers:
            return topic_model(numbers["phi"].T, numbers["alpha"], words, tool=TOOL, rules=rules)


def from_tomotopy(model: "tomotopy.LDAModel", rules: TokenRules | None = None) -> LdaModel:
    """A tomotopy LDA model in memory as ours."""
    phi = np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], np.float64)
    alpha = np.asarray(model.alpha, np.float64)
    return topic_model(phi.T, alpha, list(model.used_vocabs), tool=TOOL, rules=rules)


def _read_elsewhere(path: Path, folder: str) -> None:
    command = [sys.executable, "-m", tomotopy_child.__name__, str(path), folder]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603 - see above
        failed = done.returncode != 0
    except subprocess.TimeoutExpired:
        failed = True
    if failed:
        raise ModelFileError(
            f"cannot read {path} as a tomotopy LDA model; it is absent, damaged, of another kind, "
            "or holds pickled code."
        )
