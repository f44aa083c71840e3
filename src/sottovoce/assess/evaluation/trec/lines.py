"""Lines of fields, with the number of the line that is wrong."""

from collections.abc import Iterator
from pathlib import Path

from sottovoce.assess.evaluation.trec.names import unescaped
from sottovoce.errors import InputError

LONGEST_LINE = 1_000_000


def read_fields(path: Path, fields: int, shape: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not blank."""
    try:
        with path.open("rb") as file:
            # A bound on the line bounds the memory that a file without line ends may take.
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
                if line.strip():
                    yield number, _split(path, number, line, fields, shape)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None


def _split(path: Path, number: int, line: bytes, fields: int, shape: str) -> list[str]:
    parts = line.split()
    if len(parts) != fields:
        raise InputError(
            f"{path}, line {number}: must have {fields} fields ({shape}), got {len(parts)}."
        )
    try:
        return [unescaped(part.decode()) for part in parts]
    except UnicodeDecodeError:
        raise InputError(f"{path}, line {number}: must be UTF-8.") from None


def whole_number(path: Path, number: int, name: str, field: str) -> int:
    """A field that must be a whole number."""
    try:
        return int(field)
    except ValueError:
        raise InputError(f"{path}, line {number}: {name} must be a whole number.") from None
