"""Which ledger documents are charged to: the user's own, one that is named, or one by its path.

Documents are known to a ledger wherever they lie, so that one ledger should see all releases. One
that lies beside a corpus is taken only where it was begun there, or where the user's cannot be
had, and whoever takes it is told. Whichever is taken, the others that can be found
are asked: the user's, those in the corpus's folder, and those that this machine has seen spends of.
What documents have spent there is said, and counts, but where a ledger was named: that is a choice.
One that is known and cannot be asked stops a release; `forget_ledger` is how to go on without it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce._notes import begins_as_archive, unpack
from sottovoce.errors import InputError, LedgerError
from sottovoce.files import FilePath, cause_of, check_folder
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.database import begins_as_ledger, holds_ledger
from sottovoce.privacy.ledger.elsewhere import (
    LedgerAt,
    SpendCount,
    SpentThere,
    make_room,
    newest_of_each,
    noted_ledgers,
    or_forget,
    refuse_lost,
    silent_ledger,
    user_ledger,
)
from sottovoce.privacy.ledger.ledger import Ledger


@dataclass(frozen=True)
class LedgerPlace:
    """A ledger's file, and whether all that its user releases is charged there."""

    path: Path
    shared: bool = False
    note: str = ""
    """What must be said of it, if it is neither the user's own nor one that was named."""
    others: tuple[LedgerAt, ...] = ()
    """Other ledgers that may know the same documents."""
    named: bool = False
    """Whether somebody chose it, and with it a budget apart from the others'."""

    def spent_elsewhere(self, request: SpendRequest, own: Ledger | None) -> list[SpentThere]:
        """What the documents of ``request`` have spent in the others; each must say.

        A copy of this ledger, ``own`` if there is one already, is none of these. Where a ledger was
        named, one that cannot be asked is among what is found, and says so.
        """
        found = []
        for other in self.others if request.documents is not None else ():
            if own is not None and other.known_as == own.known_as:
                continue
            try:
                there = ask(other, request)
            except LedgerError:
                if not self.named:
                    raise
                there = silent_ledger(other.path, other.known_as)
            # One number for each document: of a large corpus, too much to keep for nothing.
            if there.in_words():
                found.append(there)
        return newest_of_each(found, None if own is None else own.known_as)

    def counted_here(self, elsewhere: Sequence[SpentThere]) -> Sequence[SpentThere]:
        """What of that counts against a budget here."""
        return () if self.named else elsewhere

    def make_room(self) -> None:
        """Make the folder of the user's own ledger; a named one's must be there."""
        if self.shared:
            make_room(self.path)


def ledger_of(corpus: Path) -> Path:
    """The ledger beside a corpus; a link is what it points to."""
    true = corpus.resolve()
    return true.with_name(f"{true.name}.ledger")


def ledger_place(given: FilePath | None, corpus: Path | None) -> LedgerPlace:
    """The ledger that was ``given``, or the user's; or the one beside the ``corpus``'s file."""
    return with_others(_choose_place(given, corpus), corpus)


def own_ledger_place(given: Path | None, corpus: Path) -> LedgerPlace:
    """The ledger that was ``given``, or the user's, whatever lies beside the ``corpus``.

    What was spent from one that does is asked for, and counts.
    """
    own = LedgerPlace(user_ledger(), shared=True) if given is None else _place_at(given)
    return with_others(own, corpus)


def ask(other: LedgerAt, request: SpendRequest) -> SpentThere:
    """What a ledger says of the documents of ``request``, or an error: no answer is none spent."""
    try:
        # The system says better than a database why a file cannot be opened.
        other.path.open("rb").close()
        ledger = Ledger(other.path)
        try:
            if other.known_as and other.known_as != ledger.known_as:
                raise LedgerError("another ledger lies there")
            if other.known_as:
                ledger.refuse_if_old()
            return ledger.spent_on(request)
        finally:
            ledger.close()
    except (OSError, ValueError, sqlite3.Error) as error:
        why = str(error).rstrip(".") if isinstance(error, InputError) else cause_of(error)
        rest = or_forget(other.path) if other.known_as else "or move it elsewhere."
        raise LedgerError(
            f"the ledger {other.path} cannot be asked what was spent there: {why}. Nothing was "
            f"released. Put it back, whole, readable and writable for you, with its key; {rest}"
        ) from error


def forget_ledger(path: Path) -> int:
    """Ask the ledger that was at ``path`` no more; how many spends are forgotten with it."""
    places = {path.absolute(), path.resolve()}
    found = [known for known in noted_ledgers() if known.path in places]
    if not found:
        raise InputError(f"no ledger at {path} is known to this machine; give the whole path.")
    for known in found:
        with suppress(LedgerError):
            ask(known, SpendRequest("ask", "ask", LimitedPrecision(1, 1)))
            raise InputError(f"the ledger {path} still answers, so it is not forgotten.")
        SpendCount(known.known_as).forget_place()
    return sum(SpendCount(known.known_as).read_count() for known in found)


def move_ledger(source: Path, to: Path) -> None:
    """Pack a ledger into an archive, after which it works nowhere; or unpack such an archive."""
    if not begins_as_archive(source):
        if not source.exists():
            refuse_lost(source)
        Ledger(source).move(to)
        return
    unpack(source, "ledger", lambda name: to.parent / name.replace("ledger", to.name, 1))
    SpendCount(Ledger(to).known_as, to.resolve()).note_place()


def with_others(place: LedgerPlace, corpus: Path | None) -> LedgerPlace:
    """``place``, with all other ledgers that can be found; an error if its own is lost."""
    if not holds_ledger(place.path):
        refuse_lost(place.path)
    noted = noted_ledgers()
    known = {place.path.resolve(), *(each.path for each in noted)}
    found = {path.resolve() for path in _findable(corpus) if begins_as_ledger(path)}
    return replace(place, others=(*noted, *(LedgerAt(path) for path in sorted(found - known))))


def _findable(corpus: Path | None) -> Iterator[Path]:
    with suppress(InputError):
        yield user_ledger()
    if corpus is not None:
        with suppress(OSError):
            yield from corpus.resolve().parent.glob("*.ledger")


def _choose_place(given: FilePath | None, corpus: Path | None) -> LedgerPlace:
    if given is not None:
        return _place_at(Path(given))
    beside = None if corpus is None else ledger_of(corpus)
    if beside is not None and holds_ledger(beside):
        return beside_corpus(beside, "it was begun there")
    try:
        own = user_ledger()
        if not begins_as_ledger(own):
            check_folder(own.parent)
    except InputError as error:
        if beside is None:
            raise LedgerError(f"{error} Name a ledger: --ledger, in Python ledger=.") from None
        return beside_corpus(beside, f"yours cannot be had ({str(error).rstrip('.')})")
    return LedgerPlace(own, shared=True)


def _place_at(path: Path) -> LedgerPlace:
    shared = _is_users(path)
    return LedgerPlace(path, shared=shared, named=not shared)


def beside_corpus(path: Path, why: str) -> LedgerPlace:
    """A ledger that is found by the path of its corpus, and says so."""
    note = (
        f"the ledger {path} beside the corpus is used: {why}. Others are asked what they spent "
        "where they can be found; give --ledger (in Python ledger=) to charge another."
    )
    return LedgerPlace(path, note=note)


def _is_users(path: Path) -> bool:
    try:
        return path.resolve() == user_ledger().resolve()
    except InputError:
        return False
