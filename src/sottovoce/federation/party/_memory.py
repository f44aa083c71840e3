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

from sottovoce.errors import JournalError
from sottovoce.federation._keys import JournalSeal
from sottovoce.learn.data_digest import keyed_digest
from sottovoce.learn.openings import OpenedWords, Opening
from sottovoce.learn.query_budget import QueryCharge, check_charge
from sottovoce.learn.wire.codec import Value, decode_value, encode_value
from sottovoce.parsing import parse_json
from sottovoce.sqlite import StoreFile, StoreKind

MEMORY_FILE = "memory.sqlite"
_SEALED, _EVALUATED, _WORDS = "opening", "evaluated", "opened words"
_ADDED = """
SELECT (SELECT COUNT(*) FROM opening) + (SELECT COUNT(*) FROM opened_among)
    + (SELECT COUNT(*) FROM evaluated) + (SELECT COUNT(*) FROM word_key)
    + (SELECT COUNT(*) FROM opened_words) + (SELECT COUNT(*) FROM query)
    + (SELECT coalesce(sum(steps), 0) FROM skipped)
"""
_TABLES = """
CREATE TABLE skipped (steps INTEGER NOT NULL) STRICT;
CREATE TABLE secret (fingerprint BLOB PRIMARY KEY) STRICT;
CREATE TABLE opening (
    digest BLOB PRIMARY KEY,
    session BLOB NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE TABLE opened_among (
    session BLOB NOT NULL,
    what BLOB NOT NULL,
    peers TEXT NOT NULL,
    PRIMARY KEY (session, what, peers)
) STRICT;
CREATE TABLE opened_words (
    session BLOB PRIMARY KEY,
    content BLOB NOT NULL
) STRICT;
CREATE TABLE evaluated (
    session BLOB PRIMARY KEY,
    training BLOB NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE TABLE word_key (peers BLOB PRIMARY KEY, fingerprint BLOB NOT NULL) STRICT;
CREATE TABLE query (
    query BLOB NOT NULL,
    data BLOB NOT NULL,
    asker TEXT NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (query, data)
) STRICT;
"""
_MEMORY = StoreKind(
    name="memory", application=0x53764D65, version=1, tables=_TABLES, error=JournalError
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
            return self._count_added()

    def skip(self, steps: int) -> None:
        """Count as if so much more had been added."""
        with self._changing() as connection:
            connection.execute("INSERT INTO skipped VALUES (?)", (steps,))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def earlier(self, session: bytes) -> tuple[Opening, ...]:
        """All openings but that of this run, the oldest first; the same one counts once."""
        with self._lock:
            found = self._file.rows(
                "SELECT session, content FROM opening WHERE session != ? ORDER BY rowid",
                (session,),
            )
        return tuple(self._read(run, content) for run, content in found)

    def remember(self, session: bytes, opening: Opening) -> None:
        """Keep what this run opens; once, however often the same is opened."""
        record = encode_value(opening.record())
        digest = keyed_digest(self._secret, _SEALED, record)
        row = (digest, session, self._seal.seal(record, _SEALED, session))
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO opening VALUES (?, ?, ?)", row)

    def opened_words(self, session: bytes) -> tuple[OpenedWords, ...]:
        """Of which columns other runs than this one have opened sums."""
        with self._lock:
            found = self._file.rows(
                "SELECT session, content FROM opened_words WHERE session != ?",
                (session,),
            )
        return tuple(OpenedWords.read(self._record(_WORDS, *each)) for each in found)

    def note_opened_words(self, session: bytes, opened: OpenedWords) -> None:
        """Keep of which columns this run opens sums; once, however often it is begun again."""
        row = (session, self._seal.seal(encode_value(opened.record()), _WORDS, session))
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO opened_words VALUES (?, ?)", row)

    def peers_among(self, session: bytes, what: bytes) -> tuple[tuple[str, ...], ...]:
        """Among whom other runs than this one have opened sums of ``what``."""
        return self._peers("session != ? AND what = ?", session, what)

    def among_in(self, session: bytes) -> tuple[tuple[str, ...], ...]:
        """Among whom this run has opened sums: more than one group if somebody was lost."""
        return self._peers("session = ?", session)

    def note_among(self, session: bytes, what: bytes, peers: tuple[str, ...]) -> None:
        """Keep among whom this run opens a sum; once, however often it is begun again."""
        row = (session, what, json.dumps(peers))
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO opened_among VALUES (?, ?, ?)", row)

    def evaluated_documents(self, session: bytes, training: bytes) -> tuple[frozenset[bytes], ...]:
        """The digests of the documents of other evaluations of a training."""
        with self._lock:
            found = self._file.rows(
                "SELECT session, content FROM evaluated WHERE session != ? AND training = ?",
                (session, training),
            )
        return tuple(self._digests(run, content) for run, content in found)

    def note_evaluated(self, session: bytes, training: bytes, documents: frozenset[bytes]) -> None:
        """Keep which documents this evaluation counts; once, however often it is begun again."""
        content = self._seal.seal(encode_value(tuple(sorted(documents))), _EVALUATED, session)
        row = (session, training, content)
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO evaluated VALUES (?, ?, ?)", row)

    def same_word_key(self, peers: bytes, key: bytes) -> bool:
        """Whether these peers had this key for their words before, if any; kept from now on."""
        fingerprint = keyed_digest(self._secret, "word key", key)
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO word_key VALUES (?, ?)", (peers, fingerprint))
            (known,) = connection.execute(
                "SELECT fingerprint FROM word_key WHERE peers = ?", (peers,)
            ).fetchone()
        return bool(known == fingerprint)

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

    def _peers(self, where: str, *given: bytes) -> tuple[tuple[str, ...], ...]:
        with self._lock:
            found = self._file.rows(
                f"SELECT DISTINCT peers FROM opened_among WHERE {where}",  # noqa: S608 - names of ours
                given,
            )
        return tuple(tuple(parse_json(peers)) for (peers,) in found)

    def _read(self, session: bytes, content: bytes) -> Opening:
        return Opening.read(self._record(_SEALED, session, content))

    def _record(self, purpose: str, session: bytes, content: bytes) -> Mapping[str, Value]:
        record = decode_value(self._seal.open(content, purpose, session))
        if not isinstance(record, Mapping):
            raise JournalError("this party's memory is damaged: it holds what is no opening.")
        return record

    def _digests(self, session: bytes, content: bytes) -> frozenset[bytes]:
        found = decode_value(self._seal.open(content, _EVALUATED, session))
        if not isinstance(found, tuple):
            raise JournalError("this party's memory is damaged: it holds what is no evaluation.")
        return frozenset(each for each in found if isinstance(each, bytes))

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
                self.counted(self._count_added())

    def _count_added(self) -> int:
        return int(self._file.row(_ADDED)[0])


def _count_spent(connection: sqlite3.Connection, data: bytes, asker: str) -> tuple[int, int]:
    """How many rows one peer and all together have asked for, of classifiers of these data."""
    by_asker, by_all = connection.execute(
        "SELECT coalesce(sum(CASE WHEN asker = ? THEN rows END), 0), coalesce(sum(rows), 0)"
        " FROM query WHERE data = ?",
        (asker, data),
    ).fetchone()
    return int(by_asker), int(by_all)
