"""Secrets in files: readable by their owner only, and sealed where there is a passphrase.

A sealed file holds the secret under AES-256-GCM, with a key that scrypt derives from the
passphrase. Without a passphrase the file's mode, 0600, is all that protects it. Where a party's
passphrase comes from, its configuration says: `read_passphrase`.
"""

import getpass
import json
import os
import sys
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag

from sottovoce.errors import InputError
from sottovoce.files import refuse_open_to_others, small_text, whole_file
from sottovoce.json import parse_json
from sottovoce.learn.encrypted_files import seal_fields, unseal

FORMAT = "sottovoce-secret"
VERSION = 1
_LARGEST_FILE = 1 << 18
NONE, PROMPT = "none", "prompt"
VARIABLE = "SOTTOVOCE_PASSPHRASE"
_ENVIRONMENT, _FILE = "env:", "file:"


def save_secret(path: Path, secret: bytes, *, kind: str, passphrase: str | None) -> None:
    """Write a secret of some ``kind`` (identity, journal, ...) for its owner only."""
    head = {"format": FORMAT, "version": VERSION, "kind": kind}
    body = {"secret": secret.hex()} if passphrase is None else seal_fields(secret, passphrase, kind)
    with whole_file(path, private=True) as part:
        part.write_text(json.dumps(head | body) + "\n", encoding="utf-8")


def load_secret(path: Path, *, kind: str, passphrase: str | None) -> bytes:
    """Read a secret of that kind; refuses a file that others can read."""
    fields = _fields(path)
    if fields.get("kind") != kind:
        raise InputError(f"{path} must hold the secret of the kind {kind!r}.")
    try:
        if "sealed" not in fields:
            return bytes.fromhex(fields["secret"])
        return _open_sealed(fields, kind, passphrase, path)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: it is no whole file of a secret.") from None


def private_text(path: Path) -> str:
    """The text of a small file that only its owner may read."""
    try:
        refuse_open_to_others(path)
        return small_text(path, _LARGEST_FILE, "the file of a secret")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no file of a secret: it is not text.") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None


def _fields(path: Path) -> dict[str, Any]:
    try:
        fields = parse_json(private_text(path))
    except json.JSONDecodeError:
        fields = None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise InputError(f"{path} is no file of a secret.")
    if fields.get("version") != VERSION:
        raise InputError(f"{path} must be of version {VERSION}.")
    return fields


def _open_sealed(fields: dict[str, Any], kind: str, passphrase: str | None, path: Path) -> bytes:
    if passphrase is None:
        raise InputError(f"{path} is sealed; give its passphrase.")
    salt, nonce, sealed = (bytes.fromhex(fields[name]) for name in ("salt", "nonce", "sealed"))
    try:
        return unseal(salt, nonce, sealed, passphrase, kind)
    except InvalidTag:
        raise InputError(f"the passphrase of {path} is wrong, or the file was changed.") from None


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
        return _prompt_passphrase()
    if source.startswith(_ENVIRONMENT):
        return _of_environment(source.removeprefix(_ENVIRONMENT))
    return _check_passphrase(private_text(folder / source.removeprefix(_FILE)).rstrip("\n"), source)


def found_from_anywhere(source: str) -> str:
    """The same source for who reads it in another folder: a file's path spelt out."""
    if not source.startswith(_FILE):
        return source
    return f"{_FILE}{Path(source.removeprefix(_FILE)).absolute()}"


def _prompt_passphrase() -> str:
    if not sys.stdin.isatty():
        raise InputError(
            "a passphrase cannot be asked for without a terminal; give its source as "
            f"{_ENVIRONMENT}{VARIABLE} or {_FILE}PATH."
        )
    return _check_passphrase(getpass.getpass("Passphrase: "), "what was typed")


def _of_environment(variable: str) -> str:
    found = os.environ.get(variable)
    if found is None:
        raise InputError(f"the passphrase must be in the environment variable {variable}.")
    return _check_passphrase(found, f"the variable {variable}")


def _check_passphrase(passphrase: str, source: str) -> str:
    if not passphrase:
        raise InputError(f"the passphrase of {source} must not be empty.")
    return passphrase
