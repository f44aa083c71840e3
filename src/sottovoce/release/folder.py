"""A release as one bundle, for the ledger to keep, and as a folder, for people to use.

The bundle is a zip archive, uncompressed and without dates: the same release is the same bytes.
"""

import hashlib
import zipfile
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy import sparse

from sottovoce.corpus.matrix_file import write_matrix
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.files import output_folder, whole_file
from sottovoce.release.card import LARGEST_CARD, Card, read_card
from sottovoce.release.compression import save_maps
from sottovoce.release.ledger.outputs import digest
from sottovoce.release.plan import Released

CARD_FILE = "card.json"
COUNTS_FILE = "counts.npz"
VOCABULARY_FILE = "vocabulary.txt"
FREQUENCIES_FILE = "frequencies.npy"
MAP_STEM = "map"


def write_bundle(path: Path, released: Released, vocabulary: Vocabulary, card: Card) -> None:
    """Write everything a release consists of into one archive at ``path``."""
    folder = path.with_name(f"{path.name}.d")
    folder.mkdir(mode=0o700)
    try:
        _write_parts(folder, released, vocabulary, card)
        with zipfile.ZipFile(path, "w") as archive:
            for part in sorted(folder.iterdir()):
                archive.writestr(zipfile.ZipInfo(part.name), part.read_bytes())
    finally:
        for part in folder.iterdir():
            part.unlink()
        folder.rmdir()


def unpack_bundle(bundle: Path, folder: Path) -> None:
    """Put the files of ``bundle`` into ``folder``: all of them, the card last, or none."""
    output_folder(folder)
    with zipfile.ZipFile(bundle) as archive, ExitStack() as staged:
        names = sorted(archive.namelist(), key=lambda name: name != CARD_FILE)
        for name in names:
            temporary = staged.enter_context(whole_file(folder / name))
            temporary.write_bytes(archive.read(name))


def verified_card(folder: Path) -> Card:
    """The card of a released folder whose files are what the card says."""
    path = folder / CARD_FILE
    try:
        if path.stat().st_size > LARGEST_CARD:
            raise InputError(f"{path} is too large for a card.")
        card = read_card(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{folder} holds no readable {CARD_FILE}; is it a release?") from None
    for name, expected in card.files.items():
        file = folder / name
        if Path(name).name != name or not file.is_file() or digest(file) != expected:
            raise InputError(f"{file} is missing or not what the card says; restore it.")
    _check_shape(folder, card)
    return card


def _check_shape(folder: Path, card: Card) -> None:
    try:
        shape = sparse.load_npz(folder / COUNTS_FILE).shape
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise InputError(f"{folder / COUNTS_FILE} is not a matrix of counts.") from None
    if shape != (card.documents, card.columns):
        raise InputError(f"the counts have shape {shape}, the card says otherwise.")


def _write_parts(folder: Path, released: Released, vocabulary: Vocabulary, card: Card) -> None:
    write_matrix(folder / COUNTS_FILE, [released.counts], released.counts.shape[1], dtype="<i8")
    (folder / VOCABULARY_FILE).write_text(vocabulary.as_text(), encoding="utf-8")
    method = str(card.compression["method"])
    save_maps(released.maps, folder / MAP_STEM, method=method)
    (folder / FREQUENCIES_FILE).write_bytes(_as_npy(released.frequencies))
    hashes = {
        part.name: hashlib.sha256(part.read_bytes()).hexdigest()
        for part in sorted(folder.iterdir())
    }
    (folder / CARD_FILE).write_text(replace(card, files=hashes).as_json(), encoding="utf-8")


def _as_npy(frequencies: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bytes:
    buffer = BytesIO()
    np.lib.format.write_array(buffer, frequencies, allow_pickle=False)
    return buffer.getvalue()
