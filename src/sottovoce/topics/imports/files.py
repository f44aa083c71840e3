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
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.read.bytes import Growth
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules, fold_case, is_word
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.files import begins_with
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import MOST_NUMBERS, Origin
from sottovoce.topics.w2v.model import SkipGramModel

# What a file of vectors may hold.
LONGEST_WORD = 1_000
LONGEST_TEXT_LINE = 200_000
MOST_DIMENSIONS = 4_096
MOST_WORDS = 20_000_000
MOST_NUMBERS_KEPT = 2**29  # 2 GiB of 32-bit numbers
LONGEST_HEADER = 64
HEADER_FIELDS = 2
BYTES_PER_NUMBER = 4


def check_header(words: int, dimensions: int) -> None:
    """Refuse a header that promises more than we read."""
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise ModelFileError(
            f"an embedding must have 1 to {MOST_DIMENSIONS} dimensions, got {dimensions}."
        )
    if not 1 <= words <= MOST_WORDS:
        raise ModelFileError(f"an embedding must hold 1 to {MOST_WORDS} words, got {words}.")


def check_size(kept: int, dimensions: int) -> None:
    """Refuse to keep more vectors than memory should hold."""
    if kept * dimensions > MOST_NUMBERS_KEPT:
        raise ModelFileError(
            f"an embedding must keep at most {MOST_NUMBERS_KEPT} numbers, got more; "
            "pass the vocabulary, so that only its words are kept."
        )


def binary_vectors(
    path: Path, wanted: frozenset[bytes] | None
) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
    """Yield the wanted words and their vectors, in the file's order."""
    with path.open("rb") as file:
        words, dimensions = _read_binary_header(file, path)
        for number in range(1, words + 1):
            word = _read_binary_word(file, path, number)
            raw = file.read(BYTES_PER_NUMBER * dimensions)
            if len(raw) < BYTES_PER_NUMBER * dimensions:
                raise ModelFileError(f"{path} ends inside word {number} of {words}; it is cut off.")
            if wanted is None or word in wanted:
                yield word, _finite_vector(raw, path, number)


def _read_binary_header(file: BinaryIO, path: Path) -> tuple[int, int]:
    fields = file.readline(LONGEST_HEADER).split()
    if len(fields) != HEADER_FIELDS or not all(field.isdigit() for field in fields):
        raise ModelFileError(f"{path} must start with a line of two numbers: words, dimensions.")
    words, dimensions = int(fields[0]), int(fields[1])
    check_header(words, dimensions)
    return words, dimensions


def _read_binary_word(file: BinaryIO, path: Path, number: int) -> bytes:
    word = bytearray()
    while (byte := file.read(1)) != b" ":
        if not byte:
            raise ModelFileError(f"{path} ends at word {number}; it is cut off.")
        if len(word) >= LONGEST_WORD:
            raise ModelFileError(
                f"{path}, word {number}: a word must be at most {LONGEST_WORD} bytes."
            )
        word += byte
    # The original tool writes a line feed after each vector, other tools do not.
    return bytes(word).lstrip(b"\n")


def _finite_vector(raw: bytes, path: Path, number: int) -> NDArray[np.float32]:
    row = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    if not np.isfinite(row).all():
        raise ModelFileError(f"{path}, word {number}: numbers must be finite.")
    return row


def text_vectors(
    path: Path, wanted: frozenset[bytes] | None
) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
    """Yield the wanted words and their vectors, in the file's order."""
    with path.open("rb") as file:
        dimensions = None
        for number, line in _read_text_lines(file, path):
            if number == 1 and _is_header(line):
                dimensions = _header_dimensions(line)
                continue
            if dimensions is None:
                dimensions = line.count(b" ")
                check_header(1, dimensions)
            word, numbers = _split_text_line(line, dimensions, path, number)
            if wanted is None or word in wanted:
                yield word, _parse_numbers(numbers, path, number)


def _read_text_lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    for number in range(1, MOST_WORDS + 2):
        line = file.readline(LONGEST_TEXT_LINE)
        if not line:
            return
        if len(line) == LONGEST_TEXT_LINE:
            raise ModelFileError(
                f"{path}, line {number}: a line must be under {LONGEST_TEXT_LINE} bytes."
            )
        stripped = line.rstrip(b"\r\n ")
        if stripped:
            yield number, stripped
    raise ModelFileError(f"{path} must hold at most {MOST_WORDS} words; it holds more.")


def _is_header(line: bytes) -> bool:
    fields = line.split(b" ")
    return len(fields) == HEADER_FIELDS and all(field.isdigit() for field in fields)


def _header_dimensions(line: bytes) -> int:
    words, dimensions = (int(field[:20]) for field in line.split(b" "))
    check_header(words, dimensions)
    return dimensions


def _split_text_line(
    line: bytes, dimensions: int, path: Path, number: int
) -> tuple[bytes, list[bytes]]:
    # From the right: some published files have words with spaces inside.
    fields = line.rsplit(b" ", dimensions)
    if len(fields) != dimensions + 1 or not fields[0]:
        raise ModelFileError(
            f"{path}, line {number}: a word and {dimensions} numbers were expected, "
            f"got {len(fields) - 1} numbers."
        )
    return fields[0], fields[1:]


def _parse_numbers(fields: list[bytes], path: Path, number: int) -> NDArray[np.float32]:
    try:
        wide = np.array([float(field) for field in fields])
    except ValueError as error:
        raise ModelFileError(f"{path}, line {number}: a number cannot be read.") from error
    if not (np.abs(wide) <= np.finfo(np.float32).max).all():
        raise ModelFileError(f"{path}, line {number}: numbers must be finite 32-bit ones.")
    return wide.astype(np.float32)


_PAIR = 2  # words of a bigram


def our_terms(words: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The terms that ``words`` become, and for each word the number of its term or -1.

    Words are put into lower case; ``first_second``, as phrase tools write it, becomes the bigram
    "first second"; what our tokeniser can never find is left out.
    """
    numbers: dict[str, int] = {}
    of_word = np.full(len(words), -1, np.int64)
    for place, word in enumerate(words):
        term = _find_term(word)
        if term is not None:
            of_word[place] = numbers.setdefault(term, len(numbers))
    if not numbers:
        raise ModelFileError("the model has no word that could be found in a text; check its file.")
    return tuple(numbers), of_word


def vocabulary_of(terms: Sequence[str], tool: str) -> Vocabulary:
    """The terms of an imported model, which whoever imports it vouches for."""
    return Vocabulary(tuple(terms), data_dependent=False, origin=f"imported from {tool}")


def rules_for(terms: Sequence[str], rules: TokenRules | None) -> TokenRules:
    """Rules under which every term can be found; bigrams are counted when there are any."""
    shortest = min(len(word) for term in terms for word in term.split(" "))
    pairs = any(" " in term for term in terms)
    rules = rules or TokenRules(shortest=shortest)
    return replace(rules, bigrams=rules.bigrams or pairs)


def _find_term(word: str) -> str | None:
    folded = fold_case(word)
    for separator in (" ", "_"):
        parts = folded.split(separator)
        if len(parts) == _PAIR and all(is_word(part) for part in parts):
            return " ".join(parts)
    return folded if is_word(folded) else None


MALLET = "mallet"
WORD2VEC = "word2vec"
_LONGEST_STATE_LINE = 1 << 20
_MOST_CELLS = 2**27
_TOKEN_FIELDS = 5  # from the right: the first two, doc and source, stay together
_GZIP = b"\x1f\x8b"

Cells = Counter[tuple[bytes, bytes]]


def import_mallet(path: Path, rules: TokenRules | None = None) -> LdaModel:
    """The model of a state file, gzipped or not: phi = (n_kw + beta) / (n_k + V beta)."""
    try:
        with _open_text(path) as file:
            lines = _read_state_lines(file, Growth(path))
            alpha, beta = _read_priors(lines)
            cells = _count_tokens(lines)
    except (OSError, EOFError, zlib.error) as error:
        raise ModelFileError(f"cannot read {path}: it is absent, damaged or cut short.") from error
    words = list(dict.fromkeys(word for word, _ in cells))
    if len(words) * alpha.size > MOST_NUMBERS:
        raise ModelFileError(f"a model must have at most {MOST_NUMBERS} numbers; this has more.")
    weights = _tabulate_cells(cells, words, alpha.size) + beta
    names = [word.decode(errors="replace") for word in words]
    # Each dimension is divided by its own sum, which is n_k + V beta.
    return topic_model(weights, alpha, names, tool=MALLET, rules=rules)


def _open_text(path: Path) -> BinaryIO:
    packed = begins_with(path, _GZIP)
    return cast("BinaryIO", gzip.open(path, "rb")) if packed else path.open("rb")


def _read_state_lines(file: BinaryIO, growth: Growth) -> Iterator[bytes]:
    while line := file.readline(_LONGEST_STATE_LINE):
        growth.add(len(line))
        if len(line) == _LONGEST_STATE_LINE:
            raise ModelFileError(
                f"a line of a MALLET state must be under {_LONGEST_STATE_LINE} bytes."
            )
        yield line.rstrip(b"\r\n")


def _read_priors(lines: Iterator[bytes]) -> tuple[NDArray[np.float64], float]:
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


def _count_tokens(lines: Iterator[bytes]) -> Cells:
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


def _tabulate_cells(cells: Cells, words: list[bytes], dimensions: int) -> NDArray[np.float64]:
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
            check_size(len(rows), row.size)
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
