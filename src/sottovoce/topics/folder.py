"""A model on disk: a folder with `card.json`, `vocabulary.txt` and one `.npy` file for each array.

An array is uncompressed, so reading one takes no more memory than its file has bytes; its type and
shape are compared with the card's before anything is allocated, and every file with its SHA-256.
Nothing is pickled.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import file_digest, output_folder, whole_file
from sottovoce.topics.card import Card, ModelFileError, read_card

CARD_FILE = "card.json"
VOCABULARY_FILE = "vocabulary.txt"
# A model of 500 topics over a million words fits; what asks for more is no model of ours.
MOST_NUMBERS = 2**30

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Expected:
    """What an array of a model must be."""

    dtype: str
    shape: tuple[int, ...]


def write_folder(folder: Path, card: Card, vocabulary: Vocabulary, arrays: Arrays) -> None:
    """Write all files of a model; all are finished before the first gets its final name.

    The card comes last: a folder without one, or with one that does not fit, is no model.
    """
    output_folder(folder)
    with ExitStack() as staged:

        def part(name: str) -> Path:
            return staged.enter_context(whole_file(folder / name, private=not card.origin.public))

        # What is entered first is renamed last.
        card_part = part(CARD_FILE)
        written = {VOCABULARY_FILE: part(VOCABULARY_FILE)}
        written[VOCABULARY_FILE].write_text(vocabulary.as_text(), encoding="utf-8")
        for name, array in arrays.items():
            written[f"{name}.npy"] = part(f"{name}.npy")
            with written[f"{name}.npy"].open("wb") as out:
                np.lib.format.write_array(out, array, allow_pickle=False)
        hashes = {name: file_digest(path) for name, path in written.items()}
        card_part.write_text(replace(card, files=hashes).as_json(), encoding="utf-8")


def open_folder(folder: Path) -> Card:
    """The card of a model's folder, its size within bounds."""
    if not (folder / CARD_FILE).exists():
        raise ModelFileError(
            f"{folder} is no model: it must be a folder that `sottovoce topics train` or "
            "`sottovoce topics import` wrote."
        )
    card = read_card(folder / CARD_FILE)
    if card.words * card.dimensions > MOST_NUMBERS:
        raise ModelFileError(f"{folder} must hold at most {MOST_NUMBERS} numbers; it says more.")
    return card


def read_files(
    folder: Path, card: Card, expected: Mapping[str, Expected]
) -> tuple[Vocabulary, dict[str, NDArray[Any]]]:
    """The vocabulary and arrays of a model, as its card and ``expected`` say they must be."""
    arrays = {name: _array(folder / f"{name}.npy", want) for name, want in expected.items()}
    for name in [VOCABULARY_FILE, *(f"{name}.npy" for name in expected)]:
        _check_digest(folder / name, card.files.get(name))
    try:
        vocabulary = Vocabulary.load(folder / VOCABULARY_FILE)
    except InputError as error:
        raise ModelFileError(str(error)) from None
    if len(vocabulary) != card.words:
        raise ModelFileError(
            f"{folder / VOCABULARY_FILE} must hold {card.words} terms, got {len(vocabulary)}."
        )
    return vocabulary, arrays


def _check_digest(path: Path, digest: str | None) -> None:
    try:
        found = file_digest(path)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror}.") from None
    if digest != found:
        raise ModelFileError(f"{path} does not fit its card; one of them was changed.")


def _array(path: Path, want: Expected) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            found = _header(file)
            size = path.stat().st_size - file.tell()
            if found != want or size != np.dtype(want.dtype).itemsize * np.prod(want.shape):
                raise ParameterError
            raw = np.fromfile(file, dtype=want.dtype)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror}.") from None
    except (ValueError, SyntaxError):
        raise ModelFileError(
            f"{path} must hold {' x '.join(map(str, want.shape))} numbers of type {want.dtype}."
        ) from None
    if not np.isfinite(raw).all():
        raise ModelFileError(f"the numbers in {path} must be finite.")
    return raw.reshape(want.shape)


def _header(file: BinaryIO) -> Expected:
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ParameterError(f"an array's version must be 1.0 or 2.0, got {version}.")
    shape, fortran_order, dtype = read(file)
    if fortran_order:
        raise ParameterError("an array must be in C order.")
    return Expected(dtype.str, shape)
