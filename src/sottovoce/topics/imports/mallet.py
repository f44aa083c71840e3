"""MALLET's Gibbs state (``--output-state``): one line a token, under two lines of priors.

#doc source pos typeindex type topic
#alpha : 0.1 0.2
#beta : 0.01
0 NA 0 0 debt 1
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.card import ModelFileError
from sottovoce.topics.folder import MOST_NUMBERS
from sottovoce.topics.imports.topic_models import topic_model
from sottovoce.topics.lda.model import LdaModel

TOOL = "mallet"
_LONGEST_LINE = 1 << 20
_MOST_CELLS = 2**27
_TOKEN_FIELDS = 5
_GZIP = b"\x1f\x8b"

Cells = Counter[tuple[bytes, bytes]]


def import_mallet(path: Path, rules: TokenRules | None = None) -> LdaModel:
    """The model of a state file, gzipped or not: phi = (n_kw + beta) / (n_k + V beta)."""
    try:
        with _opened(path) as file:
            alpha, beta = _priors(file)
            cells = _counted(file)
    except (OSError, EOFError, zlib.error) as error:
        raise ModelFileError(f"cannot read {path}: it is absent, damaged or cut short.") from error
    words = list(dict.fromkeys(word for word, _ in cells))
    if len(words) * alpha.size > MOST_NUMBERS:
        raise ModelFileError(f"a model must have at most {MOST_NUMBERS} numbers; this has more.")
    weights = _weights(cells, words, alpha.size) + beta
    names = [word.decode(errors="replace") for word in words]
    # Each dimension is divided by its own sum, which is n_k + V beta.
    return topic_model(weights, alpha, names, tool=TOOL, rules=rules)


def _opened(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
    return cast("BinaryIO", gzip.open(path, "rb")) if packed else path.open("rb")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise ModelFileError(f"a line of a MALLET state must be under {_LONGEST_LINE} bytes.")
        yield line.rstrip(b"\r\n")


def _priors(file: BinaryIO) -> tuple[NDArray[np.float64], float]:
    lines = _lines(file)
    head, alphas, betas = (next(lines, b"").split() for _ in range(3))
    marks = [fields[0] if fields else b"" for fields in (head, alphas, betas)]
    try:
        alpha, (beta,) = np.array([float(each) for each in alphas[2:]]), map(float, betas[2:])
    except ValueError:
        marks = []
    if marks != [b"#doc", b"#alpha", b"#beta"]:
        raise ModelFileError(
            "a MALLET state must begin with the lines #doc, #alpha and #beta; write it with "
            "--output-state."
        )
    return alpha, beta


def _counted(file: BinaryIO) -> Cells:
    """How often each word is in each dimension; a document's name may hold blanks."""
    cells: Cells = Counter()
    for line in _lines(file):
        fields = line.rsplit(b" ", _TOKEN_FIELDS - 1)
        if len(fields) != _TOKEN_FIELDS:
            raise ModelFileError(f"a token of a MALLET state must have {_TOKEN_FIELDS + 1} fields.")
        cells[fields[3], fields[4]] += 1
        if len(cells) > _MOST_CELLS:
            raise ModelFileError("the MALLET state is too large to hold in memory.")
    if not cells:
        raise ModelFileError("the MALLET state holds no token.")
    return cells


def _weights(cells: Cells, words: list[bytes], dimensions: int) -> NDArray[np.float64]:
    row = {word: number for number, word in enumerate(words)}
    weights = np.zeros((len(words), dimensions))
    for (word, topic), count in cells.items():
        if not topic.isdigit() or not int(topic[:20]) < dimensions:
            raise ModelFileError(f"a token's topic must be from 0 to {dimensions - 1}.")
        weights[row[word], int(topic)] += count
    return weights
