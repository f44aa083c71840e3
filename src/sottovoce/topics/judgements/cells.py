"""CSV that people open in a spreadsheet: written without formulas, read back as it was."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.files import cause_of, whole_file

# A spreadsheet takes a cell that begins so for a formula; the last four are full-width.
_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)
_GUARD = "'"
_KEPT_CONTROLS = "\n\t"
_DELIMITERS = ",;\t"
MOST_BYTES = 256 * 1024 * 1024


def safe_cell(text: str) -> str:
    """``text`` so that no spreadsheet computes it: guarded by an apostrophe, no control characters.

    Whatever begins with an apostrophe is guarded too, so that ``plain_cell`` can undo it.
    """
    printed = "".join(
        " " if not character.isprintable() and character not in _KEPT_CONTROLS else character
        for character in text
    )
    # Blanks before it hide nothing from a spreadsheet, and get lost on the way back.
    starts = printed.startswith(_FORMULA) or printed.lstrip().startswith((*_FORMULA, _GUARD))
    return _GUARD + printed if starts else printed


def plain_cell(text: str) -> str:
    """Undo ``safe_cell``; blanks around, which spreadsheets and people leave, go too."""
    return text.strip().removeprefix(_GUARD).strip()


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(str(row[column])) for column in columns])
    return out.getvalue()


def write_rows(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    *,
    private: bool = False,
) -> None:
    """Write a sheet, whole or not at all."""
    text = csv_text(columns, rows)
    with whole_file(path, private=private) as temporary:
        # The mark tells spreadsheets that this is UTF-8.
        temporary.write_text(text, encoding="utf-8-sig")


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each row with its number, the first below the header being 1.

    The delimiter is the comma, the semicolon or the tab, whichever the header has most of.
    """
    text = _read(path)
    header = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    try:
        _check_header(path, reader.fieldnames or ())
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise InputError(f"{path}: row {number} has more cells than the header.")
            if any(row.values()):
                yield number, {name.strip(): plain_cell(cell) for name, cell in row.items()}
    except csv.Error:
        raise InputError(f"{path} cannot be read as CSV.") from None


def _check_header(path: Path, names: Sequence[str]) -> None:
    """Refuse a column named twice, of which only the last would be read; blank names may repeat."""
    named = [name.strip() for name in names if name.strip()]
    for place, name in enumerate(named):
        if name in named[:place]:
            raise InputError(
                f"{path}: the header must name each column once, got one twice: the name of column "
                f"{1 + [each.strip() for each in names].index(name)} comes again."
            )


def _read(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size <= MOST_BYTES:
            return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {cause_of(error)}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is no UTF-8 text; save the sheet as CSV UTF-8.") from None
    raise InputError(f"{path} must have at most {MOST_BYTES:,} bytes, got {size:,}.")
