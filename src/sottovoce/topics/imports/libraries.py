"""Other tools' models by format; those of gensim and tomotopy, from files or in memory.

gensim's files are pickles, which can run code: they are read when trusted only. Of the pickled
parameters in tomotopy's files only plain values are read, in a process of its own: its loader ends
the process on a damaged file. That process runs ``python -m sottovoce.topics.imports.libraries
MODEL OUT``.
"""

import importlib.util
import json
import pickle
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import MissingExtraError, ModelFileError, ParameterError
from sottovoce.files import cause_of
from sottovoce.parsing import parse_json
from sottovoce.topics.imports.files import import_mallet, import_word2vec, topic_model, vector_model
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.lda.train import load_tomotopy
from sottovoce.topics.w2v.model import SkipGramModel

if TYPE_CHECKING:
    from collections.abc import Callable

    import tomotopy
    from gensim.models import KeyedVectors
    from gensim.models import LdaModel as GensimLda


FORMATS = ("mallet", "gensim", "tomotopy", "word2vec")
GENSIM = "gensim"
TOMOTOPY = "tomotopy"
_SECONDS = 600
_OWN_NAME = "sottovoce.topics.imports.libraries"
_NUMBERS, _WORDS = "numbers.npz", "words.json"


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


def import_gensim(
    path: Path, rules: TokenRules | None = None, *, trust_pickle: bool = False
) -> LdaModel | SkipGramModel:
    """The model that gensim's ``save`` wrote: LdaModel, Word2Vec or KeyedVectors.

    Loading it runs whatever code the file holds, so ``trust_pickle`` must say that it may.
    """
    if not trust_pickle:
        raise ModelFileError(
            f"{path} is a pickle, which can run any code when it is read. If you trust its "
            "maker, add --trust-pickle (in Python trust_pickle=True); else have it saved as "
            "word2vec text, or as MALLET state."
        )
    return from_gensim(_load_pickle(path), rules)


def from_gensim(
    model: Any,  # noqa: ANN401 - whichever of gensim's it is
    rules: TokenRules | None = None,
) -> LdaModel | SkipGramModel:
    """A gensim model in memory as ours."""
    if hasattr(model, "get_topics") and hasattr(model, "alpha"):
        return from_gensim_lda(model, rules)
    vectors = getattr(model, "wv", model)
    if hasattr(vectors, "index_to_key"):
        return from_keyed_vectors(vectors, rules)
    raise ModelFileError(
        f"a gensim model must be LdaModel, Word2Vec or KeyedVectors, got {type(model).__name__}."
    )


def from_gensim_lda(model: "GensimLda", rules: TokenRules | None = None) -> LdaModel:
    """Phi is the topics' mean under the posterior, alpha as it was fitted."""
    phi = np.asarray(model.get_topics(), np.float64)
    words = [str(model.id2word[number]) for number in range(phi.shape[1])]
    alpha = np.asarray(model.alpha, np.float64)
    return topic_model(phi.T, alpha, words, tool=GENSIM, rules=rules)


def from_keyed_vectors(vectors: "KeyedVectors", rules: TokenRules | None = None) -> SkipGramModel:
    """Word vectors as gensim holds them."""
    return vector_model(list(vectors.index_to_key), vectors.vectors, tool=GENSIM, rules=rules)


def _load_pickle(path: Path) -> Any:  # noqa: ANN401 - whichever of gensim's it is
    try:
        from gensim.utils import SaveLoad  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("gensim", "topics") from error
    try:
        model = SaveLoad.load(str(path))
        # An LDA model keeps its counts in a file of their own.
        return type(model).load(str(path)) if hasattr(model, "get_topics") else model
    except (OSError, EOFError, ValueError, AttributeError, pickle.UnpicklingError) as error:
        why = cause_of(error)
        raise ModelFileError(f"cannot read {path} as a gensim model: {why}.") from None


def import_tomotopy(path: Path, rules: TokenRules | None = None) -> LdaModel:
    """The model that ``tomotopy.LDAModel.save`` wrote to ``path``.

    Its parameters are pickled; only plain values are read, so the file cannot run code through
    them. The rest is parsed by tomotopy itself, in another process, since it may not survive it.
    """
    if importlib.util.find_spec("tomotopy") is None:
        raise MissingExtraError("tomotopy", "topics")
    with TemporaryDirectory() as folder:
        _read_elsewhere(path, folder)
        words = parse_json(Path(folder, _WORDS).read_text(encoding="utf-8"))
        with np.load(Path(folder, _NUMBERS), allow_pickle=False) as numbers:
            return topic_model(
                numbers["phi"].T, numbers["alpha"], words, tool=TOMOTOPY, rules=rules
            )


def from_tomotopy(model: "tomotopy.LDAModel", rules: TokenRules | None = None) -> LdaModel:
    """A tomotopy LDA model in memory as ours."""
    phi = np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], np.float64)
    alpha = np.asarray(model.alpha, np.float64)
    return topic_model(phi.T, alpha, list(model.used_vocabs), tool=TOMOTOPY, rules=rules)


def _read_elsewhere(path: Path, folder: str) -> None:
    command = [sys.executable, "-m", _OWN_NAME, str(path), folder]
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


def write_parts(source: str, out: str) -> None:
    """Write what the tomotopy model in ``source`` is made of into the folder ``out``."""
    model = load_tomotopy(Path(source))
    phi = np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], np.float64)
    np.savez(Path(out, _NUMBERS), phi=phi, alpha=np.asarray(model.alpha, np.float64))
    Path(out, _WORDS).write_text(json.dumps(list(model.used_vocabs)), encoding="utf-8")


if __name__ == "__main__":
    write_parts(*sys.argv[1:])
