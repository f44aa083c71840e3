"""Models that other tools trained: MALLET, gensim, tomotopy and word2vec."""

from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.corpus.words._rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.imports._files import import_mallet, import_word2vec
from sottovoce.topics.imports._libraries import (
    from_gensim,
    from_tomotopy,
    import_gensim,
    import_tomotopy,
)
from sottovoce.topics.lda._model import LdaModel
from sottovoce.topics.w2v._model import SkipGramModel

if TYPE_CHECKING:
    from collections.abc import Callable


FORMATS = ("mallet", "gensim", "tomotopy", "word2vec")

__all__ = [
    "FORMATS",
    "from_gensim",
    "from_tomotopy",
    "import_gensim",
    "import_mallet",
    "import_model",
    "import_tomotopy",
    "import_word2vec",
]


def import_model(
    path: Path | str,
    file_format: str,
    rules: TokenRules | None = None,
    *,
    trust_pickle: bool = False,
) -> LdaModel | SkipGramModel:
    """A model from another tool's file, in one of FORMATS."""
    if file_format == "gensim":
        return import_gensim(Path(path), rules, trust_pickle=trust_pickle)
    readers: dict[str, Callable[[Path, TokenRules | None], LdaModel | SkipGramModel]] = {
        "mallet": import_mallet,
        "tomotopy": import_tomotopy,
        "word2vec": import_word2vec,
    }
    if file_format not in readers:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, got {file_format!r}.")
    return readers[file_format](Path(path), rules)
