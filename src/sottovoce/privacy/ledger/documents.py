"""Documents as a ledger knows them: by what they say, not by the file that they lie in.

What is hashed is a text without blanks and punctuation, in lower case, in one of Unicode's forms.
Blanks, line ends, capitals and quotes change when another program writes a file: they make no other
document, and next to no other counts. A file that is copied, linked, moved, compressed, put in
another order or format, split or merged has the same documents. Documents of one text are told
apart by nothing, so that they share what was spent on any of them: of each, that is the worst case.
Within one release they are taken for several documents, each of which spends once.

The ledger keeps hashes under a key of its own, 64 bits each. Without the key, which lies beside it
for its owner only, the ledger lets nobody confirm a guess at a document. Two documents whose hashes
happen to agree share what they spend, never a budget's rest: the mistake is on the safe side.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, LedgerError
from sottovoce.files import only_one, refuse_open_to_others, whole_file
from sottovoce.privacy.randomness import system_bytes

Hashes: TypeAlias = NDArray[np.uint64]
HASH_BYTES = 8
_HASH = np.dtype("<u8")
_KEY_BYTES = 32
_NAME_BYTES = 32
_AT_A_TIME = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class DocumentSet:
    """The documents of a corpus: hashes of their texts, each once, in ascending order.

    >>> DocumentSet.of_texts(["my debt", "a loan", "my debt"])
    DocumentSet(documents=3, texts=2)
    """

    hashes: Hashes
    number: int
    """How many documents there are, those of one text counted each."""

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> "DocumentSet":
        """The set of such ``texts``."""
        return cls.of_hashes(b"".join(text_hash(text.encode()) for text in texts))

    @classmethod
    def of_hashes(cls, hashes: bytes | bytearray) -> "DocumentSet":
        """The set of documents whose `text_hash` are given one after another."""
        each = np.frombuffer(hashes, _HASH)
        return cls(_each_once(each), each.size)

    @cached_property
    def name(self) -> str:
        """The same for the same texts, whatever their order."""
        return blake2b(self.hashes.tobytes(), digest_size=_NAME_BYTES).hexdigest()

    @property
    def copies(self) -> int:
        """How many documents say what another one says."""
        return self.number - self.hashes.size

    def __repr__(self) -> str:
        return f"DocumentSet(documents={self.number}, texts={self.hashes.size})"


_ASCII_LOWER = bytes(range(256)).lower()
_ASCII_REST = bytes(each for each in range(128) if not chr(each).isalnum())
# Blanks, controls and punctuation of Latin-1, in general and of CJK; and the mark of order.
_REST = re.compile("[\x80-\xbf\xd7\xf7\u2000-\u206f\u2e00-\u2e7f\u3000-\u3004\u3008-\u303f\ufeff]+")


def fold_text(text: bytes) -> bytes:
    """What of a text in UTF-8 makes it this document and no other.

    >>> folded(b"My  debt, and a LOAN.")
    b'mydebtandaloan'
    """
    if text.isascii():
        return text.translate(_ASCII_LOWER, _ASCII_REST)
    plain = unicodedata.normalize("NFKC", text.decode()).casefold().encode()
    words = plain.translate(None, _ASCII_REST).decode()
    return unicodedata.normalize("NFKC", _REST.sub("", words)).encode()


def text_hash(text: bytes) -> bytes:
    """The hash of a text in UTF-8, before the ledger's key."""
    return blake2b(fold_text(text), digest_size=HASH_BYTES).digest()


@dataclass(frozen=True, repr=False)
class LedgerKey:
    """What a ledger hashes under; never shown."""

    secret: bytes

    @property
    def check(self) -> str:
        """By which a ledger knows its key again; tells nothing of it."""
        return self.name("the key of this ledger")

    def name(self, plain: str) -> str:
        """What the ledger calls ``plain``."""
        return blake2b(plain.encode(), digest_size=_NAME_BYTES, key=self.secret).hexdigest()

    def hashes(self, documents: DocumentSet) -> Hashes:
        """What the ledger keeps of ``documents``, in ascending order."""
        return _each_once(self.each(documents))

    def each(self, documents: DocumentSet) -> Hashes:
        """The same for one text after the other, in the order of the set."""
        plain = documents.hashes.astype(_HASH, copy=False)
        keyed = np.empty(plain.size, _HASH)
        # Some at a time: the digests of all, as objects, would take five times the room.
        for at in range(0, plain.size, _AT_A_TIME):
            keyed[at : at + _AT_A_TIME] = self._hash_keyed(plain[at : at + _AT_A_TIME].tobytes())
        return keyed

    def _hash_keyed(self, plain: bytes) -> Hashes:
        size = HASH_BYTES
        keyed = (
            blake2b(plain[at : at + size], digest_size=size, key=self.secret).digest()
            for at in range(0, len(plain), size)
        )
        return np.frombuffer(b"".join(keyed), _HASH)


def _each_once(hashes: Hashes) -> Hashes:
    """In ascending order. NumPy's own way takes seven times the room of what it is given."""
    ordered = np.sort(hashes)
    new = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered if new.all() else ordered[new]


def pack_hashes(hashes: Hashes) -> bytes:
    """The bytes of ``hashes``, in ascending order."""
    return hashes.astype(_HASH, copy=False).tobytes()


def unpack_hashes(content: bytes) -> Hashes:
    """The hashes in such bytes."""
    return np.frombuffer(content, _HASH)


def key_file(ledger: Path) -> Path:
    """Where the key of the ledger at ``ledger`` lies."""
    return ledger.with_name(f"{ledger.name}.key")


def find_key(ledger: Path) -> LedgerKey | None:
    """The key beside ``ledger``, or none."""
    path = key_file(ledger)
    if not path.is_file():
        return None
    refuse_open_to_others(path)
    secret = path.read_bytes()
    if len(secret) != _KEY_BYTES:
        raise LedgerError(f"{path} must have {_KEY_BYTES} bytes, got {len(secret)}; restore it.")
    return LedgerKey(secret)


def make_key(ledger: Path) -> LedgerKey:
    """The key beside ``ledger``, a fresh one where there is none; whoever is first makes it."""
    path = key_file(ledger)
    try:
        with only_one(path):
            # Others may have waited for their turn, or been first.
            if not path.exists():
                with whole_file(path, private=True) as unfinished:
                    unfinished.write_bytes(system_bytes(_KEY_BYTES))
    except InputError as error:
        raise LedgerError(f"cannot write the key {path}: {error}") from error
    found = find_key(ledger)
    if found is None:
        raise LedgerError(f"the key {path} was written but is not there; try again.")
    return found
