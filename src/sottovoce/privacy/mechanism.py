"""The geometric mechanism: word counts in, the same counts under two-sided geometric noise out.

Who learns what. The reader of the output learns no more than `guarantee` says. Whoever watches the
run time and memory of `sparse` learns about how many cells were stored; `dense` is the
constant-work mode: its work and memory depend on the shape and the noise alone, and no branch on
the counts. (What the noise itself costs varies with the draws, which are independent of the data.)
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from sottovoce.compiled import available_cores, on_threads
from sottovoce.errors import InputError
from sottovoce.privacy._noise_kernels import ascends, lowest_and_highest
from sottovoce.privacy._sparse_noise import Pile, SharedRoom, SparseNoise, SparseRows, part_of
from sottovoce.privacy.exact import Exact, positive, positive_integer
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy
from sottovoce.privacy.randomness import Keystream, SystemKeystream
from sottovoce.privacy.sampler import two_sided_sampler

# The sum of a count and a draw stays inside 64 bits.
LARGEST_COUNT = 1 << 61
LARGEST_WIDTH = (1 << 31) - 1
# Below this much work a second thread costs more than it saves.
_CELLS_PER_THREAD = 1 << 18


class GeometricMechanism:
    """Exact two-sided geometric noise at ``rate`` nats per unit of L1, on any integer counts.

    P(Z = z) = (1 - alpha)/(1 + alpha) alpha^|z|, alpha = exp(-rate). Every call draws fresh noise
    under fresh keys, one per thread: nothing can be replayed or seeded.

    >>> mechanism = GeometricMechanism.giving(LimitedPrecision(2, 1))
    >>> mechanism.dense(np.array([[3, 0], [0, 1]])).shape, str(mechanism.rate)
    ((2, 2), '1/2')
    """

    _make_source: ClassVar[Callable[[], Keystream]] = SystemKeystream

    def __init__(self, rate: Exact) -> None:
        self.rate = positive(rate, "rate")
        self._sampler = two_sided_sampler(self.rate)

    @classmethod
    def giving(cls, guarantee: LimitedPrecision | LocalPrivacy) -> "GeometricMechanism":
        """The mechanism whose noise gives ``guarantee`` (its maps and cuts being right)."""
        return cls(guarantee.rate)

    @property
    def guarantee(self) -> LimitedPrecision:
        """What the noise promises a document, whose counts pass through it once."""
        return LimitedPrecision.at_rate(self.rate)

    def noise(self, number: int, *, threads: int | None = None) -> NDArray[np.int32]:
        """``number`` independent draws of the noise alone."""
        out = np.empty(number, dtype=np.int32)
        self._share(out, self._sampler.draw_into, threads)
        return out

    def dense(
        self,
        counts: NDArray[np.integer],
        *,
        threshold: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int64]:
        """``counts`` with noise on every cell: the constant-work mode.

        With a ``threshold`` outputs below it become 0 (free post-processing).
        """
        out = _checked_counts(np.asarray(counts)).astype(np.int64, order="C")
        self._share(out.reshape(-1), self._sampler.add_to, threads)
        if threshold is not None:
            out *= out >= positive_integer(threshold, "threshold")
        return out

    def sparse(
        self,
        counts: csr_array | csr_matrix,
        *,
        threshold: int | None = None,
        threads: int | None = None,
    ) -> csr_array:
        """``counts`` with noise on every cell, the zero cells too, as CSR.

        With a ``threshold`` only outputs of at least that are kept (free post-processing).
        """
        if threshold is not None:
            threshold = positive_integer(threshold, "threshold")
        if threads is not None:
            threads = positive_integer(threads, "threads")
        rows, shape = _rows_of(counts, threads), counts.shape
        if not shape[0] * shape[1]:
            return csr_array(shape, dtype=np.int64)
        noise = SparseNoise(self.rate, shape[1], threshold)
        bounds = _split(shape[0], self._thread_count(shape[0] * shape[1], threads))
        parts = [part_of(rows, first, last) for first, last in bounds]
        room = SharedRoom(
            [last - first for first, last in bounds], [noise.room_for(part) for part in parts]
        )
        tasks = zip(parts, room.piles, strict=True)
        on_threads([partial(self._noise_part, noise, part, pile) for part, pile in tasks])
        return _as_matrix(room.rows(), shape)

    def _noise_part(self, noise: SparseNoise, rows: SparseRows, pile: Pile) -> None:
        noise.add_to(rows, self._new_source(), pile)

    def _share(
        self,
        out: NDArray[np.signedinteger],
        work: Callable[[NDArray[np.signedinteger], Keystream], None],
        threads: int | None,
    ) -> None:
        """Let each thread ``work`` on a part of ``out`` with a keystream of its own."""
        bounds = _split(out.size, self._thread_count(out.size, threads))
        on_threads([partial(work, out[a:b], self._new_source()) for a, b in bounds])

    def _thread_count(self, cells: int, threads: int | None) -> int:
        wanted = available_cores() if threads is None else positive_integer(threads, "threads")
        return max(1, min(wanted, cells // _CELLS_PER_THREAD))

    def _new_source(self) -> Keystream:
        return type(self)._make_source()  # noqa: SLF001 - a class attribute of its own


def _rows_of(counts: csr_array | csr_matrix, threads: int | None) -> SparseRows:
    if getattr(counts, "format", None) != "csr":
        raise InputError("counts must be a scipy CSR matrix; call .tocsr() on it.")
    if counts.shape[1] > LARGEST_WIDTH:
        raise InputError(f"counts must have at most {LARGEST_WIDTH} columns.")
    values = _checked_counts(counts.data, threads)
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
        values = counts.data
    return SparseRows(
        counts.indptr.astype(np.int64, copy=False),
        counts.indices.astype(np.int32, copy=False),
        values.astype(np.int64, copy=False),
    )


def _as_matrix(rows: SparseRows, shape: tuple[int, int]) -> csr_array:
    """CSR without a copy: scipy widens the columns unless the row starts are as narrow."""
    narrow = rows.columns.dtype if rows.columns.size <= LARGEST_WIDTH else rows.starts.dtype
    return csr_array((rows.values, rows.columns, rows.starts.astype(narrow)), shape=shape)


def _checked_counts(counts: NDArray[np.integer], threads: int | None = None) -> NDArray[np.integer]:
    if counts.dtype.kind not in "iu":
        raise InputError(f"counts must be integers, got {counts.dtype}; round them first.")
    low, high = extremes(counts, threads) if counts.size else (0, 0)
    if not -LARGEST_COUNT <= low <= high <= LARGEST_COUNT:
        raise InputError("counts must lie between -2^61 and 2^61.")
    return counts


def extremes(values: NDArray[np.number], threads: int | None = None) -> tuple[int, int]:
    """The lowest and the highest of at least one value; many are shared out over threads."""
    parts = min(threads or available_cores(), values.size // _CELLS_PER_THREAD)
    if not parts or values.dtype != np.int64 or values.ndim > 1 or not values.flags.c_contiguous:
        return int(values.min()), int(values.max())
    tasks = [partial(lowest_and_highest, values[a:b]) for a, b in _split(values.size, parts)]
    found = on_threads(tasks)
    return min(low for low, _ in found), max(high for _, high in found)


def in_column_order(counts: csr_array, threads: int | None = None) -> bool:
    """Whether each row names its columns in order, none twice: scipy's canonical format."""
    parts = min(threads or available_cores(), counts.nnz // _CELLS_PER_THREAD)
    if not parts or (np.diff(counts.indptr) < 0).any():
        return bool(counts.has_canonical_format)
    cells = (counts.indptr, counts.indices)
    tasks = [partial(ascends, *cells, a, b) for a, b in _split(counts.shape[0], parts)]
    return all(on_threads(tasks))


def _split(number: int, parts: int) -> list[tuple[int, int]]:
    """``parts`` ranges that cover ``number`` things evenly."""
    edges = [number * i // parts for i in range(parts + 1)]
    return list(pairwise(edges))


def geometric_noise(counts: csr_array, rate: Exact) -> csr_array:
    """``counts`` with noise at ``rate`` on every cell, for whoever takes noise as a function."""
    return GeometricMechanism(rate).sparse(counts)


def constant_work_noise(counts: csr_array, rate: Exact) -> csr_array:
    """The same, with every cell in memory and work that does not depend on the counts."""
    return csr_array(GeometricMechanism(rate).dense(counts.toarray()))
