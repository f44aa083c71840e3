"""Spend first, then draw, then keep what was drawn: the order that makes crashes harmless.

1. The spend is committed, durably, if the budget allows it.
2. Only then is noise drawn, into a file that appears whole or not at all.
3. The file's hash is committed under the spend's id; from then on the same request gets the same
   bytes, and noise is never drawn again for it.

A crash after 1 leaves a spend without output: the retry draws without spending again, since
nothing was stored or published. A crash between the file and 3 leaves the file, which the retry
adopts. Publish only what `Ledger.release` returned.

Spends on a document add up, in whatever corpus it stands (`groups`). Of requests that name no
documents, those on the whole corpus add up; so do those on one part of it, and of disjoint parts
the largest counts. Parts are those of one public division of the corpus, which the caller declares
and the ledger cannot check.

The ledger keeps its owners from mistakes, crashes and races. An older copy of it is refused where
outputs beside it, or the machine's count of its spends, tell of spends that it does not know; a
copy restored with both, or one on another machine, cannot be told from the ledger itself. Nor can a
document with a changed word be told from a new one. The ledger holds keyed hashes, numbers and
keyed request ids, no text; its outputs are noised.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from sottovoce.errors import InputError, LedgerError, ParameterError
from sottovoce.files import whole_file
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import (
    Account,
    Payers,
    SpendRequest,
    budget_for_new,
    charge,
    check_budget,
    has_account,
    open_account,
    read_account,
    spent_before,
)
from sottovoce.privacy.ledger.database import (
    Database,
    Output,
    OutputFolder,
    output_key,
    read_about,
    verify_output,
)
from sottovoce.privacy.ledger.documents import DocumentSet, LedgerKey, find_key, make_key
from sottovoce.privacy.ledger.elsewhere import (
    SpendCount,
    SpentThere,
    budgets_in,
    refuse_beyond,
    spent_there,
)
from sottovoce.privacy.ledger.groups import columns_of, read_guarantee

_LONGEST_ID = 200
_SPENDS = "SELECT * FROM spend LEFT JOIN output ON output.spend = spend.id"


@dataclass(frozen=True)
class Spend:
    """A committed spend, with its output once that is stored."""

    id: int
    request: SpendRequest
    time: str
    output: Output | None


class Ledger:
    """The privacy ledger in one SQLite file, with its outputs in a folder beside it.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     released = sv.release_counts(
    ...         ["my debt"], words=["debt"], epsilon=2, precision=2, ledger=f"{folder}/ledger",
    ...     )
    ...     [str(account.budget.epsilon) for account in Ledger(Path(folder, "ledger")).accounts()]
    ['2']
    """

    def __init__(
        self, path: str | PathLike[str], *, create: bool = False, counted: bool = True
    ) -> None:
        # By any other name, outputs and locks would be found nowhere.
        self.path = Path(path).resolve()
        self._database = Database(self.path, create=create)
        self._outputs = OutputFolder(self.path)
        self._key: LedgerKey | None = None
        self._last_payers: Payers | None = None
        self._is_newest = False
        with self._database.reading() as connection:
            # Of one that nobody will ask for again the machine need not count the spends.
            self.known_as = read_about(connection, "id") or ""
        self._count = SpendCount(self.known_as if counted else None, self.path)

    def close(self) -> None:
        """Close the file; a ledger that is dropped closes it too."""
        self._database.close()

    def set_budget(
        self, corpus: str, budget: LimitedPrecision, documents: DocumentSet | None = None
    ) -> None:
        """Give ``corpus`` and its documents their budget, once; another one later is refused."""
        _check_id(corpus, "corpus")
        payers = self._payers(documents)
        with self._database.transaction() as connection:
            open_account(connection, corpus, payers, budget)
            check_budget(read_account(connection, corpus), budget)

    def admit(
        self, request: SpendRequest, *, shared: bool = False, elsewhere: Sequence[SpentThere] = ()
    ) -> None:
        """Give the corpus of ``request`` an account, where it has none, without a stated budget.

        Documents that are known keep their budget, and those that are new get the least of these
        and of what they have ``elsewhere``, or what this request costs. A ledger that is not
        ``shared`` by all that its user releases takes unknown documents with a stated budget only.
        """
        _check_id(request.corpus, "corpus")
        payers = self._payers(request.documents)
        with self._database.transaction() as connection:
            self._admit(connection, request, payers, None, elsewhere, shared=shared)

    def account(self, corpus: str) -> Account:
        """What ``corpus`` may spend and has spent."""
        with self._database.reading() as connection:
            return read_account(connection, corpus)

    def accounts(self) -> list[Account]:
        """Every corpus of this ledger."""
        with self._database.reading() as connection:
            corpora = connection.execute("SELECT corpus FROM budget ORDER BY corpus").fetchall()
            return [read_account(connection, row["corpus"]) for row in corpora]

    def spends(self, corpus: str) -> list[Spend]:
        """Every spend on ``corpus``, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_SPENDS} WHERE corpus = ? ORDER BY id", (corpus,))
            return [self._read_spend(row) for row in rows]

    def key_names(self, request: SpendRequest) -> SpendRequest:
        """``request`` under the names that this ledger has for it.

        A request for documents is kept under keyed names, so that nobody can confirm a guess at
        them; but for one that was made without its documents.
        """
        if request.documents is None:
            return request
        key = self._secret()
        with self._database.reading() as connection:
            is_plain = has_account(connection, request.corpus)
            is_known = is_plain and self._find(connection, request.id) is not None
        corpus = request.corpus if is_plain else key.name(request.corpus)
        return replace(request, corpus=corpus, id=request.id if is_known else key.name(request.id))

    def find(self, request: SpendRequest) -> Spend | None:
        """The spend of ``request``, if it was made."""
        with self._database.reading() as connection:
            return self._find(connection, request.id)

    def spent_before(self, documents: DocumentSet) -> str:
        """How many of ``documents`` have spent how much already, in words; nothing: none has."""
        payers = self._payers(documents)
        with self._database.reading() as connection:
            return "" if payers is None else spent_before(connection, payers)

    def spent_on(self, request: SpendRequest) -> SpentThere:
        """What the documents of ``request``, as its caller named it, have spent here.

        For another ledger to count. Nothing is made for it, no key either.
        """
        with self._database.reading() as connection:
            has_key = read_about(connection, "key") is not None
        key = self._secret() if has_key else None
        with self._database.reading() as connection:
            there = spent_there(connection, self.path, key, request)
            return replace(there, known_as=self.known_as, spends=_last_spend(connection))

    def quote(
        self,
        request: SpendRequest,
        budget: LimitedPrecision | None = None,
        *,
        shared: bool = False,
        elsewhere: Sequence[SpentThere] = (),
    ) -> Account:
        """The account after ``request``, were it made now; spends nothing (a dry run).

        ``budget`` and ``shared`` are those of an account that it would have to have first. What was
        spent ``elsewhere`` counts too.
        """
        self.refuse_if_old()
        payers = self._payers(request.documents)
        with self._database.rehearsal() as connection:
            if payers is not None:
                self._admit(connection, request, payers, budget, elsewhere, shared=shared)
                if elsewhere:
                    here = spent_there(connection, self.path, payers.key, request)
                    refuse_beyond(here, elsewhere, request)
            return charge(connection, request)

    def release(self, request: SpendRequest, draw: Callable[[Path], None]) -> Spend:
        """The output of ``request``: drawn once by ``draw`` (into the file it is given), then kept.

        Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
        """
        spend = self.commit(request)
        if spend.output is None:
            spend = self._draw_once(spend, draw)
        if spend.output is None:
            raise LedgerError("an output was stored but cannot be read back.")
        verify_output(spend.output)
        self._outputs.forget_drawing(output_key(spend.id, spend.request.id))
        return spend

    def drawing_file(self, spend: Spend) -> Path:
        """Where who draws on several machines notes where; kept till the output is on record."""
        return self._outputs.drawing(output_key(spend.id, spend.request.id))

    def commit(self, request: SpendRequest) -> Spend:
        """Step 1: commit the spend of ``request``, or find the one committed before."""
        _check_id(request.id, "request id")
        self.refuse_if_old()
        payers = self._payers(request.documents)
        with self._database.transaction() as connection:
            self._count.moves.refuse_moved()
            if has_account(connection, request.corpus):
                open_account(connection, request.corpus, payers, request.guarantee)
            spend = self._find(connection, request.id)
            # Before anything is spent: a count that cannot be kept stops a release.
            self._count.note(_last_spend(connection))
            if spend is None:
                charge(connection, request)
                _insert_spend(connection, request)
                spend = self._find(connection, request.id)
            if spend is None or not _is_same(spend.request, request):
                raise ParameterError(
                    "this request id was used for another release; take a new one."
                )
            spends = _last_spend(connection)
        self._count.note(spends)
        # Of users' reports no other ledger asks.
        if request.guarantee.unit == "document":
            self._count.note_place()
        return spend

    def move(self, archive: Path) -> None:
        """Pack the ledger, its key and outputs into ``archive``; it works nowhere till unpacked."""
        self.refuse_if_old(but_move=True)
        with self._database.transaction():
            self._count.moves.begin(archive)
        self.close()
        self._count.pack(self.path, archive)

    def refuse_if_old(self, *, but_move: bool = False) -> None:
        """Refuse a copy of the ledger that knows of fewer spends than were made, or was moved."""
        self._count.moves.refuse_moved(but_finish=but_move)
        # Looked at first: what is there by then was committed before.
        there, seen = [] if self._is_newest else self._outputs.keys(), self._count.read_count()
        with self._database.reading() as connection:
            spends = _last_spend(connection)
            rows = connection.execute("SELECT id, request FROM spend").fetchall() if there else ()
        self._outputs.refuse_unknown(there, {output_key(row["id"], row["request"]) for row in rows})
        if seen > spends:
            raise LedgerError(
                f"the ledger {self.path} knows of {spends} spends, but this machine made {seen} "
                "from it: it is an old copy. Nothing was spent or released. Restore the newest one."
            )
        self._is_newest = True

    def _admit(
        self,
        connection: sqlite3.Connection,
        request: SpendRequest,
        payers: Payers | None,
        budget: LimitedPrecision | None,
        elsewhere: Sequence[SpentThere],
        *,
        shared: bool,
    ) -> None:
        is_known = has_account(connection, request.corpus)
        given = budget or request.guarantee
        if budget is None and not is_known and payers is not None:
            given = budget_for_new(
                connection, request, payers, budgets_in(elsewhere), shared=shared
            )
        open_account(connection, request.corpus, payers, given)
        if budget is not None:
            check_budget(read_account(connection, request.corpus), budget)

    def _payers(self, documents: DocumentSet | None) -> Payers | None:
        if documents is None:
            return None
        if self._last_payers is None or self._last_payers.documents is not documents:
            self._last_payers = Payers(self._secret(), documents)
        return self._last_payers

    def _secret(self) -> LedgerKey:
        """The ledger's key, made when it is first needed; another one is refused."""
        if self._key is None:
            with self._database.reading() as connection:
                check = read_about(connection, "key")
            found = find_key(self.path)
            key = make_key(self.path) if found is None and check is None else found
            if key is not None and check is None:
                with self._database.transaction() as connection:
                    connection.execute(
                        "INSERT OR IGNORE INTO about VALUES ('key', ?)", (key.check,)
                    )
                    check = read_about(connection, "key")
            if key is None or key.check != check:
                raise LedgerError(
                    f"the key of the ledger {self.path} is missing or another's; restore "
                    f"{self.path.name}.key, without which it knows no document again."
                )
            self._key = key
        return self._key

    def _draw_once(self, spend: Spend, draw: Callable[[Path], None]) -> Spend:
        """Steps 2 and 3, by one process at a time."""
        key = output_key(spend.id, spend.request.id)
        with self._outputs.turn(key):
            now = self._reread(spend)
            if now.output is not None:
                return now
            path = self._outputs.path(key)
            if path.exists():
                self._outputs.make_durable()
            else:
                self._outputs.discard_unfinished(key)
                with whole_file(path, private=True) as unfinished:
                    draw(unfinished)
            self._record(spend.id, self._outputs.measure(key))
            self._outputs.tidy_up(key)
            return self._reread(spend)

    def _record(self, spend: int, output: Output) -> None:
        with self._database.transaction() as connection:
            self._count.moves.refuse_moved()
            connection.execute(
                "INSERT INTO output VALUES (?, ?, ?, ?)",
                (spend, output.path.name, output.sha256, output.size),
            )

    def _reread(self, spend: Spend) -> Spend:
        with self._database.reading() as connection:
            return self._find(connection, spend.request.id) or spend

    def _find(self, connection: sqlite3.Connection, request: str) -> Spend | None:
        row = connection.execute(f"{_SPENDS} WHERE request = ?", (request,)).fetchone()
        return None if row is None else self._read_spend(row)

    def _read_spend(self, row: sqlite3.Row) -> Spend:
        request = SpendRequest(row["request"], row["corpus"], read_guarantee(row), row["part"])
        output = None
        if row["sha256"] is not None:
            path = self._outputs.path(output_key(row["id"], row["request"]))
            output = Output(path, row["sha256"], row["size"])
        return Spend(row["id"], request, row["time"], output)


def _insert_spend(connection: sqlite3.Connection, request: SpendRequest) -> None:
    guarantee = columns_of(request.guarantee)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(
        "INSERT INTO spend (request, corpus, part, n, epsilon, unit, time) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (request.id, request.corpus, request.part, *guarantee, now),
    )


def _is_same(known: SpendRequest, asked: SpendRequest) -> bool:
    same_data = (known.corpus, known.part) == (asked.corpus, asked.part)
    return same_data and known.guarantee == asked.guarantee


def _check_id(text: str, name: str) -> None:
    if not text or len(text) > _LONGEST_ID or not text.isprintable():
        raise InputError(f"a {name} must have 1 to {_LONGEST_ID} printable characters.")


def _last_spend(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT max(id) FROM spend").fetchone()[0] or 0)
