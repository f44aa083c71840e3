"""Keyed digests of what a peer trains on: of each document, and of all of them together.

A digest is HMAC-SHA256 under a secret that the peer shows nobody: without it no document can be
guessed from a digest. It says whether two documents, or two collections, are the same. The digest
of a collection does not depend on the order of its documents; how often a document is there counts.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.learn.documents import Documents, Examples, Table
from sottovoce.learn.wire.codec import Value, encode_value

FEWEST_SECRET_BYTES = 16
_DOCUMENT, _COLLECTION = "document", "collection"


def keyed_digest(secret: bytes, purpose: str, *parts: Value) -> bytes:
    """HMAC-SHA256 of ``parts`` under a peer's secret, for one purpose."""
    if len(secret) < FEWEST_SECRET_BYTES:
        raise ParameterError(
            f"a secret for digests must have at least {FEWEST_SECRET_BYTES} bytes, got "
            f"{len(secret)}."
        )
    return hmac.digest(secret, encode_value((purpose, *parts)), "sha256")


def document_numbers(examples: Examples) -> NDArray[np.int64]:
    """Which document each row is of: as said, or one each."""
    if examples.groups is None:
        return np.arange(len(examples))
    return np.unique(examples.groups, return_inverse=True)[1].astype(np.int64)


def document_digests(examples: Examples, secret: bytes) -> tuple[bytes, ...]:
    """A digest of each document with its labels, in the order of `document_numbers`.

    Two copies of a document have the same digest. Rows of one document count in their order.
    """
    numbers = document_numbers(examples)
    rows: list[list[Value]] = [[] for _ in range(int(numbers.max(initial=-1)) + 1)]
    for number, row in zip(numbers.tolist(), _rows(examples), strict=True):
        rows[number].append(row)
    return tuple(keyed_digest(secret, _DOCUMENT, tuple(each)) for each in rows)


def numbered_digests(examples: Examples, secret: bytes) -> tuple[bytes, ...]:
    """As `document_digests`, but the second copy of a document has another than the first.

    What is decided by these digests is decided for each copy by itself, and the same whatever the
    order of the documents: the first copy is whichever comes first.
    """
    seen: Counter[bytes] = Counter()
    found = []
    for digest in document_digests(examples, secret):
        found.append(keyed_digest(secret, "copy", digest, seen[digest]))
        seen[digest] += 1
    return tuple(found)


def data_digest(examples: Examples, secret: bytes) -> bytes:
    """One digest of all documents with their labels, whatever their order."""
    return keyed_digest(secret, _COLLECTION, tuple(sorted(document_digests(examples, secret))))


def _rows(examples: Examples) -> Iterator[Value]:
    """Each row with its label, if it has one."""
    labels = examples.labels or [None] * len(examples)
    contents = examples.texts if isinstance(examples, Documents) else _numbers(examples)
    for content, label in zip(contents, labels, strict=True):
        yield (content, () if label is None else (label,))


def _numbers(table: Table) -> Iterator[Value]:
    """Each row's numbers by the names of their columns, where these have names."""
    order = sorted(range(len(table.columns)), key=table.columns.__getitem__)
    names = hashlib.sha256(encode_value(tuple(table.columns[k] for k in order))).digest()
    rows = table.rows[:, order] if order else table.rows
    for row in (rows + 0.0).astype("<f8"):  # adding makes one zero of two
        yield (row.tobytes(), names)
