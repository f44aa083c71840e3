"""Every error and warning of Sottovoce, in one tree; docs/reference/errors.md shows it.

The exit code of a command is its error's: 2, or 1 for a check that did not hold. A message says
what, the bound, what was got and what to do. It never holds a person's text. A refused message
leaves its receiver as it was, so that the true one can still come.
"""

from collections.abc import Iterable
from typing import ClassVar, Self


class SottovoceError(Exception):
    """The root: catch this to catch everything Sottovoce raises on purpose."""

    exit_code: ClassVar[int] = 2


class InputError(SottovoceError, ValueError):
    """What was given cannot be used; a ValueError too, as scikit-learn's callers expect."""


class ParameterError(InputError):
    """An option or argument is out of bounds."""


class CorpusError(InputError):
    """A file of posts or documents is unusable."""


class MissingColumnError(CorpusError):
    """A file has no column for something; ``missing`` says so without what to do about it."""

    def __init__(self, missing: str, remedy: str) -> None:
        super().__init__(f"{missing} {remedy}")
        self.missing = missing


class UnclearColumnsError(CorpusError):
    """The names of a file's columns do not say what they hold."""


class ModelFileError(InputError):
    """A file of a topic model, of embeddings or of a map of words cannot be used."""


class OtherFileError(InputError):
    """A file is not the one that it was taken for, or is gone."""


class NothingFitsError(InputError):
    """No topic of a model fits what is to be learnt."""


class LedgerError(InputError):
    """A privacy ledger is unusable or refuses."""


class OtherBudgetError(LedgerError):
    """A corpus was released before under another budget."""


class BudgetError(InputError):
    """A release would exceed its corpus's privacy budget."""

    may_be_others: bool = False
    """Whether only a few documents are short, which may be others that say the same."""


class ConfigError(InputError):
    """The folder, settings or certificates of a party cannot be used."""


class JournalError(InputError):
    """The journal of a party cannot be used."""


class NotRunningError(InputError):
    """The party of a folder is not running."""


class CallRefusedError(InputError):
    """The other party has heard what was asked, and will not."""


class DataError(InputError):
    """The documents, labels or numbers of a party do not fit what is to be learnt."""


class LeakError(InputError):
    """What was asked for would give away what it must not.

    Example:
        >>> from sottovoce.learn import LeakError, train
        >>> holder = ([[0.0, 1.0], [1.0, 0.0]] * 12, [0, 1] * 12)
        >>> try:
        ...     train([holder] * 3, fewest_documents=1)
        ... except LeakError:
        ...     print("one document's word would be opened")
        one document's word would be opened
    """


class ProtocolError(SottovoceError):
    """A message or a party broke its protocol."""


class DamagedMessageError(ProtocolError):
    """The bytes of a message are not what its sender wrote."""


class DamagedRecordError(ProtocolError):
    """The bytes of a run's terms or of its result cannot be read."""


class UnexpectedMessageError(ProtocolError):
    """A message of a sender, kind or session that the current step does not await."""


class ReplayedMessageError(ProtocolError):
    """This sender's message of this step was already taken."""


class OutOfOrderError(ProtocolError):
    """A message of another step than the current one."""


class EarlyMessageError(OutOfOrderError):
    """A message of a step that is yet to come; deliver it again later."""


class LateMessageError(OutOfOrderError):
    """A message of a step that is over."""


class TooFewPartiesError(ProtocolError):
    """Fewer parties took part than the protocol needs.

    Example:
        >>> from sottovoce.learn import TooFewPartiesError, train
        >>> holder = ([[0.0, 1.0], [1.0, 0.0]] * 12, [0, 1] * 12)
        >>> try:
        ...     train([holder, holder])
        ... except TooFewPartiesError:
        ...     print("two alone would learn each other's sums")
        two alone would learn each other's sums
    """


class DisagreementError(ProtocolError):
    """The parties were told different things."""


class CorruptShareError(ProtocolError):
    """Shares do not give back what was shared."""


class FalseSummandError(ProtocolError):
    """A peer gives sums of documents that it does not have."""


class SingularSystemError(ProtocolError):
    """The system has no single solution, or no prime was found for it."""


class QueryBudgetError(ProtocolError):
    """A peer has used up its budget of rows to classify.

    Example:
        >>> from sottovoce.learn import QueryBudgetError
        >>> from sottovoce.learn.query_budget import QueryBudget
        >>> budget = QueryBudget({"ada": 3, "ben": 3}, together=3)
        >>> try:
        ...     budget.spend("ada", 4)
        ... except QueryBudgetError:
        ...     print("ada may ask for", budget.rows_left("ada"), "rows")
        ada may ask for 3 rows
    """


class StalledError(ProtocolError):
    """Nobody has anything left to say, and somebody still waits."""


class LostPartyError(ProtocolError):
    """A party has fallen silent, and the run cannot go on without it."""

    def __init__(self, sentence: str, missing: Iterable[str] = ()) -> None:
        super().__init__(sentence)
        self.missing = tuple(sorted(missing))


class AbortedError(ProtocolError):
    """The run has ended with an error, here or at another party; it takes nothing more.

    Attributes:
        by: who ended it.
        error: the name of its error.
        missing: whom it missed.

    Example:
        >>> from sottovoce.learn import AbortedError
        >>> try:
        ...     raise AbortedError("ada has ended this run with an error; start another.")
        ... except AbortedError as ended:
        ...     print(ended)
        ada has ended this run with an error; start another.
    """

    def __init__(
        self, sentence: str, *, by: str = "", error: str = "", missing: Iterable[str] = ()
    ) -> None:
        super().__init__(sentence)
        self.by, self.error, self.missing = by, error, tuple(missing)


class StrangerError(ProtocolError):
    """The caller's certificate is nobody's on the roster, or its connection is not TLS 1.3."""


class ImpostorError(ProtocolError):
    """The caller speaks in another party's name."""


class WrongVersionError(ProtocolError):
    """A frame of another version of this format."""


class BadFrameError(ProtocolError):
    """Bytes that are no frame."""


class TooLargeError(ProtocolError):
    """A frame declares more bytes than are taken."""


class RunRefusedError(ProtocolError):
    """A party declines a proposed run."""


class MessageRefusedError(ProtocolError):
    """A party refuses what this one has said."""


class ReplayMismatchError(ProtocolError):
    """A restarted party says something else, or has other data, than before the crash."""


class RestoredCopyError(ProtocolError):
    """A party was restored from an older copy, and no longer knows what it has said since."""


class DefectError(ProtocolError):
    """A party failed in a way that nobody planned."""


class RosterRefusedError(ProtocolError):
    """An invitation to join or a change to the roster was refused."""


class RefusedError(ProtocolError):
    """The rank server answered, and refused; ``status`` is HTTP's."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"the rank server refuses (status {status}): {why}")
        self.status = status


class BusyError(SottovoceError):
    """More waits to be stored than the server lets wait."""


class MissingExtraError(SottovoceError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; this needs it. Run: pip install 'sottovoce[{extra}]'"
        )

    @classmethod
    def of_import(cls, error: ModuleNotFoundError, extra: str) -> Self:
        """What to install after a failed import of somebody else's module."""
        package = str(error.name).partition(".")[0]
        # A module of ours that is missing is a defect, which no extra mends.
        if package == "sottovoce":
            raise error
        return cls(package, extra)


class CheckFailedError(SottovoceError):
    """A check ran and did not hold."""

    exit_code: ClassVar[int] = 1


class DroppedFeaturesWarning(UserWarning):
    """Features that one peer alone has are not trained on.

    Example:
        >>> import warnings
        >>> from sottovoce.learn import DroppedFeaturesWarning, train
        >>> holder = ([[0.0, 1.0, 0.5], [1.0, 0.0, 0.7]] * 12, [0, 1] * 12)
        >>> names = [["a", "b", f"of {peer} alone"] for peer in range(3)]
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", DroppedFeaturesWarning)
        ...     trained = train([holder] * 3, features=names, penalty=0.1)
        >>> trained.kept_features_
        ('a', 'b')
    """


class UnwantedError(Exception):
    """Nobody waits for this work any more; raised within it, to end it."""


class Stopped(BaseException):
    """Ctrl-C or a polite request to end: files under way are removed on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number
