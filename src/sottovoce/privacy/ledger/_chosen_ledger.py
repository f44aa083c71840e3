"""Which ledger documents are charged to: the user's own, one that is named, or one by its path.

Documents are known to a ledger wherever they lie, so that one ledger should see all releases. One
that lies beside a corpus is taken only where it was begun there by an earlier version, or where the
user's cannot be had, and whoever takes it is told. Whichever is taken, the others that can be found
are asked: the user's, those in the corpus's folder, and those that this machine has seen spends of.
What documents have spent there is said, and counts, but where a ledger was named: that is a choice.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce._files import FilePath, check_folder
from sottovoce.errors import InputError, LedgerError
from sottovoce.privacy.ledger._accounts import SpendRequest
from sottovoce.privacy.ledger._database import holds_ledger
from sottovoce.privacy.ledger._elsewhere import SpentThere, newest_of_each
from sottovoce.privacy.ledger._ledger import Ledger
from sottovoce.privacy.ledger._place import make_room, noted_ledgers, refuse_lost, user_ledger


@dataclass(frozen=True)
class LedgerPlace:
    """A ledger's file, and whether all that its user releases is charged there."""

    path: Path
    shared: bool = False
    note: str = ""
    """What must be said of it, if it is neither the user's own nor one that was named."""
    others: tuple[Path, ...] = ()
    """Other ledgers that may know the same documents."""
    named: bool = False
    """Whether somebody chose it, and with it a budget apart from the others'."""

    def spent_elsewhere(self, request: SpendRequest, own: Ledger | None) -> list[SpentThere]:
        """What the documents of ``request`` have spent in the others that can be asked.

        A copy of this ledger, ``own`` if there is one already, is none of these.
        """
        found = []
        for path in self.others if request.documents is not None else ():
            with suppress(InputError, OSError):
                ledger = Ledger(path)
                there = ledger.spent_on(request)
                ledger.close()
                # One number for each document: of a large corpus, too much to keep for nothing.
                if there.in_words():
                    found.append(there)
        return newest_of_each(found, None if own is None else own.known_as)

    def charged(self, elsewhere: Sequence[SpentThere]) -> Sequence[SpentThere]:
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
    return _checked(_chosen(given, corpus), corpus)


def own_ledger_place(given: Path | None, corpus: Path) -> LedgerPlace:
    """The ledger that was ``given``, or the user's, whatever lies beside the ``corpus``.

    What was spent from one that does is asked for, and counts.
    """
    own = LedgerPlace(user_ledger(), shared=True) if given is None else _named(given)
    return _checked(own, corpus)


def _checked(place: LedgerPlace, corpus: Path | None) -> LedgerPlace:
    if place.shared and not place.path.exists():
        refuse_lost(place.path)
    return with_others(place, corpus)


def with_others(place: LedgerPlace, corpus: Path | None) -> LedgerPlace:
    """``place``, with all other ledgers that can be found."""
    found = {path.resolve() for path in _findable(corpus) if _is_ledger(path)}
    return replace(place, others=tuple(sorted(found - {place.path.resolve()})))


def _findable(corpus: Path | None) -> Iterator[Path]:
    with suppress(InputError):
        yield user_ledger()
    yield from noted_ledgers()
    if corpus is not None:
        with suppress(OSError):
            yield from corpus.resolve().parent.glob("*.ledger")


def _is_ledger(path: Path) -> bool:
    with suppress(InputError, OSError):
        return holds_ledger(path)
    return False


def _chosen(given: FilePath | None, corpus: Path | None) -> LedgerPlace:
    if given is not None:
        return _named(Path(given))
    beside = None if corpus is None else ledger_of(corpus)
    if beside is not None and holds_ledger(beside):
        return beside_corpus(beside, "it was begun there")
    try:
        own = user_ledger()
        check_folder(own.parent)
    except InputError as error:
        if beside is None:
            raise LedgerError(f"{error} Name a ledger: --ledger, in Python ledger=.") from None
        return beside_corpus(beside, f"yours cannot be had ({str(error).rstrip('.')})")
    return LedgerPlace(own, shared=True)


def _named(path: Path) -> LedgerPlace:
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
