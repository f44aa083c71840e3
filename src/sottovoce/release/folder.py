"""A release as one bundle, for the ledger to keep, and as a folder, for people to use.

The bundle is a zip archive, uncompressed and without dates: the same release is the same bytes.
"""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.corpus.matrix_file import matrix_bytes
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError, LedgerError, ParameterError
from sottovoce.files import file_digest, output_folder, whole_file
from sottovoce.privacy.audit.findings import AuditReport
from sottovoce.release.card import LARGEST_CARD, ReleaseCard, read_card
from sottovoce.release.compression.word_map import (
    LARGEST_ARRAY_HEADER,
    WordMap,
    load_maps,
    packed_maps,
)
from sottovoce.release.counts import Counts, CountsFile, ReleasedRows, checked_prior
from sottovoce.release.groups import packed_ids, packed_labels, read_labels
from sottovoce.release.plan import Released

CARD_FILE = "card.json"
COUNTS_FILE = "counts.npz"
VOCABULARY_FILE = "vocabulary.txt"
FREQUENCIES_FILE = "frequencies.npy"
LABELS_FILE = "labels.txt"
IDS_FILE = "ids.txt"
SHARDS_FILE = "shards.json"
"""In place of counts, where a cluster wrote them: it lists their files."""
SHARD_FOLDERS = re.compile(r"counts-[0-9a-f]{16}")
_BLOCK_CELLS = 1 << 22
MAP_STEM = "map"
FILES = {COUNTS_FILE, VOCABULARY_FILE, FREQUENCIES_FILE, f"{MAP_STEM}.npz", f"{MAP_STEM}.json"}


class ShardedRows(ReleasedRows, Protocol):
    """Released counts in many files, which a cluster wrote and `sottovoce-spark` reads."""

    @property
    def nnz(self) -> int:
        """Cells that are not 0."""

    def whole(self) -> Counts:
        """All of them, in memory."""

    def check(self, card: ReleaseCard) -> None:
        """Refuse shards that are not what the card names."""

    def audit(self, card: ReleaseCard) -> AuditReport:
        """What can be seen in the counts, some rows at a time."""


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
    parts = small_parts(released.maps, released.frequencies, vocabulary, card)
    parts[COUNTS_FILE] = matrix_bytes(released.counts)
    if labels is not None:
        parts[LABELS_FILE] = packed_labels(labels)
    if ids is not None:
        parts[IDS_FILE] = packed_ids(ids)
    write_parts(path, parts, card)


def write_parts(
    path: Path,
    parts: Mapping[str, bytes],
    card: ReleaseCard,
    private: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write ``parts`` and the ``card`` that names them into an archive; and what stays in it."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    signed = replace(card, files=hashes).as_json().encode()
    whole = {**parts, CARD_FILE: signed, **private}
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(whole):
            archive.writestr(zipfile.ZipInfo(name), whole[name])


@contextmanager
def opened_bundle(bundle: Path) -> Iterator[zipfile.ZipFile]:
    """The file that a ledger keeps of a release, which was found whole."""
    try:
        with zipfile.ZipFile(bundle) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise LedgerError(
            f"the stored output {bundle} cannot be read; see that its disk is sound, and run the "
            "same command again."
        ) from error


def unpack_bundle(bundle: Path, folder: Path) -> None:
    """Put the files of ``bundle`` into ``folder``: all of them, the card last, or none."""
    output_folder(folder)
    with opened_bundle(bundle) as archive, ExitStack() as staged:
        for name in sorted(archive.namelist(), key=lambda name: name != CARD_FILE):
            temporary = staged.enter_context(whole_file(folder / name))
            temporary.write_bytes(archive.read(name))


def publish_bundle(bundle: Path, folder: Path) -> None:
    """Put the release that a ledger keeps in ``bundle`` into ``folder``, its card last."""
    with opened_bundle(bundle) as archive:
        in_shards = SHARDS_FILE in archive.namelist()
    if not in_shards:
        unpack_bundle(bundle, folder)
        return
    with needs_spark():
        from sottovoce_spark import sharded_job  # noqa: PLC0415 - another distribution
    sharded_job.publish_bundle(bundle, sharded_job.LocalStore(folder))


def released_card(folder: Path) -> ReleaseCard:
    """The card in ``folder``, whatever lies beside it."""
    path = folder / CARD_FILE
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise InputError(
            f"{folder} {what}, so there is no readable card; give the folder of a release."
        )
    if not path.exists() and any(SHARD_FOLDERS.fullmatch(each.name) for each in folder.iterdir()):
        raise InputError(
            f"{folder} holds shards but no {CARD_FILE}: the release was not finished. Run its "
            "command again, or remove the folder."
        )
    try:
        if path.stat().st_size > LARGEST_CARD:
            raise InputError(f"{path} is too large for a card.")
        return read_card(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{folder} holds no readable {CARD_FILE}; is it a release?") from None


def verified_card(folder: Path, *, with_shards: bool = True) -> ReleaseCard:
    """The card of a released folder whose files are what the card says.

    ``with_shards``: False where the shards lie elsewhere, for whoever looks at them there.
    """
    card = released_card(folder)
    files = FILES if card.labels is None else FILES | {LABELS_FILE}
    files = files | ({IDS_FILE} if card.groups is not None and card.groups["ids"] else set())
    if SHARDS_FILE in card.files:
        files = files - {COUNTS_FILE} | {SHARDS_FILE}
    if set(card.files) != files:
        raise InputError(f"the card must name just these files: {', '.join(sorted(files))}.")
    for name, expected in card.files.items():
        file = folder / name
        if Path(name).name != name or not file.is_file() or file_digest(file) != expected:
            raise InputError(f"{file} is missing or not what the card says; restore it.")
    _check_parts(folder, card)
    if with_shards or SHARDS_FILE not in card.files:
        _check_counts(folder, card)
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
    released_labels(folder, card)


def released_rows(folder: Path, card: ReleaseCard) -> CountsFile | ShardedRows:
    """The counts in ``folder``, in one file or in shards, to be read block by block."""
    if SHARDS_FILE not in card.files:
        return CountsFile(folder / COUNTS_FILE)
    with needs_spark():
        from sottovoce_spark.shards import read_shards  # noqa: PLC0415 - another distribution
    return read_shards(folder)


@contextmanager
def needs_spark() -> Iterator[None]:
    """Say what to install for releases that a cluster wrote."""
    try:
        yield
    except ModuleNotFoundError:
        raise InputError(
            "this release was written by a cluster, in shards; install sottovoce-spark to go on."
        ) from None


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


def _check_counts(folder: Path, card: ReleaseCard) -> None:
    counts = released_rows(folder, card)
    if isinstance(counts, CountsFile):
        _refuse_bomb(counts.path, card)
    else:
        counts.check(card)
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


def small_parts(
    maps: tuple[WordMap, ...], frequencies: Floats, vocabulary: Vocabulary, card: ReleaseCard
) -> dict[str, bytes]:
    """All files of a release but its counts and its card."""
    map_array, map_card = packed_maps(maps, method=str(card.compression["method"]))
    return {
        VOCABULARY_FILE: vocabulary.as_text().encode(),
        f"{MAP_STEM}.npz": map_array,
        f"{MAP_STEM}.json": map_card.encode(),
        FREQUENCIES_FILE: _as_npy(frequencies),
    }


def _as_npy(frequencies: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bytes:
    buffer = BytesIO()
    np.lib.format.write_array(buffer, frequencies, allow_pickle=False)
    return buffer.getvalue()


def others_in_folder(folder: Path | None, card: ReleaseCard) -> str:
    """What else lies in the folder, and would be published with it."""
    names = [entry.name for entry in folder.iterdir()] if folder and folder.is_dir() else []
    own = {*card.files, CARD_FILE}
    others = sum(name not in own and not SHARD_FOLDERS.fullmatch(name) for name in names)
    if not others:
        return ""
    found = "1 other entry, which is" if others == 1 else f"{others:,} other entries, which are"
    return f"{folder} holds {found} no part of the release: do not publish that with it."
