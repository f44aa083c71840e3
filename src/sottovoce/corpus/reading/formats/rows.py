"""Whole CSV rows in blocks: a newline inside quotes does not end a row."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from sottovoce.corpus.reading.options import RAISE_THE_LIMIT
from sottovoce.errors import CorpusError

# A quote opens a value only where a value starts; elsewhere it is a character. The last group is
# empty when the quote is still open at the end.
_QUOTED = re.compile(rb'(?:\A|(?<=[,\r\n]))"[^"]*(?:""[^"]*)*("?)')


def row_blocks(chunks: Iterator[bytes], max_row_bytes: int, where: str) -> Iterator[bytes]:
    """Yield blocks that end where a row does; the last is what remains.

    A longer row is an error, not a skip: after a quote left open nobody can tell where the next row
    starts.
    """
    rest, scan_at = b"", 0
    for chunk in chunks:
        rest += chunk
        # A long row is not scanned again until it has doubled, so the cost stays linear.
        if len(rest) < min(scan_at, max_row_bytes + 1):
            continue
        end = end_of_last_row(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        scan_at = 0 if end else 2 * len(rest)
        if len(rest) > max_row_bytes:
            raise CorpusError(
                f"{where} has a row longer than {max_row_bytes} bytes, or a quote that is not "
                f"closed. Mend it, or {RAISE_THE_LIMIT}."
            )
    if rest:
        yield rest


def end_of_last_row(data: bytes) -> int:
    """The position after the last newline outside quotes; 0 if there is none."""
    starts, ends = [], []
    for match in _QUOTED.finditer(data):
        starts.append(match.start())
        ends.append(match.end() if match[1] else len(data))
    limit = len(data)
    while (newline := data.rfind(b"\n", 0, limit)) >= 0:
        before = bisect_right(starts, newline) - 1
        if before < 0 or ends[before] <= newline:
            return newline + 1
        limit = starts[before]
    return 0
