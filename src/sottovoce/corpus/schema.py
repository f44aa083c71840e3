"""The shapes that come in, whatever the file, and tables handed out as the caller's data frames."""

from importlib import import_module
from typing import Any, Literal, TypeAlias, get_args

import pyarrow as pa

from sottovoce.errors import InputError, ParameterError

POSTS = pa.schema(
    [
        pa.field("user", pa.string(), nullable=False),
        pa.field("time", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("text", pa.string(), nullable=False),
    ]
)
DOCUMENTS = pa.schema(
    [pa.field("text", pa.string(), nullable=False), pa.field("label", pa.string())]
)
TRUTH = pa.schema(
    [
        pa.field("user", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("persona", pa.string()),
        pa.field("sensitive", pa.bool_(), nullable=False),
        pa.field("grade", pa.float64(), nullable=False),
    ]
)

BATCH_ROWS = 64 * 1024
# A batch of long texts ends early, so that memory is bounded by bytes as well as by rows.
BATCH_BYTES = 16 * 1024 * 1024


FrameLibrary: TypeAlias = Literal["arrow", "pandas", "polars"]


def as_frame(table: pa.Table, library: FrameLibrary = "arrow") -> Any:  # noqa: ANN401 - pandas ships no types, polars may be absent
    """The same rows as a table of Arrow, or a frame of pandas or polars.

    >>> import pyarrow as pa
    >>> as_frame(pa.table({"word": ["debt"]}), "pandas").shape
    (1, 1)
    """
    known = get_args(FrameLibrary)
    if library not in known:
        raise ParameterError(f"library must be one of {', '.join(known)}, got {library!r}.")
    if library == "arrow":
        return table
    try:
        module = import_module(library)
    except ModuleNotFoundError:
        raise InputError(
            f"{library} is not installed; install it, or ask for library='arrow'."
        ) from None
    return table.to_pandas() if library == "pandas" else module.from_arrow(table)
