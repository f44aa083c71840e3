"""Posts as they come in: pasted, or in a file of any format that the corpus reader knows."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.reading import Format, ReadOptions, open_posts
from sottovoce.corpus.reading.opening import COMPRESSIONS
from sottovoce.corpus.reading.options import MIB, RAISE_THE_LIMIT, SUFFIXES
from sottovoce.corpus.reading.tally import Tally
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CorpusError, InputError, SottovoceError
from sottovoce.web.security.body_limit import size_in_words

ME = "me"
MOST_POSTS = 2_000_000
MOST_BYTES = 1024 * MIB
"""In memory: a small file of Parquet may hold much more than its size."""
LONGEST_POST_BYTES = MIB
_DATED = re.compile(r"\s*(\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?)\b[\s:,;-]*")
ENDINGS = tuple(ending for ending, kind in SUFFIXES.items() if kind is not Format.LINES)
"""Of files that can be brought: plain lines would say neither whose posts they are nor when."""
_HOW_TO_MAP = re.compile(r"(Map it|map (\w+) by position): .*$", re.DOTALL)
_HOW_TO_NAME = re.compile(r" If the file has no header row, .*", re.DOTALL)
_HOW_TO_READ = re.compile(
    rf"(, or|;) {re.escape(RAISE_THE_LIMIT)}|pass its encoding \([^)]*\) or ", re.DOTALL
)


@dataclass(frozen=True)
class Arrival:
    """Posts that were read, and what was left out of them."""

    table: pa.Table
    tally: Tally

    @property
    def users(self) -> int:
        """How many people wrote them."""
        return len(pc.unique(self.table["user"]))

    def most_active(self, most: int) -> list[tuple[str, int]]:
        """Who wrote most, with the number of posts."""
        counts = self.table.group_by("user").aggregate([("text", "count")])
        first = counts.sort_by([("text_count", "descending"), ("user", "ascending")])[:most]
        return list(zip(first["user"].to_pylist(), first["text_count"].to_pylist(), strict=True))

    def of(self, user: str) -> pa.Table:
        """The posts of one of them."""
        return self.table.filter(pc.equal(self.table["user"], user))


def pasted(text: str, now: datetime) -> Arrival:
    """Posts apart by blank lines or, where there is none, by lines; a date may come first."""
    pieces = [piece for piece in re.split(r"\n[ \t]*\n", _lines(text)) if piece.strip()]
    if len(pieces) == 1:
        pieces = [line for line in pieces[0].split("\n") if line.strip()]
    if not pieces:
        raise CorpusError("There is no text to look at: write or paste at least one post.")
    posts = [_dated(piece, now) for piece in pieces]
    times, texts = zip(*posts, strict=True)
    table = pa.table([[ME] * len(posts), list(times), list(texts)], schema=POSTS)
    return Arrival(table, Tally(rows_kept=len(posts)))


def uploaded(path: Path, columns: Mapping[str, str], timezone: str, *, only_mine: bool) -> Arrival:
    """Read a file that was sent; ``only_mine``: all its posts are hers, whoever it names."""
    options = ReadOptions(
        columns=dict(columns), timezone=timezone, max_line_bytes=LONGEST_POST_BYTES
    )
    if only_mine:
        # Whose posts they are need not be said: the text, surely a string, stands in for the user.
        stand_in = options.columns.get("text", "text")
        options = ReadOptions(
            columns={**columns, "user": stand_in},
            timezone=timezone,
            max_line_bytes=LONGEST_POST_BYTES,
        )
    corpus = open_posts(path, options=options)
    table = pa.Table.from_batches(_bounded(corpus), POSTS).combine_chunks()
    if only_mine:
        mine = pa.repeat(pa.scalar(ME), table.num_rows)
        table = table.set_column(0, POSTS.field("user"), mine)
    return Arrival(table, corpus.tally)


def safe_name(name: str) -> str:
    """A name of our own for a file called ``name``: only what tells its format is kept."""
    suffixes = [each.lower() for each in PurePosixPath(name.replace("\\", "/")).suffixes[-2:]]
    compressed = suffixes[-1] if suffixes and suffixes[-1] in COMPRESSIONS else ""
    kinds = suffixes[:-1] if compressed else suffixes
    if not kinds or kinds[-1] not in ENDINGS:
        known = ", ".join(sorted(ENDINGS))
        raise CorpusError(f"The file's name must end in one of {known}, so that it can be read.")
    return f"posts{kinds[-1]}{compressed}"


def on_the_page(error: SottovoceError, path: Path) -> str:
    """The error's sentence as a reader of the page needs it: without our path and the options."""
    words = str(error).replace(str(path), "the file")
    words = _HOW_TO_NAME.sub("", words).replace(" for user;", ";")
    words = _HOW_TO_READ.sub("", words)
    words = _HOW_TO_MAP.sub("Say under 'Columns of the file' which one it is.", words)
    return words[:1].upper() + words[1:]


def _bounded(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
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


def _dated(piece: str, now: datetime) -> tuple[datetime, str]:
    found = _DATED.match(piece)
    if found is None:
        return now, piece.strip()
    try:
        time = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
    except ValueError:
        return now, piece.strip()
    rest = piece[found.end() :].strip()
    return (time, rest) if rest else (now, piece.strip())
