"""How a corpus is to be read, what a reader of a file offers, and what became of every row.

A row is kept, or skipped for one reason. Of the first rows there is a sample: what a guess, or a
person, sees. Commands take the options from here, so that nothing slow is imported.
"""

import codecs
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias
from zoneinfo import ZoneInfo

from sottovoce.errors import CorpusError, ParameterError
from sottovoce.parsing import check_choice

if TYPE_CHECKING:
    import pyarrow as pa

MIB = 1024 * 1024
# Arrow counts a block's bytes in 32 bits, and several blocks are in memory at once.
MAX_LINE_BYTES_BOUND = 256 * MIB
DEFAULT_LINE_BYTES = 16 * MIB
RAISE_THE_LIMIT = "raise --max-line-bytes (in Python max_line_bytes=)"
"""What to do about a line that is too long; whoever offers no such option leaves it out."""


class Format(StrEnum):
    """The kinds of file that can be read.

    >>> [str(kind) for kind in Format]
    ['csv', 'tsv', 'jsonl', 'parquet', 'aol', 'lines']
    """

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    AOL = "aol"
    LINES = "lines"


DateOrder: TypeAlias = Literal["iso", "day-first", "month-first"]
DATE_ORDERS: tuple[DateOrder, ...] = ("iso", "day-first", "month-first")


@dataclass(frozen=True)
class ReadOptions:
    """How a corpus is to be read; every default suits a file that names its columns as we do.

    Attributes:
        format: the kind of file; ``None`` goes by the file's name.
        columns: our name (``user``, ``time``, ``text``, ``label``) to the file's name for it, or
            to its position counted from 0 in CSV and TSV.
        header: ``True``: the first row of CSV or TSV names the columns; ``False``: there is no such
            row; a tuple: there is no such row and these are the names.
        timezone: IANA name of the zone of times that carry none.
        encoding: of the bytes of a text format.
        delimiter: what stands between the values of CSV, one ASCII character; ``None``: a comma, or
            what its first rows have instead.
        dates: ``"iso"``: times as ISO 8601 writes them; ``"day-first"``, ``"month-first"``: also
            31/12/2024 or 12/31/2024, with or without a time of day.
        max_line_bytes: the longest line, and the longest single text, that is read.

    >>> ReadOptions(columns={"user": "author"}, timezone="Europe/Rome").encoding
    'utf-8'
    """

    format: Format | None = None
    columns: Mapping[str, str | int] = field(default_factory=lambda: MappingProxyType({}))
    header: bool | tuple[str, ...] = True
    timezone: str = "UTC"
    encoding: str = "utf-8"
    max_line_bytes: int = DEFAULT_LINE_BYTES
    delimiter: str | None = None
    dates: DateOrder = "iso"

    def with_columns(self, **names: str | int | None) -> "ReadOptions":
        """The same, with a column's name in the file for each of ours that is called otherwise.

        >>> dict(ReadOptions().with_columns(user="author", time="time", text=None).columns)
        {'user': 'author'}
        """
        other = {ours: name for ours, name in names.items() if name not in (None, ours)}
        return replace(self, columns=MappingProxyType({**self.columns, **other}))

    def __post_init__(self) -> None:
        if self.format is not None:
            object.__setattr__(self, "format", _known_format(self.format))
        _check_encoding(self.encoding)
        _check_timezone(self.timezone)
        _check_delimiter(self.delimiter)
        check_choice("dates", self.dates, DATE_ORDERS)
        if not 1 <= self.max_line_bytes <= MAX_LINE_BYTES_BOUND:
            raise ParameterError(
                f"max_line_bytes must be from 1 to {MAX_LINE_BYTES_BOUND}, "
                f"got {self.max_line_bytes}."
            )


def named_columns(reading: object, **names: str | int | None) -> ReadOptions:
    """The options of a call, with the columns that it names; whatever is none is refused."""
    if not isinstance(reading, ReadOptions):
        raise ParameterError(
            f"reading must be a ReadOptions, got a {type(reading).__name__}; write "
            "ReadOptions(timezone='Europe/Rome'), say, or leave it out."
        )
    return reading.with_columns(**names)


class Skip(StrEnum):
    """Why a row was not kept.

    >>> Skip.TIME.value
    'unreadable time'
    """

    TIME = "unreadable time"
    USER = "missing user"
    USER_BYTES = "user not in the file's encoding"
    TEXT = "missing text"
    FIELDS = "wrong number of fields"
    JSON = "malformed JSON line"
    TYPE = "value of the wrong type"
    LONG = "too long"
    BLANK = "blank line"
    REPEAT = "repeated click on one query"


_MALFORMED = (Skip.FIELDS, Skip.JSON, Skip.TYPE)
ALWAYS_SKIPPED = 10_000
"""So many malformed rows are passed over, however few others there are."""


@dataclass
class Tally:
    """Counts of one pass over a corpus. Every row is kept or skipped for exactly one reason.

    >>> str(Tally(rows_kept=2, skipped=Counter({Skip.TEXT: 1})))
    '3 rows read, 2 kept; skipped: 1 missing text'
    """

    rows_kept: int = 0
    repaired: int = 0
    skipped: Counter[Skip] = field(default_factory=Counter)

    @property
    def rows_read(self) -> int:
        return self.rows_kept + self.skipped.total()

    def refuse_malformed(self) -> None:
        """Refuse what is hardly a table: each row that is none costs as much as many that are."""
        malformed = sum(self.skipped[reason] for reason in _MALFORMED)
        if malformed > ALWAYS_SKIPPED + self.rows_read // 2:
            raise CorpusError(
                f"more than half of the first {self.rows_read} rows could not be read "
                f"({self.left_out}); is that the right format? Fix the file, or give its --format."
            )

    @property
    def left_out(self) -> str:
        """What was skipped, as "3 missing text, 1 too long"; empty where nothing was."""
        return ", ".join(f"{rows} {reason}" for reason, rows in self.skipped.most_common())

    def skip(self, reason: Skip, rows: int = 1) -> None:
        if rows:
            self.skipped[reason] += rows

    def __str__(self) -> str:
        kept = f"{self.rows_read} rows read, {self.rows_kept} kept"
        return f"{kept}; skipped: {self.left_out or 'none'}"


class Tallied(Protocol):
    """Whatever was read and knows what became of its rows."""

    @property
    def tally(self) -> Tally: ...


def _known_format(name: str) -> Format:
    try:
        return Format(name)
    except ValueError:
        known = ", ".join(Format)
        raise ParameterError(f"format must be one of {known}, got {name!r}.") from None


def _check_delimiter(written: str | None) -> None:
    if written is None:
        return
    if len(written) != 1 or not written.isascii() or written in '"\r\n\0' or written.isalnum():
        raise ParameterError(
            "delimiter must be one ASCII character that is no letter, digit, quote or line end, "
            f"such as , ; | or a tab; got {written!r}."
        )


def _check_encoding(name: str) -> None:
    try:
        # Some codecs of Python turn bytes into bytes; they are no encodings of text.
        known = codecs.lookup(name).incrementaldecoder is not None
        b"a".decode(name)
    except UnicodeError:
        known = True
    except (LookupError, ValueError):
        known = False
    if not known:
        raise ParameterError(
            "encoding must be one that Python knows, such as utf-8, utf-16 or latin-1; "
            f"got {name!r}."
        )


def _check_timezone(name: str) -> None:
    if name == "UTC":
        return
    import pyarrow as pa  # noqa: PLC0415 - keeps --help fast
    import pyarrow.compute as pc  # noqa: PLC0415 - likewise

    try:
        ZoneInfo(name)
        pc.assume_timezone(pa.scalar(datetime(2000, 1, 1), pa.timestamp("us")), name)  # noqa: DTZ001 - a time without a zone is what is being tried
    except (KeyError, ValueError, OSError, pa.ArrowException):
        raise ParameterError(
            f"timezone must be an IANA name such as Europe/Rome, got {name!r}; if the name is "
            "right, this machine has no time zone database: install the system package tzdata."
        ) from None


ROWS_LOOKED_AT = 200
MOST_COLUMNS = 1000


@dataclass(frozen=True)
class ColumnSample:
    """One column: how a reader is to be told of it, its name, and the values of the first rows."""

    key: str | int
    """Its position in CSV and TSV, counted from 0; elsewhere its name."""
    name: str
    values: tuple[str, ...]
    nested: bool = False
    """Whether it holds objects or lists and no single value."""


class Reader(Protocol):
    """Raw record batches, one column per field wanted, under our names.

    Each call of ``raw_batches`` reads from the start. Rows that cannot even be told apart into
    columns are counted in the tally and left out.
    """

    def raw_batches(self, tally: Tally) -> "Iterator[pa.RecordBatch]": ...


class FileReader(Reader, Protocol):
    """One format: what its files are called, how they are recognised, sampled and read.

    Attributes:
        suffixes: of its files' names.
        named_as: the formats that such a file's name may say too; then its first row decides.
        is_text: whether the encoding can be guessed from the bytes.
        has_columns: whether the columns can be guessed from the first rows.
    """

    suffixes: ClassVar[tuple[str, ...]]
    named_as: ClassVar[tuple[Format, ...]] = ()
    is_text: ClassVar[bool] = True
    has_columns: ClassVar[bool] = True

    def __init__(self, path: Path, schema: "pa.Schema", options: ReadOptions) -> None: ...

    @classmethod
    def recognises(cls, path: Path, options: ReadOptions) -> bool:  # noqa: ARG003 - for formats that need it
        """Whether the first row says that a file is of this format."""
        return False

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:  # noqa: ARG003 - for formats that need it
        """The columns with their first values; none where there are no columns."""
        return ()

    @classmethod
    def describe(cls, path: Path, options: ReadOptions) -> tuple[str, ...]:  # noqa: ARG003 - for formats that need it
        """A line for each thing about the layout that was guessed."""
        return ()


def sample_batch(rows: "pa.RecordBatch") -> tuple[ColumnSample, ...]:
    """Of columns of Arrow."""
    held = zip(rows.schema.names, rows.columns, strict=True)
    return tuple(
        ColumnSample(name, name, tuple(map(_write_value, column.to_pylist())))
        for name, column in islice(held, MOST_COLUMNS)
    )


def sample_objects(items: Iterable[dict[str, object]]) -> tuple[ColumnSample, ...]:
    """Of objects whose keys name the columns."""
    held = list(items)
    names = list(dict.fromkeys(name for item in held for name in item))[:MOST_COLUMNS]
    return tuple(
        ColumnSample(name, name, tuple(map(_write_value, values)), nested=_is_nested(values))
        for name in names
        if (values := [item.get(name) for item in held])
    )


def _is_nested(values: Sequence[object]) -> bool:
    told = [value for value in values if value is not None]
    return bool(told) and all(isinstance(value, dict | list) for value in told)


def sample_rows(lines: Iterable[Sequence[str]], options: ReadOptions) -> tuple[ColumnSample, ...]:
    """Of rows of cells, the first of which may name the columns."""
    rows = list(islice((row for row in lines if row), ROWS_LOOKED_AT + 1))
    if not rows or any("\0" in value for value in rows[0]):
        return ()
    names = rows[0] if options.header is True else _told_names(options, len(rows[0]))
    held = rows[1:] if options.header is True else rows
    return tuple(
        ColumnSample(place, name, tuple(row[place] for row in held if len(row) > place))
        for place, name in enumerate(names[:MOST_COLUMNS])
    )


def _told_names(options: ReadOptions, width: int) -> Sequence[str]:
    return options.header if isinstance(options.header, tuple) else [""] * width


def _write_value(value: object) -> str:
    """As a file of text would have it; what is no single value is nothing."""
    is_single = isinstance(value, str | int | float) or hasattr(value, "year")
    # JSON may hold half a character, as where an emoji was cut.
    return str(value).encode("utf-8", "replace").decode() if is_single else ""
