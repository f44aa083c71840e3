"""Which ledger a release is charged to: the user's own, one that is named, or one by its path.

Documents are known to a ledger wherever they lie, so that one ledger should see all releases. One
that lies beside a corpus is taken only where it was begun there by an earlier version, or where the
user's cannot be had, and whoever takes it is told.
"""

from dataclasses import dataclass
from pathlib import Path

from sottovoce._files import FilePath, check_folder
from sottovoce.errors import InputError
from sottovoce.privacy.ledger._database import holds_ledger
from sottovoce.privacy.ledger._place import make_room, user_ledger


@dataclass(frozen=True)
class LedgerPlace:
    """A ledger's file, and whether all that its user releases is charged there."""

    path: Path
    shared: bool = False
    note: str = ""
    """What must be said of it, if it is neither the user's own nor one that was named."""

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
    if given is not None:
        return LedgerPlace(Path(given), shared=_is_users(Path(given)))
    beside = None if corpus is None else ledger_of(corpus)
    if beside is not None and holds_ledger(beside):
        return beside_corpus(beside, "it was begun there")
    try:
        own = user_ledger()
        check_folder(own.parent)
    except InputError as error:
        if beside is None:
            raise
        return beside_corpus(beside, f"yours cannot be had ({str(error).rstrip('.')})")
    return LedgerPlace(own, shared=True)


def beside_corpus(path: Path, why: str) -> LedgerPlace:
    """A ledger that is found by the path of its corpus, and says so."""
    note = (
        f"the ledger {path} beside the corpus is used: {why}. It knows only what is spent from it; "
        "give --ledger (in Python ledger=) to charge another."
    )
    return LedgerPlace(path, note=note)


def _is_users(path: Path) -> bool:
    try:
        return path.resolve() == user_ledger().resolve()
    except InputError:
        return False
