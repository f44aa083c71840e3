"""The public map from words to columns, and how it lies on disk.

On disk it is `NAME.npz` with one array, `column`, 32-bit integers of shape (maps, words): the
column of each word in each map; and `NAME.json`, which describes it::

    {"format": "sottovoce-map", "version": 1, "method": "random", "words": 6800,
     "columns": 100, "maps": 1, "sha256": "<of NAME.npz>"}

Document i uses map i mod `maps`. Nothing is pickled, and a map is public.
"""

import hashlib
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Integers
from sottovoce.compiled import Whole, available_cores, kernel, on_threads
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.files import cause_of
from sottovoce.parsing import parse_json
from sottovoce.release.counts import Counts, checked_width

_FAR_FEWER = 16


@kernel
def count_columns(
    starts: NDArray[np.integer],
    words: NDArray[np.integer],
    column: NDArray[np.int32],
    columns: Whole,
    first: Whole,
    last: Whole,
    sizes: NDArray[np.int64],
) -> None:
    """How many different columns each document from ``first`` to ``last`` has."""
    seen_in = np.full(columns, -1, np.int64)
    for row in range(first, last):
        size = 0
        for cell in range(starts[row], starts[row + 1]):
            own = column[words[cell]]
            size += seen_in[own] != row
            seen_in[own] = row
        sizes[row] = size


@kernel
def sum_columns(
    starts: NDArray[np.integer],
    words: NDArray[np.integer],
    counts: NDArray[np.int64],
    column: NDArray[np.int32],
    columns: Whole,
    first: Whole,
    last: Whole,
    begins: NDArray[np.int64],
    found: NDArray[np.int32],
    sums: NDArray[np.int64],
) -> None:
    """The columns of each document, ascending, and their sums, from where ``begins`` says on."""
    total, is_in = np.zeros(columns, np.int64), np.zeros(columns, np.bool_)
    ascending = np.empty(columns + 1, np.int32)
    for row in range(first, last):
        begin, at, rising = begins[row], begins[row], True
        for cell in range(starts[row], starts[row + 1]):
            own = column[words[cell]]
            if not is_in[own]:
                is_in[own] = True
                rising &= at == begin or found[at - 1] < own
                found[at] = own
                at += 1
            total[own] += counts[cell]
        if not rising and columns < _FAR_FEWER * (at - begin):
            size = 0
            # Without a branch: which columns a document has cannot be foreseen.
            for own in range(columns):
                ascending[size] = own
                size += is_in[own]
            for place in range(size):
                found[begin + place] = ascending[place]
        elif not rising:
            found[begin:at] = np.sort(found[begin:at])
        for place in range(begin, at):
            own = found[place]
            sums[place], total[own], is_in[own] = total[own], 0, False


# Below this much work a second thread costs more than it saves.
_CELLS_PER_THREAD = 1 << 17


@dataclass(frozen=True, eq=False)
class WordMap:
    """M words onto K columns: an M x K matrix A with one 1 per row.

    Every row of A has L1 norm 1, so ||(y - y')A||_1 <= ||y - y'||_1: noise at rate epsilon/N on
    the K columns is (N, epsilon)-limited-precision private for the M words. The map is public:
    it must never be computed from private counts that nobody paid for.
    """

    column: NDArray[np.int32]
    columns: int

    def __post_init__(self) -> None:
        """Refuse a map that sends a word nowhere."""
        column = np.asarray(self.column)
        if column.ndim != 1 or column.dtype.kind not in "iu" or not column.size:
            raise ParameterError("a map must be a list of column numbers, one per word.")
        if column.min() < 0 or column.max() >= self.columns:
            raise ParameterError(
                f"a map's column numbers must lie in 0..{self.columns - 1}, "
                f"got {column.min()}..{column.max()}."
            )
        frozen = column.astype(np.int32)
        frozen.setflags(write=False)
        object.__setattr__(self, "column", frozen)

    @property
    def words(self) -> int:
        """M, the number of words."""
        return int(self.column.size)

    @cached_property
    def sizes(self) -> Integers:
        """The number of words in each column."""
        return np.bincount(self.column, minlength=self.columns).astype(np.int64)

    @cached_property
    def is_identity(self) -> bool:
        """Whether each word is its own column."""
        return self.columns == self.words and bool((self.column == np.arange(self.words)).all())

    @cached_property
    def matrix(self) -> Counts:
        """A itself."""
        ones = np.ones(self.words, dtype=np.int64)
        # As narrow as the columns, or scipy widens those of every product.
        pointers = np.arange(self.words + 1, dtype=np.int32)
        return sparse.csr_array((ones, self.column, pointers), shape=(self.words, self.columns))

    def compress(self, counts: Counts, *, threads: int | None = None) -> Counts:
        """Sum the words of each column: yA for every document y.

        Where each word is its own column, these are the ``counts`` that were given.
        """
        checked_width(counts, self.words, what="word of the map")
        if self.is_identity:
            return counts

        rows = counts.shape[0]
        parts = max(1, min(threads or available_cores(), counts.nnz // _CELLS_PER_THREAD))
        cuts = np.searchsorted(counts.indptr, np.linspace(0, counts.nnz, parts + 1)[1:-1])
        bounds = list(pairwise([0, *cuts.tolist(), rows]))
        starts, words, values = counts.indptr, counts.indices, counts.data
        begins = np.zeros(rows + 1, np.int64)
        how = (self.column, self.columns)
        on_threads(
            [partial(count_columns, starts, words, *how, *each, begins[1:]) for each in bounds]
        )
        np.cumsum(begins, out=begins)
        found, sums = np.empty(begins[-1], np.int32), np.empty(begins[-1], np.int64)
        on_threads(
            [
                partial(sum_columns, starts, words, values, *how, *each, begins, found, sums)
                for each in bounds
            ]
        )
        # As narrow as the columns, or scipy widens those.
        narrow = np.int32 if begins[-1] <= np.iinfo(np.int32).max else np.int64
        summed: Counts = sparse.csr_array(
            (sums, found, begins.astype(narrow)), shape=(rows, self.columns)
        )
        # Told, or scipy would look at every cell.
        summed.has_canonical_format = True
        return summed

    def __eq__(self, other: object) -> bool:
        """Whether both maps send every word to the same column."""
        if not isinstance(other, WordMap):
            return NotImplemented
        return self.columns == other.columns and np.array_equal(self.column, other.column)

    __hash__ = None  # type: ignore[assignment]  # arrays are compared by content, so not hashed


def checked_columns(columns: object, words: int) -> int:
    """K as an integer with 1 <= K < M, or an error that says so."""
    if isinstance(columns, bool) or not isinstance(columns, int | np.integer):
        raise ParameterError(f"columns must be a whole number, got a {type(columns).__name__}.")
    if not 1 <= columns < words:
        raise ParameterError(
            f"columns must be >= 1 and below the number of words; n_features = {words}, "
            f"got columns = {columns}. Use compression 'none' to keep every word."
        )
    return int(columns)


def even_sizes(items: int, parts: int) -> Integers:
    """``parts`` sizes that sum to ``items`` and differ by at most one, larger ones first."""
    return items // parts + (np.arange(parts) < items % parts).astype(np.int64)


FORMAT = "sottovoce-map"
VERSION = 1
MOST_NUMBERS = 2**28
LARGEST_CARD = 64 * 1024
LARGEST_ARRAY_HEADER = 4096


@dataclass(frozen=True)
class MapCard:
    """What `NAME.json` says about `NAME.npz`."""

    method: str
    words: int
    columns: int
    maps: int
    sha256: str
    format: str = FORMAT
    version: int = VERSION


def packed_maps(maps: Sequence[WordMap], *, method: str) -> tuple[bytes, str]:
    """The two files of maps: the array, and the card that describes it."""
    first = maps[0]
    if any((each.words, each.columns) != (first.words, first.columns) for each in maps):
        raise ModelFileError("the maps of one corpus must have the same words and columns.")
    packed = _pack_column(np.stack([each.column for each in maps]))
    digest = hashlib.sha256(packed).hexdigest()
    card = MapCard(method, first.words, first.columns, len(maps), digest)
    return packed, json.dumps(asdict(card), indent=2) + "\n"


def load_maps(stem: Path) -> tuple[list[WordMap], MapCard]:
    """Read maps, checked against their card."""
    try:
        card = _card(_map_file(stem, ".json"))
        column = _columns(_map_file(stem, ".npz"), card)
    except OSError as error:
        raise ModelFileError(f"cannot read the map {stem}: {cause_of(error)}.") from error
    return [WordMap(each, card.columns) for each in column], card


def _map_file(stem: Path, suffix: str) -> Path:
    return stem.with_name(stem.name + suffix)


def _pack_column(column: NDArray[np.int32]) -> bytes:
    buffer = BytesIO()
    np.savez_compressed(buffer, column=column)
    return buffer.getvalue()


def _card(path: Path) -> MapCard:
    with path.open("rb") as file:
        raw = file.read(LARGEST_CARD)
    try:
        card = MapCard(**parse_json(raw))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a map's card; write the map again.") from error
    _check_card(card, path)
    return card


def _check_card(card: MapCard, path: Path) -> None:
    if (card.format, card.version) != (FORMAT, VERSION):
        raise ModelFileError(f"{path} must be of format {FORMAT}, version {VERSION}.")
    numbers = (card.words, card.columns, card.maps)
    if not all(type(number) is int and number >= 1 for number in numbers):
        raise ModelFileError(f"{path}: words, columns and maps must be whole numbers >= 1.")
    if card.words * card.maps > MOST_NUMBERS:
        raise ModelFileError(f"{path}: words times maps must be at most {MOST_NUMBERS}.")


def _columns(path: Path, card: MapCard) -> NDArray[np.int32]:
    most = card.maps * card.words * np.dtype(np.int32).itemsize + LARGEST_ARRAY_HEADER
    with path.open("rb") as file:
        packed = file.read(most + 1)
    if len(packed) > most:
        raise ModelFileError(f"{path} must be at most {most} bytes; its card promises no more.")
    if hashlib.sha256(packed).hexdigest() != card.sha256:
        raise ModelFileError(f"{path} does not match its card's sha256; one of them was changed.")
    try:
        with zipfile.ZipFile(BytesIO(packed)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"{path} is not an npz file.") from error
    if unpacked > most:
        raise ModelFileError(f"{path} unpacks to more than its card promises.")
    try:
        with np.load(BytesIO(packed), allow_pickle=False) as arrays:
            column: NDArray[np.int32] = arrays["column"]
    except (KeyError, ValueError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise ModelFileError(f"{path} holds no readable array 'column'.") from error
    if column.shape != (card.maps, card.words) or column.dtype != np.int32:
        raise ModelFileError(f"{path} must hold {card.maps} x {card.words} 32-bit integers.")
    return column
