"""Which reader a file of word vectors needs, and what both return."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.files import cause_of
from sottovoce.release.compression.embedding.space import Embedding
from sottovoce.topics.load import load_model
from sottovoce.topics.w2v.files.binary import binary_vectors
from sottovoce.topics.w2v.files.limits import EmbeddingError, checked_size
from sottovoce.topics.w2v.files.text import text_vectors
from sottovoce.topics.w2v.model import SkipGramModel

FileKind = Literal["auto", "text", "binary"]


def read_embedding(
    path: Path | str, *, words: Sequence[str] | None = None, kind: FileKind = "auto"
) -> Embedding:
    """Read GloVe or word2vec vectors; with ``words`` only theirs are kept in memory.

    ``path`` may also be the folder of a skip-gram model of ours.

    ``kind`` "auto" takes a name that ends in .bin for word2vec's binary format and any other
    for text. Words are matched byte for byte: no case folding.
    """
    source = Path(path)
    if source.is_dir():
        return _of_model(source)
    wanted = None if words is None else frozenset(word.encode() for word in words)
    try:
        return _collected(_vectors(source, wanted, kind), source)
    except OSError as error:
        raise EmbeddingError(f"cannot read {source}: {cause_of(error)}.") from error


def _of_model(folder: Path) -> Embedding:
    model = load_model(folder)
    if not isinstance(model, SkipGramModel):
        raise EmbeddingError(
            f"{folder} must be a model of word vectors; train one with sottovoce topics train "
            "--space w2v."
        )
    if not model.origin.public:
        raise EmbeddingError(
            f"{folder} was trained on private texts, so words placed by it would tell about them; "
            "use public word vectors."
        )
    return Embedding(model.vocabulary.terms, model.vectors)


def _vectors(
    source: Path, wanted: frozenset[bytes] | None, kind: FileKind
) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
    if kind not in ("auto", "text", "binary"):
        raise ParameterError("an embedding's kind must be 'auto', 'text' or 'binary'.")
    if kind == "binary" or (kind == "auto" and source.suffix == ".bin"):
        return binary_vectors(source, wanted)
    return text_vectors(source, wanted)


def _collected(vectors: Iterator[tuple[bytes, NDArray[np.float32]]], source: Path) -> Embedding:
    rows: dict[str, NDArray[np.float32]] = {}
    for word, row in vectors:
        # A name that is not UTF-8 is no word of ours, but no reason to refuse the file.
        rows.setdefault(word.decode(errors="replace"), row)
        checked_size(len(rows), row.size)
    if not rows:
        raise EmbeddingError(f"{source} holds none of the words asked for; check its language.")
    return Embedding(tuple(rows), np.stack(list(rows.values())))
