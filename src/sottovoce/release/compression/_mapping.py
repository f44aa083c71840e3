"""The public map from words to columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce._arrays import Integers
from sottovoce.errors import ParameterError
from sottovoce.release._counts import Counts, checked_width


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
    def matrix(self) -> Counts:
        """A itself."""
        ones = np.ones(self.words, dtype=np.int64)
        # As narrow as the columns, or scipy widens those of every product.
        pointers = np.arange(self.words + 1, dtype=np.int32)
        return sparse.csr_array((ones, self.column, pointers), shape=(self.words, self.columns))

    def compress(self, counts: Counts) -> Counts:
        """Sum the words of each column: yA for every document y."""
        checked_width(counts, self.words, what="word of the map")
        summed: Counts = sparse.csr_array(counts @ self.matrix)
        summed.sort_indices()
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
