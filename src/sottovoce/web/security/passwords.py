"""A password in a file, as its argon2 hash."""

from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sottovoce.errors import InputError
from sottovoce.files import refuse_open_to_others, whole_file

SHORTEST = 12
LONGEST_FILE_BYTES = 4096


def write_password(path: Path, password: str) -> None:
    """Keep the password's hash in ``path``, readable by its owner only."""
    if len(password) < SHORTEST:
        raise InputError(f"the password must have at least {SHORTEST} characters.")
    with whole_file(path, private=True) as temporary:
        temporary.write_text(PasswordHasher().hash(password) + "\n", encoding="ascii")


class PasswordFile:
    """The hash of a password, read once."""

    def __init__(self, path: Path) -> None:
        self._hash = _read(path)

    def matches(self, password: str) -> bool:
        """Whether this is the password."""
        try:
            return PasswordHasher().verify(self._hash, password.encode(errors="replace"))
        except VerificationError:
            return False


def _read(path: Path) -> str:
    try:
        refuse_open_to_others(path)
        text = path.read_bytes()[:LONGEST_FILE_BYTES].decode("ascii", "replace").strip()
        PasswordHasher().check_needs_rehash(text)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None
    except InvalidHashError:
        raise InputError(
            f"{path} holds no argon2 hash; make one: "
            f"sottovoce advise --set-operator-password {path}"
        ) from None
    return text
