"""A kernel apart from its only user, so that commands which read nothing load no compiler."""

import numpy as np
from numpy.typing import NDArray

from sottovoce._compiled import Whole, kernel


@kernel
def longest_value(plain: NDArray[np.uint8]) -> Whole:
    """The longest of values that stand one after the other, each behind its length of 4 bytes."""
    longest = position = 0
    while position + 4 <= plain.size:
        length = 0
        for place in range(4):
            length |= int(plain[position + place]) << (8 * place)
        longest = max(longest, length)
        position += 4 + length
    return longest
