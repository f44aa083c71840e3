"""Keyed digests of what a peer trains on: of each document, and of all of them together.

A digest is HMAC-SHA256 under a secret that the peer shows nobody: without it no document can be
guessed from a digest. It says whether two documents, or two collections, are the same. The digest
of a collection does not depend on the order of its documents; how often a document is there counts.
"""

import hmac
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.learn._wire.codec import Value, encoded
from sottovoce.learn.documents import Documents, Examples, Table

FEWEST_SECRET_BYTES = 16
_DOCUMENT, _COLLECTION = "document", "collection"


def keyed_digest(secret: bytes, purpose: str, *parts: Value) -> bytes:
    """HMAC-SHA256 of ``parts`` under a peer's secret, for one purpose."""
    if len(secret) < FEWEST_SECRET_BYTES:
        raise ParameterError(
            f"a secret for digests must have at least {FEWEST_SECRET_BYTES} bytes, got "
            f"{len(secret)}."
        )
    return hmac.digest(secret, encoded((purpose, *parts)), "sha256")


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
    for at, number in enumerate(numbers.tolist()):
        rows[number].append(_row(examples, at))
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


def _row(examples: Examples, at: int) -> Value:
    label = () if examples.labels is None else (examples.labels[at],)
    if isinstance(examples, Documents):
        return (examples.texts[at], label)
    return (*_numbers(examples, at), label)


def _numbers(table: Table, at: int) -> tuple[Value, ...]:
    """A row's numbers by the names of their columns, where these have names."""
    row = table.rows[at] + 0.0  # which makes one zero of two
    if not table.columns:
        return (row.astype("<f8"), ())
    order = sorted(range(len(table.columns)), key=table.columns.__getitem__)
    return (row[order].astype("<f8"), tuple(table.columns[k] for k in order))
