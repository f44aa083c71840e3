"""Posts as they are brought: pasted, or in a file of any format that the corpus reader knows.

They are read and cleaned as ``sottovoce assess`` does it: what is not named is guessed, and what is
not the author's own is not theirs here either. What was guessed and left out is told in sentences.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.clean import STEPS, CleaningCounts, clean_posts
from sottovoce.corpus.read.bytes import COMPRESSIONS
from sottovoce.corpus.read.corpus import SUFFIXES, format_by_name, open_posts, sample_columns
from sottovoce.corpus.read.guess import likely_column
from sottovoce.corpus.read.guessed import guessed_reading
from sottovoce.corpus.read.tally import (
    MIB,
    RAISE_THE_LIMIT,
    ColumnSample,
    DateOrder,
    Format,
    ReadOptions,
    Tally,
)
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import (
    CorpusError,
    InputError,
    MissingColumnError,
    SottovoceError,
    UnclearColumnsError,
)
from sottovoce.steps import while_wanted
from sottovoce.web.guards import size_in_words

ME = "me"
MOST_POSTS = 2_000_000
MOST_BYTES = 1024 * MIB
"""In memory: a small file of Parquet may hold much more than its size."""
LONGEST_POST_BYTES = MIB
_DATED = re.compile(r"\s*(\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?)\b[\s:,;-]*")
FILE_SUFFIXES = tuple(suffix for suffix, kind in SUFFIXES.items() if kind is not Format.LINES)
"""Of files that can be brought: plain lines would say neither whose posts they are nor when."""
QUESTIONS = (MissingColumnError, UnclearColumnsError)
"""Nothing went wrong: a column, or the order of day and month, is to be told."""
_ROLES = {"user": "who wrote it", "time": "when", "text": "the text"}
_DATES = {"day-first": "31/12/2024", "month-first": "12/31/2024"}
# Dashes are counted in these patterns: they are looked for in messages, and name no option here.
_HOW_TO_MAP = re.compile(r"(Map it|map (\w+) by position): .*$|Map it with -{2}fields\.", re.DOTALL)
_HOW_TO_ANSWER = re.compile(r" Say --(?:fields .*?\)\.|day-first .*?\.(?=\s|$))", re.DOTALL)
_HOW_TO_PART = re.compile(r" What stands between its values\? Say -{2}delimiter\.")
_HOW_TO_DECODE = re.compile(r"Which encoding is it\? Say .*? or convert", re.DOTALL)
_HOW_TO_NAME = re.compile(r" If the file has no header row, .*", re.DOTALL)
_HOW_TO_READ = re.compile(
    rf"(, or|;) {re.escape(RAISE_THE_LIMIT)}|pass its encoding \([^)]*\) or ", re.DOTALL
)


@dataclass(frozen=True)
class ReceivedPosts:
    """Posts that were read and cleaned, and what was left out of them."""

    table: pa.Table
    tally: Tally
    cleaned: CleaningCounts = field(default_factory=CleaningCounts)
    read_as: str | None = None
    """How the file was read, where that was guessed."""

    @property
    def left_out(self) -> str | None:
        """A sentence on all that was left out; None where nothing was."""
        parts = list(_left_out(self.tally, self.cleaned))
        return f"Left out: {'; '.join(parts)}." if parts else None

    @property
    def users(self) -> int:
        """How many people wrote them."""
        return len(pc.unique(self.table["user"]))

    def most_active(self, most: int) -> list[tuple[str, int]]:
        """Who wrote most, with the number of posts."""
        counts = self.table.group_by("user").aggregate([("text", "count")])
        first = counts.sort_by([("text_count", "descending"), ("user", "ascending")])[:most]
        return list(zip(first["user"].to_pylist(), first["text_count"].to_pylist(), strict=True))

    def posts_of(self, user: str) -> pa.Table:
        """The posts of one of them."""
        return self.table.filter(pc.equal(self.table["user"], user))


def read_pasted(text: str, now: datetime) -> ReceivedPosts:
    """Posts apart by blank lines or, where there is none, by lines; a date may come first."""
    pieces = [piece for piece in re.split(r"\n[ \t]*\n", _lines(text)) if piece.strip()]
    if len(pieces) == 1:
        pieces = [line for line in pieces[0].split("\n") if line.strip()]
    if not pieces:
        raise CorpusError("There is no text to look at: write or paste at least one post.")
    posts = [_split_date(piece, now) for piece in pieces]
    times, texts = zip(*posts, strict=True)
    table = pa.table([[ME] * len(posts), list(times), list(texts)], schema=POSTS)
    return _clean(ReceivedPosts(table, Tally(rows_kept=len(posts))))


def read_uploaded(
    path: Path,
    columns: Mapping[str, str | int],
    timezone: str,
    *,
    only_mine: bool,
    header: bool = True,
    dates: DateOrder = "iso",
) -> ReceivedPosts:
    """Read a file that was sent; ``only_mine``: all its posts are theirs, whoever it names."""
    told = ReadOptions(
        columns=_drop_user(columns, only_mine=only_mine),
        timezone=timezone,
        max_line_bytes=LONGEST_POST_BYTES,
        header=header,
        dates=dates,
    )
    wanted = pa.schema([POSTS.field("time"), POSTS.field("text")]) if only_mine else POSTS
    options = guessed_reading(path, wanted, told).options
    # Whose posts they are need not be said: the text, surely a string, stands in for the user.
    stand_in = {"user": options.columns.get("text", "text")} if only_mine else {}
    read = replace(options, columns={**options.columns, **stand_in})
    corpus = open_posts(path, options=read)
    table = pa.Table.from_batches(_limit_size(corpus), POSTS)
    if only_mine:
        mine = pa.repeat(pa.scalar(ME), table.num_rows)
        table = table.set_column(0, POSTS.field("user"), mine)
    return _clean(ReceivedPosts(table, corpus.tally, read_as=_read_as(told, options)))


def _drop_user(columns: Mapping[str, str | int], *, only_mine: bool) -> Mapping[str, str | int]:
    return {role: key for role, key in columns.items() if role != "user" or not only_mine}


def cleaned_table(table: pa.Table, counts: CleaningCounts) -> pa.Table:
    """Without what is not the authors' own, and without the posts of nobody, as assess does it."""
    batches = [clean_posts(batch, counts) for batch in while_wanted(table.to_batches())]
    return pa.Table.from_batches(batches, POSTS).combine_chunks()


def _clean(received: ReceivedPosts) -> ReceivedPosts:
    counts = CleaningCounts()
    return replace(received, table=cleaned_table(received.table, counts), cleaned=counts)


def _read_as(told: ReadOptions, read: ReadOptions) -> str | None:
    """How a file was read, in a sentence; None where nothing was guessed."""
    parts = [
        f"{_ROLES[role]}: {key if isinstance(key, str) else f'column {key + 1}'}"
        for role, key in read.columns.items()
        if role not in told.columns
    ]
    if read.dates != told.dates:
        parts.append(f"times like {_DATES[read.dates]}")
    if read.encoding != told.encoding:
        parts.append(f"characters in {read.encoding}")
    return f"How the file was read: {'; '.join(parts)}." if parts else None


def _left_out(tally: Tally, cleaned: CleaningCounts) -> Iterator[str]:
    """The parts of a sentence that begins with "Left out:"."""
    if unread := tally.skipped.total():
        yield f"{unread:,} {'row' if unread == 1 else 'rows'} that could not be read"
    if cleaned.nobodys:
        yield f"{_posts(cleaned.nobodys)} of deleted or anonymous authors or of programs"
    steps = [f"{name} in {_posts(cleaned.steps[name])}" for name, _ in STEPS if cleaned.steps[name]]
    if steps:
        yield f"what is not the authors' own: {', '.join(steps)}"
    if cleaned.emptied:
        rest = "holds" if cleaned.emptied == 1 else "hold"
        yield f"{_posts(cleaned.emptied)} {rest} nothing else"


def _posts(number: int) -> str:
    return f"{number:,} {'post' if number == 1 else 'posts'}"


def safe_name(name: str) -> str:
    """A name of our own for a file called ``name``: only what tells its format is kept."""
    suffixes = [each.lower() for each in PurePosixPath(name.replace("\\", "/")).suffixes[-2:]]
    compressed = suffixes[-1] if suffixes and suffixes[-1] in COMPRESSIONS else ""
    kinds = suffixes[:-1] if compressed else suffixes
    if not kinds or kinds[-1] not in FILE_SUFFIXES:
        known = ", ".join(sorted(FILE_SUFFIXES))
        raise CorpusError(f"The file's name must end in one of {known}, so that it can be read.")
    return f"posts{kinds[-1]}{compressed}"


def page_message(error: SottovoceError, path: Path) -> str:
    """The error's sentence as a reader of the page needs it: without our path and the options."""
    words = str(error).replace(str(path), "the file")
    words = _HOW_TO_NAME.sub("", words).replace(" for user;", ";")
    words = _HOW_TO_READ.sub("", words)
    words = _HOW_TO_ANSWER.sub(" Choose it below.", _HOW_TO_PART.sub("", words))
    words = _HOW_TO_DECODE.sub("Convert", words.removeprefix("the file: "))
    words = _HOW_TO_MAP.sub("Choose below which one it is.", words)
    return words[:1].upper() + words[1:]


def _limit_size(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    posts = size = 0
    for batch in batches:
        posts, size = posts + batch.num_rows, size + batch.nbytes
        if posts > MOST_POSTS or size > MOST_BYTES:
            raise InputError(
                f"The file holds more than the {MOST_POSTS:,} posts or {size_in_words(MOST_BYTES)} "
                "that are read at once; bring a part of it."
            )
        yield batch


def _lines(text: str) -> str:
    # A lone surrogate is no character, and cannot be kept.
    whole = text.encode("utf-8", "replace").decode()
    return whole.replace("\r\n", "\n").replace("\r", "\n")


def _split_date(piece: str, now: datetime) -> tuple[datetime, str]:
    found = _DATED.match(piece)
    if found is None:
        return now, piece.strip()
    try:
        time = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
    except ValueError:
        return now, piece.strip()
    rest = piece[found.end() :].strip()
    return (time, rest) if rest else (now, piece.strip())


LONGEST_EXAMPLE = 60


@dataclass(frozen=True)
class FileColumn:
    """One column: how the reader is to be told of it, its name, and what stands in it first."""

    key: str
    name: str
    example: str


@dataclass(frozen=True, eq=False)
class KeptFile:
    """A file in a folder of its own."""

    folder: TemporaryDirectory[str]
    path: Path
    columns: tuple[FileColumn, ...]

    @property
    def by_position(self) -> bool:
        """Whether its columns are told by position, so that it need have no header row."""
        return format_by_name(self.path) in {Format.CSV, Format.TSV}

    def mapping(self, chosen: Mapping[str, str]) -> dict[str, str | int]:
        """The columns that were chosen, as the reader takes them."""
        known = {column.key for column in self.columns}
        found = {field: key for field, key in chosen.items() if key in known}
        if self.by_position:
            return {field: int(key) for field, key in found.items()}
        return dict(found)

    def likely(self, field: str) -> str | None:
        """The key of the column that is probably meant."""
        samples = [ColumnSample(column.key, column.name, ()) for column in self.columns]
        found = likely_column(samples, field)
        return None if found is None else str(found.key)

    def discard(self) -> None:
        """Delete it."""
        self.folder.cleanup()


def columns_of(path: Path) -> tuple[FileColumn, ...]:
    """The columns of a file with their first values; none where it is no table at all."""
    return tuple(
        FileColumn(
            str(column.key),
            _example(column.name),
            next(filter(None, map(_example, column.values)), ""),
        )
        for column in sample_columns(path)
    )


def _example(value: str) -> str:
    text = " ".join(value.split())
    return f"{text[:LONGEST_EXAMPLE]}…" if len(text) > LONGEST_EXAMPLE else text
