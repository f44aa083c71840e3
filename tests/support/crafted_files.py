"""Files of every kind that the product reads, of about ``size`` bytes: ordinary and the worst.

`ORDINARY` has one of each kind, by its name; `CRAFTED` the shapes that ask most of its reader.
"""

import bz2
import gzip
import io
import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

MIB = 1024 * 1024
TIME = "2024-05-01 13:45:00"
Maker = Callable[[int], bytes]
_HEX = "0123456789abcdef" * 4


def repeated(
    piece: str | bytes, size: int, start: str | bytes = "", end: str | bytes = ""
) -> bytes:
    """``start``, as many of ``piece`` as fit, ``end``."""
    whole, head, tail = (
        each if isinstance(each, bytes) else each.encode() for each in (piece, start, end)
    )
    return head + whole * max(1, (size - len(head) - len(tail)) // len(whole)) + tail


def numbered(row: Callable[[int], str], size: int, start: str = "", end: str = "") -> bytes:
    """``start``, rows with their numbers up to ``size`` bytes, ``end``."""
    rows, length, number = [start], len(start), 0
    while length < size:
        rows.append(row(number))
        length += len(rows[-1])
        number += 1
    return "".join([*rows, end]).encode()


def words_of(number: int) -> str:
    """A text that compresses as people's do."""
    return " ".join(f"w{number * 7919 * step % 4001}" for step in range(1, 16))


def _csv(size: int) -> bytes:
    return numbered(lambda n: f"user{n},{TIME},{words_of(n)}\n", size, "user,time,text\n")


def _tsv(size: int) -> bytes:
    return numbered(lambda n: f"user{n}\t{TIME}\t{words_of(n)}\n", size, "user\ttime\ttext\n")


def _jsonl(size: int) -> bytes:
    return numbered(
        lambda n: f'{{"user": "u{n}", "time": "{TIME}", "text": "{words_of(n)}"}}\n', size
    )


def _lines(size: int) -> bytes:
    return numbered(lambda n: f"{words_of(n)}\n", size)


def _aol(size: int) -> bytes:
    start = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    return numbered(lambda n: f"{n}\t{words_of(n)}\t{TIME}\t\t\n", size, start)


def table_bytes(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401 - of Arrow
    """A table as a Parquet file."""
    held = io.BytesIO()
    parquet.write_table(table, held, **options)
    return held.getvalue()


def posts_table(rows: int) -> pa.Table:
    return pa.table(
        {
            "user": [f"user{n % 997}" for n in range(rows)],
            "time": [TIME] * rows,
            "text": [words_of(n) for n in range(rows)],
        }
    )


def _parquet(size: int) -> bytes:
    return table_bytes(posts_table(max(10, size // 40)))


def _columns_of_one(values: dict[str, pa.Array], **options: Any) -> bytes:  # noqa: ANN401 - of Arrow
    return table_bytes(pa.table(values), **options)


def _tiny_pages(size: int) -> bytes:
    rows = size // 30
    table = pa.table({"user": ["a"] * rows, "time": [TIME] * rows, "text": ["x"] * rows})
    return table_bytes(
        table,
        data_page_size=1,
        write_batch_size=1,
        use_dictionary=False,
        compression="none",
        write_statistics=False,
    )


def _tiny_groups(size: int) -> bytes:
    return table_bytes(posts_table(max(2, size // 1000)), row_group_size=1)


def _many_columns(size: int) -> bytes:
    more = {f"c{n}": pa.array(["x"]) for n in range(max(1, size // 250))}
    return _columns_of_one({**_one_post(), **more}, write_statistics=False)


def _columns_and_groups(size: int) -> bytes:
    side = max(2, int((size / 150) ** 0.5))
    more = {f"c{n}": pa.array(["x"] * side) for n in range(side)}
    base = {name: pa.concat_arrays([column] * side) for name, column in _one_post().items()}
    return _columns_of_one({**base, **more}, row_group_size=1, write_statistics=False)


def _one_post(text: str = "x") -> dict[str, pa.Array]:
    return {"user": pa.array(["a"]), "time": pa.array([TIME]), "text": pa.array([text])}


def _repeat(value: str, rows: int) -> pa.DictionaryArray:
    """One value many times, which a file holds once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([value]))


def _dictionary_bomb(size: int) -> bytes:
    """One value of a MiB, and indices to it: a byte of the file stands for a MiB."""
    rows = size * 8
    other = _repeat(TIME, rows)
    table = pa.table({"user": other, "time": other, "text": _repeat("x" * MIB, rows)})
    return table_bytes(table, compression="zstd", store_schema=False)


def _large_dictionary(size: int) -> bytes:
    """A dictionary of half the file, and many rows that point to it."""
    rows = size // 4
    values = pa.array([f"{n:08d}" for n in range(max(1, size // 24))])
    places = pa.array(np.arange(rows, dtype=np.int32) % len(values))
    text = pa.DictionaryArray.from_arrays(places, values)
    times = _repeat(TIME, rows)
    table = pa.table({"user": times, "time": times, "text": text})
    return table_bytes(table, compression="none", dictionary_pagesize_limit=1 << 30)


def _delta_bomb(size: int) -> bytes:
    rows = max(2, size // 8)
    values = pa.array(["x" * (64 * 1024)] * min(rows, 8000))
    table = pa.table({"user": values, "time": [TIME] * len(values), "text": values})
    return table_bytes(
        table,
        use_dictionary=False,
        column_encoding=dict.fromkeys(("user", "text"), "DELTA_BYTE_ARRAY") | {"time": "PLAIN"},
        compression="zstd",
        store_schema=False,
    )


def _null_rows(size: int) -> bytes:
    """Rows without any value: a page of a few bytes stands for millions."""
    rows = size * 20
    table = pa.table({name: pa.nulls(rows, pa.string()) for name in ("user", "time", "text")})
    return table_bytes(table, compression="zstd")


def _nested_columns(size: int) -> bytes:
    """Columns of lists beside the posts, which looking at the first rows unfolds."""
    values = ["x" * 100_000]
    many = pa.ListArray.from_arrays([0, 50], pa.array(values * 50))
    more = {f"c{n}": many for n in range(max(1, size // 1000))}
    return _columns_of_one({**_one_post(), **more}, compression="zstd")


def _wide_sample(size: int) -> bytes:
    """Columns of a few long values that a dictionary repeats for each of the first rows."""
    long = _repeat("x" * (MIB // 4), 200)
    table = pa.table({f"c{n}": long for n in range(min(max(1, size // 1100), 900))})
    return table_bytes(table, compression="zstd", store_schema=False, write_statistics=False)


def _zipped(pack: Callable[[bytes], bytes], make: Maker) -> Maker:
    return lambda size: pack(make(3 * size))


def _bomb(pack: Callable[[bytes], bytes], piece: str, start: str, times: int) -> Maker:
    return lambda size: pack(repeated(piece, min(size * times, 512 * MIB), start))


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 9 if len(data) < MIB else 6)


_CATALOGUE = '[[topic]]\nname = "t%d"\ndomain = "d"\nsensitive = true\nwords = ["a%d", "b%d"]\n'


def _catalogue(size: int) -> bytes:
    return numbered(lambda n: _CATALOGUE % (n, n, n), size)


def _card(size: int) -> bytes:
    return numbered(lambda n: f'"declared {n} {words_of(n)}", ', size, '{"a": [', '"z"]}')


def _model_card(size: int) -> bytes:
    return numbered(
        lambda n: f'"{words_of(n)}", ',
        size,
        '{"format": "sottovoce-model", "version": 1, "a": [',
        '"z"]}',
    )


def archive(parts: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive of these files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", kind) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return held.getvalue()


def npy(array: Any, shape: tuple[int, ...] | None = None) -> bytes:  # noqa: ANN401 - of numbers
    """An array's file; with ``shape``, one that claims to have that shape."""
    held = io.BytesIO()
    values = np.asarray(array)
    if shape is None:
        np.lib.format.write_array(held, values, allow_pickle=False)
        return held.getvalue()
    claimed = {"descr": values.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(held, claimed)
    return held.getvalue() + values.tobytes()


def counts_file(rows: int, kind: int = zipfile.ZIP_STORED, **other: bytes) -> bytes:
    """A release's matrix of counts, three cells a row; ``other`` arrays in the place of its own."""
    parts = {
        "indices": npy(np.tile(np.arange(3, dtype="<i4"), rows)),
        "indptr": npy(np.arange(rows + 1, dtype="<i8") * 3),
        "format": npy(np.array(b"csr")),
        "shape": npy(np.array([rows, 3])),
        "data": npy(np.ones(3 * rows, "<i8")),
    }
    return archive({f"{name}.npy": data for name, data in (parts | other).items()}, kind)


def _ranks_csv(size: int) -> bytes:
    return numbered(
        lambda n: f"m,user{n},topic{n % 7},{1 / (n + 1)}\n", size, "measure,user,topic,score\n"
    )


def _ranks_jsonl(size: int) -> bytes:
    line = '{"measure": "m", "user": "u%d", "topic": "t%d", "score": 0.5}\n'
    return numbered(lambda n: line % (n, n % 7), size)


def _ranks_table(rows: int) -> pa.Table:
    return pa.table(
        {
            "measure": ["m"] * rows,
            "user": [f"user{n}" for n in range(rows)],
            "topic": ["t"] * rows,
            "score": np.arange(rows) / 7,
        }
    )


def _ranks_parquet(size: int) -> bytes:
    return table_bytes(_ranks_table(max(10, size // 16)))


def _ranks_bomb(size: int) -> bytes:
    rows = size * 8
    long = _repeat("x" * 1000, rows)
    table = pa.table({"measure": long, "user": long, "topic": long, "score": np.zeros(rows)})
    return table_bytes(table, compression="zstd", store_schema=False)


def _truth(size: int) -> bytes:
    return numbered(lambda n: f"user{n},debt,true,0.5\n", size, "user,topic,sensitive,grade\n")


def _votes(size: int) -> bytes:
    return numbered(
        lambda n: f"judge{n % 7},t-{n},yes,law\n", size, "judge,item,sensitive,domain\n"
    )


def _vocabulary(size: int) -> bytes:
    return numbered(lambda n: f"word{n}\n", size)


def _mallet(size: int, topics: int = 20) -> bytes:
    start = "#doc source pos typeindex type topic\n#alpha : " + "0.1 " * topics + "\n#beta : 0.01\n"
    return numbered(
        lambda n: f"{n // 50} file {n % 50} {n % 997} w{n % 997} {n % topics}\n", size, start
    )


def _vectors(size: int) -> bytes:
    return numbered(lambda n: f"w{n} " + " ".join(["0.125"] * 50) + "\n", size)


def _binary_vectors(size: int) -> bytes:
    words = max(1, size // 420)
    rows = b"".join(f"w{n} ".encode() + np.full(100, 0.5, "<f4").tobytes() for n in range(words))
    return f"{words} 100\n".encode() + rows


def _record(size: int) -> bytes:
    return numbered(lambda n: f'"field {n}": "{words_of(n)}", ', size, "{", '"z": 1}')


def _roster(size: int) -> bytes:
    return numbered(
        lambda n: (
            f'[[party]]\nname = "p{n}"\nrole = "peer"\naddress = "h:{n}"\nfingerprint = "{_HEX}"\n'
        ),
        size,
    )


def _counts_together(size: int) -> bytes:
    from sottovoce.learn.wire.codec import encode_value  # noqa: PLC0415 - few files need it

    return encode_value({"words": tuple(f"word{n}" for n in range(max(1, size // 12)))})


def _frequencies(size: int) -> bytes:
    return numbered(lambda n: f"word{n}\t{n + 1}\n", size)


def _profile_key(size: int) -> bytes:
    entry = '{"item": "p-%d", "user": "u%d", "topic": "t"},\n'
    start = '{"format": "sottovoce-profiles-1", "profiles": ['
    return numbered(lambda n: entry % (n, n), size, start, '{"item":"a","user":"b","topic":"c"}]}')


ORDINARY: dict[str, Maker] = {
    "posts.csv": _csv,
    "posts.tsv": _tsv,
    "posts.jsonl": _jsonl,
    "posts.parquet": _parquet,
    "posts.csv.gz": _zipped(_gzip, _csv),
    "posts.jsonl.zst": _zipped(zstd, _jsonl),
    "posts.tsv.bz2": _zipped(bz2.compress, _tsv),
    "documents.txt": _lines,
    "log.aol": _aol,
    "truth.csv": _truth,
    "catalogue.toml": _catalogue,
    "roster.toml": _roster,
    "release-card.json": _card,
    "counts.npz": lambda size: counts_file(max(1, size // 44)),
    "model-card.json": _model_card,
    "vocabulary.txt": _vocabulary,
    "frequencies.tsv": _frequencies,
    "ranks.csv": _ranks_csv,
    "ranks.jsonl": _ranks_jsonl,
    "ranks.parquet": _ranks_parquet,
    "votes.csv": _votes,
    "profiles.json": _profile_key,
    "state.mallet": _mallet,
    "vectors.txt": _vectors,
    "vectors.bin": _binary_vectors,
    "together.counts": _counts_together,
    "rules.json": _record,
}

_HEAD = "user,time,text\n"
_PLAIN = f"a,{TIME},x\n"
_JSON_LINE = f'{{"user": "a", "time": "{TIME}", "text": "x"}}\n'
_JSON_SHAPES: dict[str, Maker] = {
    "nested lists": lambda size: repeated("[", size),
    "nested objects": lambda size: repeated('{"a":', size),
    "empty objects": lambda size: repeated("{},", size, '{"a": [', "1]}"),
    "empty lists": lambda size: repeated("[],", size, '{"a": [', "1]}"),
    "one long number": lambda size: repeated("7", size, '{"a": ', "}"),
    "long numbers": lambda size: repeated("7" * 4000 + ",", size, '{"a": [', "1]}"),
    "escapes": lambda size: repeated("\\ud800", size, '{"a": "', '"}'),
    "many keys": lambda size: numbered(lambda n: f'"{n}":1,', size, "{", '"z":1}'),
    "not closed": lambda size: repeated('"', size, '{"a": ['),
}
_TOML_SHAPES: dict[str, Maker] = {
    "dotted key": lambda size: repeated("a.", size, "", "a = 1\n"),
    "dotted header": lambda size: repeated("a.", size, "[", "a]\n"),
    "dotted table array": lambda size: repeated("a.", size, "[[", "a]]\n"),
    "quoted dotted key": lambda size: repeated('"," . ', size, "", "a = 1\n"),
    "dotted inline": lambda size: repeated("a.", size, "t = {", "a = 1}\n"),
    "dotted keys": lambda size: repeated("a." * 40 + "b%d = 1\n", size),
    "many dotted keys": lambda size: numbered(lambda n: "a." * 40 + f"b{n} = 1\n", size),
    "many headers": lambda size: numbered(lambda n: f"[{'a.' * 20}b{n}]\n", size),
    "many table arrays": lambda size: repeated("[[a]]\n", size),
    "nested arrays": lambda size: repeated("[", size, "a = "),
    "nested tables": lambda size: repeated("{a=", size, "a = "),
    "escapes": lambda size: repeated("\\n", size, 'a = "', '"\n'),
    "line continuations": lambda size: repeated("\\\n  ", size, 'a = """', '"""\n'),
    "quotes": lambda size: repeated('"" ', size, 'a = """', '"""\n'),
    "long number": lambda size: repeated("7", size, "a = ", "\n"),
    "many keys": lambda size: numbered(lambda n: f"k{n}=1\n", size),
    "many numbers": lambda size: repeated("1,", size, "a = [", "1]\n"),
    "many tables": lambda size: repeated("{},", size, "a = [", "{}]\n"),
    "comments": lambda size: repeated("#\n", size),
    "underscored number": lambda size: repeated("1_", size, "a = ", "1\n"),
    "blanks": lambda size: repeated(" ", size, "a", "= 1\n"),
    "long bare key": lambda size: repeated("k", size, "", "\n"),
    "quotes without end": lambda size: repeated("'a'", size),
}


def _in_tables(d: str) -> dict[str, Maker]:
    """The shapes of a table whose delimiter is this."""
    names, row, mark = d.join(("user", "time", "text")), f"a{d}{TIME}{d}x\n", f"{d}{TIME}{d}"
    head = names + "\n"
    sound = 31 * f"b{mark}x\n".encode()
    return {
        "short rows": lambda size: repeated("a\n", size, head),
        "blank rows": lambda size: repeated("\n", size, head + row),
        "carriage returns": lambda size: repeated("\r", size, head + row),
        "only delimiters": lambda size: repeated(d, size, head + row),
        "empty values": lambda size: repeated(f"{d}{d}\n", size, head),
        "many columns": lambda size: (
            repeated(d + "c", size // 2, names) + repeated(d + "x", size // 2, f"\na{mark}x", "\n")
        ),
        "columns by number": _wide(names, row, d),
        "one long row": lambda size: repeated("x", size, f"{head}a{mark}"),
        "a long time": lambda size: repeated("1", size, f"{head}a{d}", f"{d}x\n"),
        "odd times": lambda size: repeated(f"a{d}1:1:1 1/1/1{d}x\n", size, head),
        "different odd times": lambda size: numbered(
            lambda n: f"a{d}2024-99-99 {n}{d}x\n", size, head
        ),
        "NUL bytes": lambda size: repeated("a\0" * 4 + mark + "\0x\n", size, head),
        "bytes of no encoding": lambda size: repeated(
            b"\xe9a" + mark.encode() + b"\xe9\xff\n", size, head
        ),
        "one byte of no encoding in many": lambda size: repeated(
            f"a{mark}".encode() + b"x\xff\n" + sound, size, head
        ),
    }


def _wide(names: str, row: str = "", delimiter: str = ",") -> Maker:
    """A header of many more names, and a row."""
    return lambda size: numbered(lambda n: f"{delimiter}c{n}", size, names, "\n" + row)


_PARQUET_SHAPES: dict[str, Maker] = {
    "tiny pages": _tiny_pages,
    "tiny row groups": _tiny_groups,
    "many columns": _many_columns,
    "columns and row groups": _columns_and_groups,
    "dictionary bomb": _dictionary_bomb,
    "large dictionary": _large_dictionary,
    "delta bomb": _delta_bomb,
    "rows of nothing": _null_rows,
    "lists beside": _nested_columns,
    "long values beside": _wide_sample,
}
_QUOTES: dict[str, Maker] = {
    "open quote": lambda size: repeated("x\n", size, _HEAD + f'a,{TIME},"'),
    "quotes": lambda size: repeated('"', size, _HEAD + f"a,{TIME},"),
    "quoted letters": lambda size: repeated('"x",', size, _HEAD + f"a,{TIME},"),
    "quotes within": lambda size: repeated('x"x\n', size, _HEAD + f"a,{TIME},"),
    "quotes at starts": lambda size: repeated('"\n', size, _HEAD + f"a,{TIME},"),
    "quote after delimiter": lambda size: repeated(',"', size, _HEAD + f"a,{TIME},"),
}


def numbered_vectors(size: int) -> bytes:
    words = max(1, size // 8)
    return f"{words} 1\n".encode() + b"".join(b"%d " % n + bytes(4) for n in range(words))


def _beside_a_line(make: Maker, size: int) -> bytes:
    return make(size) + b"\n" + _JSON_LINE.encode()


CRAFTED: dict[str, dict[str, Maker]] = {
    "posts.csv": {**_in_tables(","), **_QUOTES},
    "posts.tsv": _in_tables("\t"),
    "posts.jsonl": {
        **{f"line: {name}": partial(_beside_a_line, make) for name, make in _JSON_SHAPES.items()},
        "bad lines": lambda size: repeated("{\n", size, _JSON_LINE),
        "a bad line in many": lambda size: repeated(_JSON_LINE * 60 + "{\n", size, _JSON_LINE),
        "wrong types": lambda size: repeated('{"user":[],"time":1,"text":1}\n', size, _JSON_LINE),
        "empty objects": lambda size: repeated("{}\n", size, _JSON_LINE),
        "other keys": lambda size: numbered(lambda n: f'{{"k{n}":0}}\n', size, _JSON_LINE),
        "blank lines": lambda size: repeated("\n", size, _JSON_LINE),
        "numbers as times": lambda size: repeated('{"user":"a","time":1e9,"text":"x"}\n', size),
        "deep in each line": lambda size: repeated(
            '{"user":"a","time":"2024-01-01","text":"x","o":' + "[" * 500 + "]" * 500 + "}\n", size
        ),
    },
    "posts.parquet": _PARQUET_SHAPES,
    "posts.csv.gz": {
        "bomb": _bomb(_gzip, _PLAIN, _HEAD, 400),
        "bomb of blanks": _bomb(_gzip, "\n", _HEAD + _PLAIN, 900),
    },
    "posts.jsonl.zst": {"bomb": _bomb(zstd, _JSON_LINE, "", 4000)},
    "posts.tsv.bz2": {"bomb": _bomb(bz2.compress, f"a\t{TIME}\tx\n", "user\ttime\ttext\n", 4000)},
    "documents.txt": {
        "blank lines": lambda size: repeated("\n", size, "a\n"),
        "lines of blanks": lambda size: repeated(" ", size, "a\n", "\na\n"),
        "one long line": lambda size: repeated("x", size),
        "one letter a line": lambda size: repeated("x\n", size),
        "bytes of no encoding": lambda size: repeated(b"a \xff\n", size, b"a\n" * 100),
    },
    "log.aol": {
        "short rows": lambda size: repeated("a\n", size, _aol(1)),
        "repeats": lambda size: repeated(f"1\tx\t{TIME}\t\t\n", size, _aol(1)),
    },
    "truth.csv": {
        "repeats": lambda size: repeated("a,b,true,1\n", size, "user,topic,sensitive,grade\n"),
        "many columns": _wide("user,topic,sensitive,grade", "a,b,true,1\n"),
    },
    "catalogue.toml": {
        **_TOML_SHAPES,
        "many words": lambda size: numbered(
            lambda n: f'"a{n}",',
            size,
            (_CATALOGUE % (1, 1, 1)).split("words")[0] + "words = [",
            "]\n",
        ),
        "same names": lambda size: repeated(_CATALOGUE % (1, 1, 1), size),
    },
    "roster.toml": _TOML_SHAPES,
    "release-card.json": _JSON_SHAPES,
    "model-card.json": _JSON_SHAPES,
    "rules.json": _JSON_SHAPES,
    "profiles.json": _JSON_SHAPES,
    "counts.npz": {
        "claims": lambda size: counts_file(
            size // 44,
            data=npy(np.ones(3, "<i8"), (2**40,)),
            indptr=npy(np.zeros(2, "<i8"), (2**36,)),
        ),
        "claimed shape": lambda size: counts_file(
            size // 44, shape=npy(np.ones(2, "<i8"), (2**33,))
        ),
        "claimed rows": lambda size: counts_file(size // 44, shape=npy(np.array([2**60, 2**60]))),
        "packed": lambda size: counts_file(min(size * 4, 4 * MIB), zipfile.ZIP_DEFLATED),
        "zeros": lambda size: counts_file(
            1,
            zipfile.ZIP_DEFLATED,
            indptr=npy(np.zeros(size * 100, "<i8")),
            shape=npy(np.array([size * 100 - 1, 3])),
        ),
        "many files": lambda size: archive({f"{n}": b"" for n in range(size // 80)}),
    },
    "vocabulary.txt": {
        "short lines": lambda size: repeated("ab\n", size),
        "blank lines": lambda size: repeated("\n", size, "word\n"),
        "one line": lambda size: repeated("a", size),
        "blanks": lambda size: repeated(" ", size, "a\n", "a\n"),
        "marks": lambda size: repeated("# sottovoce vocabulary ", size, "", "\n"),
    },
    "frequencies.tsv": {
        "short lines": lambda size: repeated("a\t1\n", size),
        "long number": lambda size: repeated("1", size, "a\t", "\n"),
        "tabs": lambda size: repeated("\t", size, "a", "1\n"),
    },
    "ranks.csv": {
        "many columns": _wide("measure,user,topic,score"),
        "short rows": lambda size: repeated("a\n", size, "measure,user,topic,score\nm,u,t,1\n"),
        "empty values": lambda size: repeated(",,,\n", size, "measure,user,topic,score\nm,u,t,1\n"),
        "quotes": lambda size: repeated('"', size, "measure,user,topic,score\nm,u,t,1\n"),
    },
    "ranks.jsonl": {
        **_JSON_SHAPES,
        "empty objects in lines": lambda size: repeated("{}\n", size),
        "other keys": lambda size: numbered(lambda n: f'{{"k{n}":0}}\n', size),
    },
    "ranks.parquet": {
        "bomb": _ranks_bomb,
        "tiny row groups": lambda size: table_bytes(
            _ranks_table(max(2, size // 1000)), row_group_size=1
        ),
        "many columns": _many_columns,
    },
    "votes.csv": {
        "many columns": _wide("judge,item,sensitive,domain"),
        "columns and rows": lambda size: repeated(
            "a\n", size // 2, numbered(lambda n: f"c{n},", size // 2, "judge,item,", "sensitive\n")
        ),
        "quotes": lambda size: repeated('"', size, "judge,item,sensitive,domain\n"),
        "blank rows": lambda size: repeated("\n", size, "judge,item,sensitive,domain\n"),
        "short rows": lambda size: repeated("a\n", size, "judge,item,sensitive,domain\n"),
    },
    "state.mallet": {
        "many dimensions": lambda size: _mallet(size, min(size // 8, 200_000)),
        "bomb": _bomb(_gzip, "0 f 0 0 w 0\n", "#doc\n#alpha : 0.1\n#beta : 0.1\n", 500),
        "short lines": lambda size: repeated("\n", size, _mallet(1)),
        "words": lambda size: numbered(lambda n: f"0 f 0 0 {n} 0\n", size, _mallet(1).decode()),
    },
    "vectors.txt": {
        "one number": lambda size: numbered(lambda n: f"{n} 1\n", size),
        "short numbers": lambda size: repeated(b"a" + b" 1" * 4000 + b"\n", size),
        "blank lines": lambda size: repeated("\n", size, "a 1\n"),
        "long line": lambda size: repeated("1", size, "a "),
    },
    "vectors.bin": {
        "long words": lambda size: repeated(
            b"w" * 999 + b" " + bytes(4), size, f"{max(1, size // 1004)} 1\n"
        ),
        "claims": lambda size: repeated(b"w " + bytes(4), size, "20000000 1\n"),
        "one number": numbered_vectors,
    },
    "together.counts": {
        "empty records": lambda size: _nest(size, b"\x07\0\0\0\0"),
        "empty tuples": lambda size: _nest(size, b"\x06\0\0\0\0"),
    },
}


def _nest(size: int, piece: bytes) -> bytes:
    from sottovoce.learn.wire import codec  # noqa: PLC0415 - few files need it

    tags = {b"\x07": codec.RECORD, b"\x06": codec.TUPLE}
    item = bytes([tags[piece[:1]]]) + bytes(4)
    count = size // len(item)
    return bytes([codec.TUPLE]) + count.to_bytes(4, "little") + item * count
