"""What a table must be before it is taken for a state: others may have made it, or damaged it.

Compiled code trusts what it is given, so nothing reaches it unchecked. Each check raises
``ValueError``; whoever reads the state says in its own words that it cannot be used.
"""

import os
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.assess.header import Header

_COSINES = frozenset({"bow", "lda", "w2v"})
# Sums of floats may be beyond 1 by their rounding.
_LARGEST_COSINE = 1 + 1e-6
_MOST_POSTS = 1 << 40
_BITS = 8
_BYTES_OF_A_NUMBER = 8


def check_size(file: pq.ParquetFile) -> None:
    """Refuse, before it is read, what cannot fit into this machine's memory."""
    metadata, widths = file.metadata, _widths(file.schema_arrow)
    size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = (group.column(place) for place in range(group.num_columns))
        size += sum(
            column.num_values * widths.get(column.path_in_schema, _BYTES_OF_A_NUMBER)
            for column in columns
        )
    if size > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise ValueError("it is larger than this machine's memory")


def check_columns(header: Header, table: pa.Table) -> None:
    """Refuse columns that are not what a state of this header has."""
    table.validate(full=True)
    kinds = _kinds(header)
    for name, allowed in kinds.items():
        column = table[name]
        if column.type not in allowed or column.null_count:
            raise ValueError("a column is of another type, or lacks values")
    posts = table["posts"]
    if len(posts) and not 1 <= pc.min(posts).as_py() <= pc.max(posts).as_py() <= _MOST_POSTS:
        raise ValueError("a number of posts is out of bounds")


def check_bits(bits: NDArray[np.uint8], words: int) -> None:
    """Refuse bits of words that there are not."""
    beyond = 0xFF << (words % _BITS) & 0xFF
    if words % _BITS and (bits[:, -1] & beyond).any():
        raise ValueError("a bit stands for no word")


def check_strengths(space: str, strengths: NDArray[Any]) -> None:
    """Refuse strengths that the space cannot give: a cosine is in [-1, 1], all are finite."""
    bound = _LARGEST_COSINE if space in _COSINES else np.finfo(np.float64).max
    # Written so that a NaN is refused too.
    if strengths.size and not (-bound <= strengths.min() and strengths.max() <= bound):
        raise ValueError("a strength is out of bounds")


def _kinds(header: Header) -> dict[str, tuple[pa.DataType, ...]]:
    """The types that each column may have."""
    lists, width = pa.large_list, -(-header.words // _BITS)
    kinds = {"user": (pa.string(), pa.large_string()), "posts": (pa.int64(),)}
    if header.salient is not None:
        kinds["words"] = (pa.binary(width),)
    if header.posts:
        kinds["post.times"] = (lists(pa.int64()),)
    if header.posts and header.salient is not None:
        kinds["post.words"] = (lists(pa.uint8()),)
    for name in header.spaces:
        kinds[f"{name}.buckets"] = (lists(pa.int32()),)
        kinds[f"{name}.strengths"] = (lists(pa.float64()),)
        if header.posts:
            kinds[f"{name}.post_strengths"] = (lists(pa.float64()),)
    return kinds


def _widths(schema: pa.Schema) -> dict[str, int]:
    return {
        field.name: field.type.byte_width
        for field in schema
        if pa.types.is_fixed_size_binary(field.type)
    }
