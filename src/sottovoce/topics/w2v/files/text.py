"""GloVe text (`word number number ...` per line) and word2vec text (the same under a header)."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from sottovoce.topics.w2v.files.limits import (
    LONGEST_LINE,
    MOST_WORDS,
    EmbeddingError,
    checked_header,
)

HEADER_FIELDS = 2


def text_vectors(
    path: Path, wanted: frozenset[bytes] | None
) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
    """Yield the wanted words and their vectors, in the file's order."""
    with path.open("rb") as file:
        dimensions = None
        for number, line in _lines(file, path):
            if number == 1 and _is_header(line):
                dimensions = _header_dimensions(line)
                continue
            if dimensions is None:
                dimensions = line.count(b" ")
                checked_header(1, dimensions)
            word, numbers = _split(line, dimensions, path, number)
            if wanted is None or word in wanted:
                yield word, _numbers(numbers, path, number)


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    for number in range(1, MOST_WORDS + 2):
        line = file.readline(LONGEST_LINE)
        if not line:
            return
        if len(line) == LONGEST_LINE:
            raise EmbeddingError(
                f"{path}, line {number}: a line must be under {LONGEST_LINE} bytes."
            )
        stripped = line.rstrip(b"\r\n ")
        if stripped:
            yield number, stripped
    raise EmbeddingError(f"{path} must hold at most {MOST_WORDS} words; it holds more.")


def _is_header(line: bytes) -> bool:
    fields = line.split(b" ")
    return len(fields) == HEADER_FIELDS and all(field.isdigit() for field in fields)


def _header_dimensions(line: bytes) -> int:
    words, dimensions = (int(field[:20]) for field in line.split(b" "))
    checked_header(words, dimensions)
    return dimensions


def _split(line: bytes, dimensions: int, path: Path, number: int) -> tuple[bytes, list[bytes]]:
    # From the right: some published files have words with spaces inside.
    fields = line.rsplit(b" ", dimensions)
    if len(fields) != dimensions + 1 or not fields[0]:
        raise EmbeddingError(
            f"{path}, line {number}: a word and {dimensions} numbers were expected, "
            f"got {len(fields) - 1} numbers."
        )
    return fields[0], fields[1:]


def _numbers(fields: list[bytes], path: Path, number: int) -> NDArray[np.float32]:
    try:
        wide = np.array([float(field) for field in fields])
    except ValueError as error:
        raise EmbeddingError(f"{path}, line {number}: a number cannot be read.") from error
    if not (np.abs(wide) <= np.finfo(np.float32).max).all():
        raise EmbeddingError(f"{path}, line {number}: numbers must be finite 32-bit ones.")
    return wide.astype(np.float32)
