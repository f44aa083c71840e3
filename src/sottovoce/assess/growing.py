"""Arrays that grow to many times their size without being copied, nor held twice meanwhile."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)


class GrowingRows:
    """Rows of ``width`` numbers, zero at first; those that nobody writes to take no memory."""

    def __init__(self, width: int, kind: DTypeLike) -> None:
        self._width = width
        self._kind = np.dtype(kind)
        self._pages: mmap.mmap | None = None
        self.array: NDArray[Any] = np.zeros((0, width), self._kind)

    def grow(self, rows: int) -> None:
        """Make room for ``rows``, which is more than there are."""
        size = max(1, rows * self._width * self._kind.itemsize)
        old, self.array = self.array, np.zeros((0, self._width), self._kind)
        if self._pages is None:
            self._pages = mmap.mmap(-1, size, flags=_PRIVATE)
        else:
            del old
            self._pages = _resized(self._pages, size)
        whole = np.frombuffer(self._pages, self._kind, count=rows * self._width)
        self.array = whole.reshape(rows, self._width)


def _resized(pages: mmap.mmap, size: int) -> mmap.mmap:
    try:
        # The system moves the pages to where there is room for more.
        pages.resize(size)
    except (BufferError, SystemError, OSError, ValueError):
        # Somebody looks at the rows, or this system cannot.
        wider = mmap.mmap(-1, size, flags=_PRIVATE)
        wider[: len(pages)] = pages[:]
        return wider
    return pages
