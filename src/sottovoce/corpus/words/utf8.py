"""UTF-8 for kernels: one character out of bytes, and one into bytes."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel

INVALID = -1


@kernel
def decode(data: NDArray[np.uint8], at: Whole, end: Whole) -> tuple[Whole, Whole]:
    """The code point at ``at`` and its width in bytes; (INVALID, 1) where UTF-8 is broken."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return lead, 1
    if 0xC2 <= lead < 0xE0:
        width, point, least = 2, lead & 0x1F, 0x80
    elif 0xE0 <= lead < 0xF0:
        width, point, least = 3, lead & 0x0F, 0x800
    elif 0xF0 <= lead < 0xF5:
        width, point, least = 4, lead & 0x07, 0x10000
    else:
        return INVALID, 1
    if at + width > end:
        return INVALID, 1
    for i in range(at + 1, at + width):
        byte = np.int64(data[i])
        if byte & 0xC0 != 0x80:
            return INVALID, 1
        point = (point << 6) | (byte & 0x3F)
    if point < least or point > 0x10FFFF or 0xD800 <= point < 0xE000:
        return INVALID, 1
    return point, width


@kernel
def encode(point: Whole, out: NDArray[np.uint8], at: Whole) -> Whole:
    """Write ``point`` as UTF-8 at ``out[at]``; return where the next character goes."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
        out[at + 1] = 0x80 | (point & 0x3F)
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | (point >> 12)
        out[at + 1] = 0x80 | ((point >> 6) & 0x3F)
        out[at + 2] = 0x80 | (point & 0x3F)
        return at + 3
    out[at] = 0xF0 | (point >> 18)
    out[at + 1] = 0x80 | ((point >> 12) & 0x3F)
    out[at + 2] = 0x80 | ((point >> 6) & 0x3F)
    out[at + 3] = 0x80 | (point & 0x3F)
    return at + 4
