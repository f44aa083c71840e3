"""A release as one bundle, for the ledger to keep, and as a folder, for people to use.

The bundle is a zip archive, uncompressed and without dates: the same release is the same bytes.
"""

import hashlib
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce._files import file_digest, output_folder, whole_file
from sottovoce.corpus._matrix_file import matrix_bytes
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.errors import InputError, ParameterError
from sottovoce.release._card import LARGEST_CARD, ReleaseCard, read_card
from sottovoce.release._counts_file import CountsFile
from sottovoce.release._groups import packed_ids
from sottovoce.release._labels import packed_labels, read_labels
from sottovoce.release._plan import Released
from sottovoce.release.compression._decompress import checked_prior
from sottovoce.release.compression._word_map import LARGEST_ARRAY_HEADER, load_maps, packed_maps

CARD_FILE = "card.json"
COUNTS_FILE = "counts.npz"
VOCABULARY_FILE = "vocabulary.txt"
FREQUENCIES_FILE = "frequencies.npy"
LABELS_FILE = "labels.txt"
IDS_FILE = "ids.txt"
_BLOCK_CELLS = 1 << 22
MAP_STEM = "map"
FILES = {COUNTS_FILE, VOCABULARY_FILE, FREQUENCIES_FILE, f"{MAP_STEM}.npz", f"{MAP_STEM}.json"}


def write_bundle(
    path: Path,
    released: Released,
    vocabulary: Vocabulary,
    card: ReleaseCard,
    labels: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> None:
    """Write everything a release consists of into one archive at ``path``.

    Nothing but ``path`` is written: a crash must not leave a second draw lying about.
    """
    parts = _parts(released, vocabulary, str(card.compression["method"]))
    if labels is not None:
        parts[LABELS_FILE] = packed_labels(labels)
    if ids is not None:
        parts[IDS_FILE] = packed_ids(ids)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    parts[CARD_FILE] = replace(card, files=hashes).as_json().encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(parts):
            archive.writestr(zipfile.ZipInfo(name), parts[name])


def unpack_bundle(bundle: Path, folder: Path) -> None:
    """Put the files of ``bundle`` into ``folder``: all of them, the card last, or none."""
    output_folder(folder)
    with zipfile.ZipFile(bundle) as archive, ExitStack() as staged:
        names = sorted(archive.namelist(), key=lambda name: name != CARD_FILE)
        for name in names:
            temporary = staged.enter_context(whole_file(folder / name))
            temporary.write_bytes(archive.read(name))


def released_card(folder: Path) -> ReleaseCard:
    """The card in ``folder``, whatever lies beside it."""
    path = folder / CARD_FILE
    try:
        if path.stat().st_size > LARGEST_CARD:
            raise InputError(f"{path} is too large for a card.")
        return read_card(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{folder} holds no readable {CARD_FILE}; is it a release?") from None


def verified_card(folder: Path) -> ReleaseCard:
    """The card of a released folder whose files are what the card says."""
    card = released_card(folder)
    files = FILES if card.labels is None else FILES | {LABELS_FILE}
    files = files | ({IDS_FILE} if card.groups is not None and card.groups["ids"] else set())
    if set(card.files) != files:
        raise InputError(f"the card must name just these files: {', '.join(sorted(files))}.")
    for name, expected in card.files.items():
        file = folder / name
        if Path(name).name != name or not file.is_file() or file_digest(file) != expected:
            raise InputError(f"{file} is missing or not what the card says; restore it.")
    _check_parts(folder, card)
    return card


def _check_parts(folder: Path, card: ReleaseCard) -> None:
    words = Vocabulary.load(folder / VOCABULARY_FILE)
    named = {"fingerprint": words.fingerprint, "data_dependent": words.data_dependent}
    if {**card.vocabulary, **named, "origin": words.origin} != card.vocabulary:
        raise InputError("the vocabulary is not the one that the card names.")
    maps, described = load_maps(folder / MAP_STEM)
    shapes = {(each.words, each.columns) for each in maps}
    same = described.method == card.compression["method"]
    if shapes != {(card.words, card.columns)} or len(maps) != card.compression["maps"] or not same:
        raise InputError("the maps are not those that the card describes.")
    _check_frequencies(folder / FREQUENCIES_FILE, card)
    _check_counts(folder / COUNTS_FILE, card)
    released_labels(folder, card)


def released_labels(folder: Path, card: ReleaseCard) -> NDArray[np.str_] | None:
    """The public labels in ``folder``, if its card says that there are some."""
    if card.labels is None:
        return None
    return read_labels(folder / LABELS_FILE, card.documents, card.labels["different"])


def _check_frequencies(path: Path, card: ReleaseCard) -> None:
    if path.stat().st_size > card.words * 8 + LARGEST_ARRAY_HEADER:
        raise InputError(f"{path} holds more than a frequency for each word.")
    try:
        frequencies = np.load(path, allow_pickle=False)
        sound = frequencies.dtype == np.float64
        checked_prior(frequencies, card.words)
    except (OSError, ValueError, EOFError, ParameterError):
        sound = False
    if not sound:
        raise InputError(f"{path} does not hold a frequency for each word.")


def _check_counts(path: Path, card: ReleaseCard) -> None:
    _refuse_bomb(path, card)
    counts = CountsFile(path)
    if counts.shape != (card.documents, card.columns):
        raise InputError(f"the counts have shape {counts.shape}, the card says otherwise.")
    for block in counts.blocks(max(1, _BLOCK_CELLS // card.columns)):
        if card.threshold is not None and block.nnz and block.data.min() < card.threshold:
            raise InputError("there are counts below the threshold that the card states.")


def _refuse_bomb(path: Path, card: ReleaseCard) -> None:
    """An archive that unpacks to more than a full matrix of the card's shape holds."""
    most = 12 * card.documents * card.columns + 8 * (card.documents + 1) + LARGEST_ARRAY_HEADER
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (OSError, zipfile.BadZipFile):
        raise InputError(f"{path} is not a matrix of counts.") from None
    if unpacked > most:
        raise InputError(f"{path} unpacks to more than the card's shape can hold.")


def _parts(released: Released, vocabulary: Vocabulary, method: str) -> dict[str, bytes]:
    map_array, map_card = packed_maps(released.maps, method=method)
    return {
        COUNTS_FILE: matrix_bytes(released.counts),
        VOCABULARY_FILE: vocabulary.as_text().encode(),
        f"{MAP_STEM}.npz": map_array,
        f"{MAP_STEM}.json": map_card.encode(),
        FREQUENCIES_FILE: _as_npy(released.frequencies),
    }


def _as_npy(frequencies: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bytes:
    buffer = BytesIO()
    np.lib.format.write_array(buffer, frequencies, allow_pickle=False)
    return buffer.getvalue()
