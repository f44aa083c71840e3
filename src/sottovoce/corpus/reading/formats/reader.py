"""What every format offers."""

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from sottovoce.corpus.reading.tally import Tally


class Reader(Protocol):
    """Raw record batches, one column per field wanted, under our names.

    Each call of ``raw_batches`` reads from the start. Rows that cannot even be told apart into
    columns are counted in the tally and left out.
    """

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]: ...
