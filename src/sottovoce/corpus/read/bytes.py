"""A file's bytes, decompressed and in UTF-8, in chunks or blocks of lines; columns as valid UTF-8.

Memory is bounded, and every failure is a CorpusError.
"""

import codecs
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read.tally import ReadOptions, Skip, Tally
from sottovoce.errors import CorpusError
from sottovoce.files import cause_of

CHUNK_BYTES = 1024 * 1024
HEAD_BYTES = 4 * CHUNK_BYTES
# What a file may unfold to: so much, and so many times its own size. Texts come to 3 to 10 times.
ALWAYS_READ, TIMES_ITS_SIZE = 64 * CHUNK_BYTES, 20
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
SNIFFED_BYTES = 4096
NUL_SHARE_OF_UTF16 = 0.3
_ZIP, _OLD_OFFICE = b"PK\x03\x04", bytes.fromhex("d0cf11e0a1b11ae1")
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"
_SAVE_AS_CSV = "open it, choose Save As, CSV (UTF-8), and give that file"


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn whatever goes wrong while reading into a CorpusError without a word of the file."""
    try:
        yield
    except (OSError, EOFError, zlib.error, pa.ArrowException, UnicodeError) as error:
        raise CorpusError(f"cannot read {name}: {cause_of(error)}.") from None


def check_file(path: Path) -> None:
    """Refuse what is no ordinary file before anything waits on it."""
    with readable(str(path)):
        try:
            status = path.stat()
        except ValueError:
            raise CorpusError("a path cannot hold a NUL character.") from None
    if not stat.S_ISREG(status.st_mode):
        raise CorpusError(f"cannot read {path}: it is a folder or device, not a file.")
    if status.st_size == 0:
        raise CorpusError(f"{path} is empty.")
    _refuse_spreadsheet(path)


def _refuse_spreadsheet(path: Path) -> None:
    """Say of a spreadsheet or an archive, whatever its name, what makes a table of it."""
    with readable(str(path)), path.open("rb") as file:
        start = file.read(SNIFFED_BYTES)
    if start.startswith(_OLD_OFFICE):
        raise CorpusError(f"{path} is an Excel file: {_SAVE_AS_CSV}.")
    if not start.startswith(_ZIP):
        return
    if _ODS in start:
        raise CorpusError(f"{path} is a spreadsheet of LibreOffice: {_SAVE_AS_CSV}.")
    if b"[Content_Types].xml" in start or path.suffix.lower() in {".xlsx", ".xlsm"}:
        raise CorpusError(f"{path} is an Excel file: {_SAVE_AS_CSV}.")
    raise CorpusError(f"{path} is a zip archive: unpack it, and give the file that is in it.")


def without_compression(path: Path) -> Path:
    """``posts.csv`` for ``posts.csv.gz``."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def opening(path: Path) -> bytes:
    """The first bytes of a file, decompressed, up to the last line's end among them."""
    start = next(_decompress_file(path), b"")
    return start[: start.rfind(b"\n") + 1] or start


def utf8_chunks(path: Path, options: ReadOptions) -> Iterator[bytes]:
    """The file's text as chunks of UTF-8 of at most a few MiB, without a byte order mark.

    What the encoding does not allow becomes the byte FF, which no UTF-8 text holds, so that the
    rows concerned are found and repaired downstream like any other damaged text.
    """
    chunks = _decompress_file(path)
    if codecs.lookup(options.encoding).name in {"utf-8", "utf-8-sig"}:
        return _checked_utf8(chunks, path)
    return _transcode(chunks, options.encoding, path)


def head(path: Path, options: ReadOptions) -> str:
    """The start of the file, enough to hold its first row."""
    start = b""
    for chunk in utf8_chunks(path, options):
        start += chunk
        if len(start) >= HEAD_BYTES:
            break
    if not start.strip():
        raise CorpusError(f"{path} is empty.")
    return start[:HEAD_BYTES].decode("utf-8", "replace")


class Growth:
    """What is read of a file, refused where it comes to far more than its size.

    So the work on a file is bounded by its bytes, whatever few of them stand for.
    """

    def __init__(self, path: Path, what: str = "unfolds to") -> None:
        self._path, self._what = path, what
        self._most = ALWAYS_READ + TIMES_ITS_SIZE * path.stat().st_size
        self._read = 0

    def add(self, size: int) -> None:
        """Count what is about to be read."""
        self._read += size
        if self._read > self._most:
            raise CorpusError(
                f"{self._path} {self._what} more than {self._most} bytes, which is "
                f"{TIMES_ITS_SIZE} times its size and {ALWAYS_READ} more, the most that is read. "
                "If you trust it, unpack it or write it uncompressed, and give that file."
            )


def _decompress_file(path: Path) -> Iterator[bytes]:
    with readable(str(path)), pa.OSFile(str(path)) as file:
        codec = COMPRESSIONS.get(path.suffix.lower())
        stream = pa.CompressedInputStream(file, codec) if codec else file
        growth = Growth(path)
        while chunk := stream.read(CHUNK_BYTES):
            growth.add(len(chunk))
            yield chunk


def _checked_utf8(chunks: Iterator[bytes], path: Path) -> Iterator[bytes]:
    first = next(chunks, b"")
    _refuse_utf16(first[:SNIFFED_BYTES], path)
    yield first.removeprefix(codecs.BOM_UTF8)
    yield from chunks


def _refuse_utf16(start: bytes, path: Path) -> None:
    marked = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if marked or start.count(0) > NUL_SHARE_OF_UTF16 * len(start):
        raise CorpusError(
            f"{path} seems to be UTF-16 or binary, not UTF-8: pass its encoding "
            "(--encoding utf-16, or in Python encoding='utf-16') or convert it."
        )


def _transcode(chunks: Iterator[bytes], encoding: str, path: Path) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors=UNDECODABLE)
    with readable(str(path)):
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "surrogateescape")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")


def _mark_undecodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    # The surrogate that "surrogateescape" encodes as the byte FF.
    return "\udcff", error.end


UNDECODABLE = "sottovoce.undecodable"
codecs.register_error(UNDECODABLE, _mark_undecodable)


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


PIECES, SMALLEST_PIECE = 16, 128
ArrayFunction = Callable[[pa.Array], pa.Array]


def piecewise(array: pa.Array, fast: ArrayFunction, slow: ArrayFunction) -> pa.Array:
    """``fast(array)``, cut up where it raises ArrowInvalid until ``slow`` takes the last pieces."""
    pieces = _pieces(array, fast, slow)
    return pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)


def _pieces(array: pa.Array, fast: ArrayFunction, slow: ArrayFunction) -> list[pa.Array]:
    try:
        return [fast(array)]
    except pa.ArrowInvalid:
        if len(array) <= SMALLEST_PIECE:
            return [slow(array)]
    step = -(-len(array) // PIECES)
    cuts = [array[start : start + step] for start in range(0, len(array), step)]
    return [piece for cut in cuts for piece in _pieces(cut, fast, slow)]


def as_bytes(array: pa.Array) -> pa.Array:
    """Strings, bytes, integers, booleans and dictionaries of them as one binary array."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return as_bytes(array.dictionary).take(array.indices)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        array = array.cast(pa.string())
    return array.cast(pa.binary())


def repair_strings(encoded: pa.Array) -> pa.Array:
    """As strings; bytes that are no UTF-8 become U+FFFD, as ``errors="replace"`` does."""
    return piecewise(encoded, _valid, lambda piece: _decode_values(piece, _replacing))


def strict(encoded: pa.Array) -> pa.Array:
    """As strings; a value that is no UTF-8 becomes null."""
    return piecewise(encoded, _valid, lambda piece: _decode_values(piece, _or_none))


def _valid(encoded: pa.Array) -> pa.Array:
    return encoded.cast(pa.string())


def _decode_values(encoded: pa.Array, decode: Callable[[bytes], str | None]) -> pa.Array:
    values = [None if value is None else decode(value) for value in encoded.to_pylist()]
    return pa.array(values, pa.string())


def _replacing(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _or_none(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def byte_lengths(array: pa.Array) -> pa.Array:
    """How many bytes each value takes once expanded; 0 for null and for what is no string."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return byte_lengths(array.dictionary).take(array.indices).fill_null(0)
    if not is_string_like(kind):
        return pa.repeat(pa.scalar(0, pa.int64()), len(array))
    return pc.binary_length(without_views(array)).cast(pa.int64()).fill_null(0)


def without_views(array: pa.Array) -> pa.Array:
    """String views, for which Arrow lacks many functions, as plain bytes."""
    if pa.types.is_dictionary(array.type):
        values = without_views(array.dictionary)
        return pa.DictionaryArray.from_arrays(array.indices, values)
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        return array.cast(pa.large_binary())
    return array


def is_string_like(kind: pa.DataType) -> bool:
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )
