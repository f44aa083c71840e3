"""Admission by tokens, where an operator wants to know that k reports are of k people.

Whoever runs the servers hands every person one token, by a way of its own, and gives both servers
the list. A token admits one report a topic and period, so that nobody counts as many. It hides
nothing of who reports: the servers can link a person's reports by it, and whoever handed out the
tokens knows whose they are. What a report says stays as hidden as it is without one.

A server keeps no token, only what tells that one was used for a topic and period, and only until
that is published.
"""

import hashlib
import re
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.files import cause_of, refuse_open_to_others

_TOKEN = re.compile(r"[0-9a-f]{32}")


def read_tokens(path: Path) -> list[str]:
    """The tokens in a file that only its owner may read: 32 hexadecimal digits a line."""
    try:
        refuse_open_to_others(path)
        lines = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the tokens {path}: {cause_of(error)}.") from None
    if not lines or not all(_TOKEN.fullmatch(line) for line in lines):
        raise InputError(
            f"{path} must have a token of 32 hexadecimal digits in each line: openssl rand -hex 16"
        )
    if len(set(lines)) < len(lines):
        raise InputError(f"{path} has a token twice; every person needs one of their own.")
    return lines


class Admission:
    """The tokens that a server admits."""

    def __init__(self, tokens: list[str]) -> None:
        # Looked up by their hashes, so that how long it takes tells nothing of a token.
        self._hashes = {_hash(token) for token in tokens}

    def __len__(self) -> int:
        return len(self._hashes)

    def member(self, token: str, topic: str, period: int) -> str | None:
        """What a token is known by in one topic and period; None where it admits nobody."""
        if _hash(token) not in self._hashes:
            return None
        return _hash(f"{token}\n{period}\n{topic}").hex()


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
