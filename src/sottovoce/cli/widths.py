"""How wide the columns of a table are, so that no word or number is broken where it need not be."""

from collections.abc import Sequence

from rich.cells import cell_len

_AROUND_A_CELL = 3  # a blank on either side, and a line


def fitting_widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """A width for each of ``columns``, its texts, within ``room``; None: it needs breaking words.

    Each column has its longest word; what is left goes first to those that want least more.
    """
    wanted = [max(_longest(text.splitlines()) for text in texts) for texts in columns]
    widths = [max(_longest(text.split()) for text in texts) for texts in columns]
    spare = room - 1 - sum(width + _AROUND_A_CELL for width in widths)
    if spare < 0:
        return None
    by_want = sorted(range(len(widths)), key=lambda column: wanted[column] - widths[column])
    for done, column in enumerate(by_want):
        more = min(wanted[column] - widths[column], spare // (len(widths) - done))
        widths[column] += more
        spare -= more
    return widths


def _longest(pieces: Sequence[str]) -> int:
    return max(map(cell_len, pieces), default=0)
