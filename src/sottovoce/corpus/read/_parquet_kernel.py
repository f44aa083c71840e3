"""A kernel apart from its only user, so that commands which read nothing load no compiler."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel


@kernel
def longest_value(plain: NDArray[np.uint8], values: Whole) -> Whole:
    """The longest of the first ``values``, one after the other, each behind its length of 4 bytes.

    As ``longest_of_few``: a reader takes no more of them than the header announces.
    """
    longest = position = number = 0
    while number < values and position + 4 <= plain.size:
        number += 1
        length = 0
        for place in range(4):
            length |= int(plain[position + place]) << (8 * place)
        longest = max(longest, length)
        position += 4 + length
    return longest
