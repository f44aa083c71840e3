"""Which row of the state belongs to which user."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


class UserIndex:
    """User ids in order of first appearance; an id's place is its row."""

    def __init__(self, names: pa.Array | None = None) -> None:
        self._rows: dict[str, int] = {}
        if names is not None:
            self.rows(names)

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, names: pa.Array) -> NDArray[np.int64]:
        """The row of each name; a name not seen before gets the next row."""
        encoded = pc.dictionary_encode(names)
        known = self._rows
        # Only as many steps in Python as there are different users in the batch.
        of_code = [known.setdefault(name, len(known)) for name in encoded.dictionary.to_pylist()]
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        rows: NDArray[np.int64] = np.array(of_code, np.int64)[codes]
        return rows

    def row(self, name: str) -> int | None:
        """The row of ``name``, None when she has none."""
        return self._rows.get(name)

    def names(self) -> pa.Array:
        """The id of each row."""
        return pa.array(list(self._rows), pa.large_string())
