r"""Files of word vectors, and how much one may ask of us.

word2vec's binary format is `words dimensions\n`, then per word its name, a space and float32s.
GloVe text has `word number number ...` on each line, and word2vec text the same under a header.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ModelFileError

LONGEST_WORD = 1_000
LONGEST_LINE = 200_000
MOST_DIMENSIONS = 4_096
MOST_WORDS = 20_000_000
MOST_NUMBERS_KEPT = 2**29  # 2 GiB of 32-bit numbers
LONGEST_HEADER = 64
HEADER_FIELDS = 2
BYTES_PER_NUMBER = 4


def checked_header(words: int, dimensions: int) -> None:
    """Refuse a header that promises more than we read."""
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise ModelFileError(
            f"an embedding must have 1 to {MOST_DIMENSIONS} dimensions, got {dimensions}."
        )
    if not 1 <= words <= MOST_WORDS:
        raise ModelFileError(f"an embedding must hold 1 to {MOST_WORDS} words, got {words}.")


def checked_size(kept: int, dimensions: int) -> None:
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
        words, dimensions = _header(file, path)
        for number in range(1, words + 1):
            word = _word(file, path, number)
            raw = file.read(BYTES_PER_NUMBER * dimensions)
            if len(raw) < BYTES_PER_NUMBER * dimensions:
                raise ModelFileError(f"{path} ends inside word {number} of {words}; it is cut off.")
            if wanted is None or word in wanted:
                yield word, _finite(raw, path, number)


def _header(file: BinaryIO, path: Path) -> tuple[int, int]:
    fields = file.readline(LONGEST_HEADER).split()
    if len(fields) != HEADER_FIELDS or not all(field.isdigit() for field in fields):
        raise ModelFileError(f"{path} must start with a line of two numbers: words, dimensions.")
    words, dimensions = int(fields[0]), int(fields[1])
    checked_header(words, dimensions)
    return words, dimensions


def _word(file: BinaryIO, path: Path, number: int) -> bytes:
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


def _finite(raw: bytes, path: Path, number: int) -> NDArray[np.float32]:
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
            raise ModelFileError(
                f"{path}, line {number}: a line must be under {LONGEST_LINE} bytes."
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
    checked_header(words, dimensions)
    return dimensions


def _split(line: bytes, dimensions: int, path: Path, number: int) -> tuple[bytes, list[bytes]]:
    # From the right: some published files have words with spaces inside.
    fields = line.rsplit(b" ", dimensions)
    if len(fields) != dimensions + 1 or not fields[0]:
        raise ModelFileError(
            f"{path}, line {number}: a word and {dimensions} numbers were expected, "
            f"got {len(fields) - 1} numbers."
        )
    return fields[0], fields[1:]


def _numbers(fields: list[bytes], path: Path, number: int) -> NDArray[np.float32]:
    try:
        wide = np.array([float(field) for field in fields])
    except ValueError as error:
        raise ModelFileError(f"{path}, line {number}: a number cannot be read.") from error
    if not (np.abs(wide) <= np.finfo(np.float32).max).all():
        raise ModelFileError(f"{path}, line {number}: numbers must be finite 32-bit ones.")
    return wide.astype(np.float32)
