"""Where a party's passphrase comes from."""

import getpass
import os
import sys
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.federation.sealed.files import private_text

NONE, PROMPT = "none", "prompt"
VARIABLE = "SOTTOVOCE_PASSPHRASE"
_ENVIRONMENT, _FILE = "env:", "file:"


def check_source(source: str) -> None:
    """Refuse what is no source of a passphrase."""
    named = any(source.startswith(kind) and source != kind for kind in (_ENVIRONMENT, _FILE))
    if source not in (NONE, PROMPT) and not named:
        raise InputError(
            f"a passphrase's source must be {NONE}, {PROMPT}, {_ENVIRONMENT}VARIABLE or "
            f"{_FILE}PATH, got {source!r}."
        )


def read_passphrase(source: str, folder: Path) -> str | None:
    """The passphrase, or None where there is none; a file's path is relative to ``folder``."""
    check_source(source)
    if source == NONE:
        return None
    if source == PROMPT:
        return _prompted()
    if source.startswith(_ENVIRONMENT):
        return _of_environment(source.removeprefix(_ENVIRONMENT))
    return _checked(private_text(folder / source.removeprefix(_FILE)).rstrip("\n"), source)


def _prompted() -> str:
    if not sys.stdin.isatty():
        raise InputError(
            "a passphrase cannot be asked for without a terminal; give its source as "
            f"{_ENVIRONMENT}{VARIABLE} or {_FILE}PATH."
        )
    return _checked(getpass.getpass("Passphrase: "), "what was typed")


def _of_environment(variable: str) -> str:
    found = os.environ.get(variable)
    if found is None:
        raise InputError(f"the passphrase must be in the environment variable {variable}.")
    return _checked(found, f"the variable {variable}")


def _checked(passphrase: str, source: str) -> str:
    if not passphrase:
        raise InputError(f"the passphrase of {source} must not be empty.")
    return passphrase
