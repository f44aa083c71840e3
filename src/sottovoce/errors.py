"""Every error Sottovoce raises on purpose.

    SottovoceError
    ├── InputError            what was given cannot be used            (exit code 2)
    │   ├── ParameterError    an option or argument is out of bounds
    │   ├── CorpusError       a file of posts or documents is unusable
    │   ├── LedgerError       a privacy ledger is unusable or refuses
    │   └── BudgetError       a release would exceed its corpus's privacy budget
    ├── ProtocolError         a message or a party broke its protocol  (exit code 2)
    ├── MissingExtraError     an optional dependency is not installed  (exit code 2)
    └── CheckFailedError      a check ran and did not hold             (exit code 1)

A message says what, the bound, what was got and what to do. It never holds a person's text.
"""

from collections.abc import Collection
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


class LedgerError(InputError):
    """A privacy ledger is unusable or refuses."""


class BudgetError(InputError):
    """A release would exceed its corpus's privacy budget."""

    may_be_others: bool = False
    """Whether only a few documents are short, which may be others that say the same."""


class ProtocolError(SottovoceError):
    """A message or a party broke its protocol; `sottovoce.learn.wire.refusals` names the ways."""


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


def check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    """Refuse a word that is none of those ``allowed`` for the parameter ``name``."""
    if value not in allowed:
        raise ParameterError(
            f"{name} must be one of {', '.join(allowed)}, got {value!r}."
            f"{did_you_mean(value, allowed)}"
        )


def did_you_mean(written: str, known: Collection[str]) -> str:
    """A sentence for a name that is not known but near one that is; empty where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    by_fold = {each.casefold(): each for each in known}
    near = get_close_matches(str(written).strip().casefold(), by_fold, n=1, cutoff=0.6)
    return f" Did you mean {by_fold[near[0]]!r}?" if near else ""
