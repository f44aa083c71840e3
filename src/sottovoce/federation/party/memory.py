"""What a party remembers over all its runs, beside the journal: one SQLite file in its store.

A peer's memory holds what its trainings opened: digests of documents, how many of them use each
word, and among whom. A helper's holds the rows that were asked for, by the tags of the data behind
a classifier. What is about documents is sealed under a key that the memory's secret gives; tags,
names of peers and numbers of rows are not. Each change is whole and durable before anything is
answered.

A memory that was put back from a backup has forgotten what came after it; how often it was added to
is counted outside of it too (`sottovoce._notes`).
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from sottovoce.errors import JournalError
from sottovoce.federation._keys import JournalSeal
from sottovoce.learn.documents import keyed_digest
from sottovoce.learn.openings import OpenedWords, Opening
from sottovoce.learn.query_budget import QueryCharge, check_charge
from sottovoce.learn.wire.codec import Value, decode_value, encode_value
from sottovoce.parsing import parse_json
from sottovoce.sqlite import StoreFile, StoreKind

MEMORY_FILE = "memory.sqlite"
_Kept: TypeAlias = Literal["opening", "opened words", "evaluated", "among", "word key"]
_COUNT = """
SELECT (SELECT COUNT(*) FROM kept) + (SELECT COUNT(*) FROM query)
    + (SELECT coalesce(sum(steps), 0) FROM skipped)
"""
# What is kept once by its kind and name; of which run, and about which training or sum.
_TABLES = """
CREATE TABLE skipped (steps INTEGER NOT NULL) STRICT;
CREATE TABLE secret (fingerprint BLOB PRIMARY KEY) STRICT;
CREATE TABLE kept (
    kind TEXT NOT NULL, name BLOB NOT NULL, session BLOB NOT NULL, about BLOB NOT NULL,
    content BLOB NOT NULL, PRIMARY KEY (kind, name)
) STRICT;
CREATE TABLE query (
    query BLOB NOT NULL, data BLOB NOT NULL, asker TEXT NOT NULL, rows INTEGER NOT NULL,
    PRIMARY KEY (query, data)
) STRICT;
"""
_MEMORY = StoreKind(
    name="memory", application=0x53764D65, version=2, tables=_TABLES, error=JournalError
)


class PartyMemory:
    """An `OpeningMemory` and a `QueryLedger` on disk, for one party.

    ``counted`` is told `count` after each change, before anything is answered; it is set by whoever
    has compared that with what was noted before.
    """

    def __init__(self, path: Path | None, secret: bytes) -> None:
        self._secret = secret
        self.counted: Callable[[int], None] | None = None
        self._seal = JournalSeal(keyed_digest(secret, "memory's sealing key"))
        self._lock = threading.Lock()
        self._file = StoreFile(_MEMORY, path)
        self._check_secret()

    @property
    def digest_secret(self) -> bytes:
        """What digests of this party's documents are keyed by."""
        return keyed_digest(self._secret, "digests of documents")

    @property
    def count(self) -> int:
        """How often it was added to. A copy of earlier has a smaller one."""
        with self._lock:
            return self._count_rows()

    def skip(self, steps: int) -> None:
        """Count as if so much more had been added."""
        with self._changing() as connection:
            connection.execute("INSERT INTO skipped VALUES (?)", (steps,))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def earlier(self, session: bytes) -> tuple[Opening, ...]:
        """All openings but that of this run, the oldest first; the same one counts once."""
        found = self._list_others("opening", session)
        return tuple(Opening.read(self._open_record("opening", *each)) for each in found)

    def remember(self, session: bytes, opening: Opening) -> None:
        """Keep what this run opens; once, however often the same is opened."""
        record = encode_value(opening.record())
        digest = keyed_digest(self._secret, "opening", record)
        self._keep("opening", digest, session, self._seal.seal(record, "opening", session))

    def opened_words(self, session: bytes) -> tuple[OpenedWords, ...]:
        """Of which columns other runs than this one have opened sums."""
        found = self._list_others("opened words", session)
        return tuple(OpenedWords.read(self._open_record("opened words", *each)) for each in found)

    def note_opened_words(self, session: bytes, opened: OpenedWords) -> None:
        """Keep of which columns this run opens sums; once, however often it is begun again."""
        sealed = self._seal.seal(encode_value(opened.record()), "opened words", session)
        self._keep("opened words", session, session, sealed)

    def peers_among(self, session: bytes, what: bytes) -> tuple[tuple[str, ...], ...]:
        """Among whom other runs than this one have opened sums of ``what``."""
        found = self._list_others("among", session, what)
        return tuple(tuple(parse_json(peers)) for peers in dict.fromkeys(each for _, each in found))

    def among_in(self, session: bytes) -> tuple[tuple[str, ...], ...]:
        """Among whom this run has opened sums: more than one group if somebody was lost."""
        with self._lock:
            found = self._file.rows(
                "SELECT DISTINCT content FROM kept WHERE kind = 'among' AND session = ?", (session,)
            )
        return tuple(tuple(parse_json(peers)) for (peers,) in found)

    def note_among(self, session: bytes, what: bytes, peers: tuple[str, ...]) -> None:
        """Keep among whom this run opens a sum; once, however often it is begun again."""
        content = json.dumps(peers).encode()
        name = encode_value((session, what, content))
        self._keep("among", name, session, content, about=what)

    def evaluated_documents(self, session: bytes, training: bytes) -> tuple[frozenset[bytes], ...]:
        """The digests of the documents of other evaluations of a training."""
        found = self._list_others("evaluated", session, training)
        records = (self._open_record("evaluated", *each) for each in found)
        return tuple(frozenset(record["documents"]) for record in records)  # type: ignore[arg-type] # kept below

    def note_evaluated(self, session: bytes, training: bytes, documents: frozenset[bytes]) -> None:
        """Keep which documents this evaluation counts; once, however often it is begun again."""
        record = encode_value({"documents": tuple(sorted(documents))})
        sealed = self._seal.seal(record, "evaluated", session)
        self._keep("evaluated", session, session, sealed, about=training)

    def same_word_key(self, peers: bytes, key: bytes) -> bool:
        """Whether these peers had this key for their words before, if any; kept from now on."""
        fingerprint = keyed_digest(self._secret, "word key", key)
        self._keep("word key", peers, b"", fingerprint)
        with self._lock:
            known = self._file.row(
                "SELECT content FROM kept WHERE kind = 'word key' AND name = ?", (peers,)
            )
        return bool(known[0] == fingerprint)

    def spend(self, charge: QueryCharge) -> None:
        """Count a query for each peer's data, or refuse it; under one name it counts once."""
        with self._changing() as connection:
            for data in charge.data:
                known = connection.execute(
                    "SELECT 1 FROM query WHERE query = ? AND data = ?", (charge.query, data)
                ).fetchone()
                if known is None:
                    check_charge(charge, *_count_spent(connection, data, charge.asker))
                    row = (charge.query, data, charge.asker, charge.rows)
                    connection.execute("INSERT INTO query VALUES (?, ?, ?, ?)", row)

    def _keep(
        self, kind: _Kept, name: bytes, session: bytes, content: bytes, *, about: bytes = b""
    ) -> None:
        row = (kind, name, session, about, content)
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO kept VALUES (?, ?, ?, ?, ?)", row)

    def _list_others(
        self, kind: _Kept, session: bytes, about: bytes = b""
    ) -> list[tuple[bytes, bytes]]:
        """What other runs have kept about this: their sessions, and the content."""
        with self._lock:
            return self._file.rows(
                "SELECT session, content FROM kept"
                " WHERE kind = ? AND session != ? AND about = ? ORDER BY rowid",
                (kind, session, about),
            )

    def _open_record(self, kind: _Kept, session: bytes, content: bytes) -> Mapping[str, Value]:
        record = decode_value(self._seal.open(content, kind, session))
        if not isinstance(record, Mapping):
            raise JournalError("this party's memory is damaged: it holds what is no record.")
        return record

    def _check_secret(self) -> None:
        fingerprint = keyed_digest(self._secret, "memory's fingerprint")
        with self._changing() as connection:
            known = connection.execute("SELECT fingerprint FROM secret").fetchone()
            if known is None:
                connection.execute("INSERT INTO secret VALUES (?)", (fingerprint,))
        if known is not None and known[0] != fingerprint:
            raise JournalError(
                "this party's memory was kept under another secret than memory.key; put that file "
                "back: without it nobody can tell which documents were opened before."
            )

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            with self._file.transaction() as connection:
                yield connection
            if self.counted is not None:
                self.counted(self._count_rows())

    def _count_rows(self) -> int:
        return int(self._file.row(_COUNT)[0])


def _count_spent(connection: sqlite3.Connection, data: bytes, asker: str) -> tuple[int, int]:
    """How many rows one peer and all together have asked for, of classifiers of these data."""
    by_asker, by_all = connection.execute(
        "SELECT coalesce(sum(CASE WHEN asker = ? THEN rows END), 0), coalesce(sum(rows), 0)"
        " FROM query WHERE data = ?",
        (asker, data),
    ).fetchone()
    return int(by_asker), int(by_all)
