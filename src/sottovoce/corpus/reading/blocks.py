"""Whole lines in blocks: a stream of bytes cut at its newlines, in bounded memory."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.reading.tally import Skip, Tally


def line_blocks(chunks: Iterator[bytes], max_line_bytes: int, tally: Tally) -> Iterator[bytes]:
    """Yield blocks that end at a newline (the last may not), no line over ``max_line_bytes``.

    A longer line is passed over without being held, and counted.
    """
    rest = bytearray()
    dropping = False
    for chunk in chunks:
        start = 0
        if dropping:
            start = chunk.find(b"\n") + 1
            if start == 0:
                continue
            dropping = False
        end = chunk.rfind(b"\n") + 1
        if end > start:
            yield _short_lines(bytes(rest) + chunk[start:end], max_line_bytes, tally)
            rest.clear()
        rest += chunk[max(start, end) :]
        if len(rest) > max_line_bytes:
            tally.skip(Skip.LONG)
            rest.clear()
            dropping = True
    if rest:
        yield bytes(rest)


def _short_lines(block: bytes, max_line_bytes: int, tally: Tally) -> bytes:
    if len(block) <= max_line_bytes:
        return block
    lines = block.split(b"\n")
    kept = [line for line in lines if len(line) <= max_line_bytes]
    tally.skip(Skip.LONG, len(lines) - len(kept))
    return b"\n".join(kept)


def split_lines(block: bytes) -> pa.Array:
    """The lines of a block as bytes, without their endings."""
    whole = block.replace(b"\r\n", b"\n").removesuffix(b"\n").removesuffix(b"\r")
    return pc.split_pattern(pa.array([whole], pa.large_binary()), b"\n").flatten()
