"""The shapes that come in, whatever the file: posts, documents, and the truth about users."""

import pyarrow as pa

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
