r"""word2vec's binary format: `words dimensions\n`, then per word its name, a space and float32s."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from sottovoce.topics.w2v.files.limits import (
    LONGEST_WORD,
    EmbeddingError,
    checked_header,
)

LONGEST_HEADER = 64
HEADER_FIELDS = 2
BYTES_PER_NUMBER = 4


def binary_vectors(
    path: Path, wanted: frozenset[bytes] | None
) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
    """Yield the wanted words and their vectors, in the file's order."""
    with path.open("rb") as file:
        words, dimensions = _header(file, path)
        for number in range(1, words + 1):
            word = _word(file, path, number)
            raw = file.read(BYTES_PER_NUMBER * dimensions)
            if len(raw) < BYTES_PER_NUMBER * dimensions:
                raise EmbeddingError(f"{path} ends inside word {number} of {words}; it is cut off.")
            if wanted is None or word in wanted:
                yield word, _finite(raw, path, number)


def _header(file: BinaryIO, path: Path) -> tuple[int, int]:
    fields = file.readline(LONGEST_HEADER).split()
    if len(fields) != HEADER_FIELDS or not all(field.isdigit() for field in fields):
        raise EmbeddingError(f"{path} must start with a line of two numbers: words, dimensions.")
    words, dimensions = int(fields[0]), int(fields[1])
    checked_header(words, dimensions)
    return words, dimensions


def _word(file: BinaryIO, path: Path, number: int) -> bytes:
    word = bytearray()
    while (byte := file.read(1)) != b" ":
        if not byte:
            raise EmbeddingError(f"{path} ends at word {number}; it is cut off.")
        if len(word) >= LONGEST_WORD:
            raise EmbeddingError(
                f"{path}, word {number}: a word must be at most {LONGEST_WORD} bytes."
            )
        word += byte
    # The original tool writes a line feed after each vector, other tools do not.
    return bytes(word).lstrip(b"\n")


def _finite(raw: bytes, path: Path, number: int) -> NDArray[np.float32]:
    row = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    if not np.isfinite(row).all():
        raise EmbeddingError(f"{path}, word {number}: numbers must be finite.")
    return row
