"""Models from other tools' plain files, as ours: MALLET's topics, and word vectors.

MALLET's Gibbs state (``--output-state``) has one line a token, under two lines of priors::

    #doc source pos typeindex type topic
    #alpha : 0.1 0.2
    #beta : 0.01
    0 NA 0 0 debt 1

Word vectors come as GloVe's or word2vec's text, or as word2vec's binary file.
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.read.bytes import Growth
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.files import begins_with
from sottovoce.topics.imports._terms import our_terms, rules_for, vocabulary_of
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import MOST_NUMBERS, Origin
from sottovoce.topics.w2v.files import binary_vectors, checked_size, text_vectors
from sottovoce.topics.w2v.model import SkipGramModel

MALLET = "mallet"
WORD2VEC = "word2vec"
_LONGEST_LINE = 1 << 20
_MOST_CELLS = 2**27
_TOKEN_FIELDS = 5
_GZIP = b"\x1f\x8b"

Cells = Counter[tuple[bytes, bytes]]


def import_mallet(path: Path, rules: TokenRules | None = None) -> LdaModel:
    """The model of a state file, gzipped or not: phi = (n_kw + beta) / (n_k + V beta)."""
    try:
        with _opened(path) as file:
            lines = _lines(file, Growth(path))
            alpha, beta = _priors(lines)
            cells = _counted(lines)
    except (OSError, EOFError, zlib.error) as error:
        raise ModelFileError(f"cannot read {path}: it is absent, damaged or cut short.") from error
    words = list(dict.fromkeys(word for word, _ in cells))
    if len(words) * alpha.size > MOST_NUMBERS:
        raise ModelFileError(f"a model must have at most {MOST_NUMBERS} numbers; this has more.")
    weights = _weights(cells, words, alpha.size) + beta
    names = [word.decode(errors="replace") for word in words]
    # Each dimension is divided by its own sum, which is n_k + V beta.
    return topic_model(weights, alpha, names, tool=MALLET, rules=rules)


def _opened(path: Path) -> BinaryIO:
    packed = begins_with(path, _GZIP)
    return cast("BinaryIO", gzip.open(path, "rb")) if packed else path.open("rb")


def _lines(file: BinaryIO, growth: Growth) -> Iterator[bytes]:
    while line := file.readline(_LONGEST_LINE):
        growth.add(len(line))
        if len(line) == _LONGEST_LINE:
            raise ModelFileError(f"a line of a MALLET state must be under {_LONGEST_LINE} bytes.")
        yield line.rstrip(b"\r\n")


def _priors(lines: Iterator[bytes]) -> tuple[NDArray[np.float64], float]:
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


def _counted(lines: Iterator[bytes]) -> Cells:
    """How often each word is in each dimension; a document's name may hold blanks."""
    cells: Cells = Counter()
    for line in lines:
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


def import_word2vec(path: Path, rules: TokenRules | None = None) -> SkipGramModel:
    """Vectors from a file of GloVe or word2vec; a name that ends in .bin is word2vec's binary."""
    read = binary_vectors if path.suffix == ".bin" else text_vectors
    words, rows = [], []
    try:
        for word, row in read(path, None):
            words.append(word.decode(errors="replace"))
            rows.append(row)
            checked_size(len(rows), row.size)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror}.") from None
    if not rows:
        raise ModelFileError(f"{path} holds no word.")
    return vector_model(words, np.stack(rows), tool=WORD2VEC, rules=rules)


def topic_model(
    weights: NDArray[np.float64],
    alpha: NDArray[np.float64],
    words: Sequence[str],
    *,
    tool: str,
    rules: TokenRules | None = None,
    libraries: dict[str, str] | None = None,
) -> LdaModel:
    """A model from the weight of each word (row) in each dimension (column).

    Words that become the same term are added up; the terms' probabilities are made to sum to 1
    again after words that no text can hold have been left out.
    """
    terms, of_word = our_terms(words)
    phi = np.zeros((len(terms), weights.shape[1]))
    np.add.at(phi, of_word[of_word >= 0], weights[of_word >= 0])
    sums = phi.sum(axis=0)
    if not (np.isfinite(sums).all() and (sums > 0).all()):
        raise ModelFileError("each latent dimension of the model must have words; one has none.")
    origin = Origin(
        parameters={"tool": tool, "words_left_out": int((of_word < 0).sum())},
        libraries=libraries or {},
    )
    try:
        return LdaModel(
            (phi / sums).astype(np.float32),
            alpha,
            vocabulary_of(terms, tool),
            rules_for(terms, rules),
            origin,
        )
    except ParameterError as error:
        raise ModelFileError(f"the model of {tool} is unusable: {error}") from None


def vector_model(
    words: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    tool: str,
    rules: TokenRules | None = None,
) -> SkipGramModel:
    """A model from words and their vectors; of words that become the same term the first counts."""
    terms, of_word = our_terms(words)
    first = np.full(len(terms), -1, np.int64)
    places = np.flatnonzero(of_word >= 0)[::-1]
    first[of_word[places]] = places
    origin = Origin(parameters={"tool": tool, "words_left_out": int((of_word < 0).sum())})
    try:
        return SkipGramModel(
            vectors[first], vocabulary_of(terms, tool), rules_for(terms, rules), origin
        )
    except ParameterError as error:
        raise ModelFileError(f"the vectors of {tool} are unusable: {error}") from None
