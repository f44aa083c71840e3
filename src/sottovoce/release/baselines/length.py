"""Cutting documents to a public length, as plain local privacy needs."""

import numpy as np
from scipy.sparse import csr_array

from sottovoce.release.exact import positive_integer


def cut_lengths(counts: csr_array, length_cap: int) -> csr_array:
    """Each row's words in column order, up to ``length_cap`` of them: any two are then 2 L apart.

    The cut looks at one row alone, so it costs no privacy beyond epsilon = 2 L r.
    """
    cap = positive_integer(length_cap, "length_cap")
    running = np.cumsum(counts.data, dtype=np.int64)
    before_row = np.concatenate([[0], running])[counts.indptr[:-1]]
    row_of = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    upto = running - before_row[row_of]
    kept = np.minimum(upto, cap) - np.minimum(upto - counts.data, cap)
    cut = csr_array((kept, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
    cut.eliminate_zeros()
    return cut
