"""Keyed digests of what a peer trains on: of each document, and of all of them together.

A digest is HMAC-SHA256 under a secret that the peer shows nobody: without it no document can be
guessed from a digest. It says whether two documents, or two collections, are the same. The digest
of a collection does not depend on the order of its documents; how often a document is there counts.

**Held out.** A peer chooses itself which documents it keeps for evaluation, and the same every
time. Whoever proposes a training says what fraction is held out. If it could say which documents,
two trainings whose choices differ by one would open that one: their sums' difference. So

- documents stand in an order that a secret of the peer's own decides, and nobody else knows;
- the order is of the documents alone: the same data are held out in every training, and a choice of
  more documents holds every smaller one;
- the number of documents is a multiple of `BLOCK`, at least one block, and at least one is left:
  two fractions either mean the same documents or differ by `BLOCK` of them or more.

Proof of the last: the choice for n documents and a fraction f is the first ``BLOCK * b`` of the
order, b a whole number; two choices of b and c blocks differ by ``BLOCK * |b - c|`` documents.
"""

import hashlib
import hmac
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DataError, ParameterError
from sottovoce.learn.documents import Documents, Examples, Table
from sottovoce.learn.support import FEWEST_DOCUMENTS
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


# The proposer's own threshold does not move it: choices by two thresholds could differ by one.
BLOCK = FEWEST_DOCUMENTS


def held_out(examples: Examples, fraction: float, secret: bytes) -> NDArray[np.bool_]:
    """Which rows a peer keeps for evaluation: those of whole documents, in blocks of them."""
    if not fraction:
        return np.zeros(len(examples), bool)
    digests = numbered_digests(examples, secret)
    number = held_out_count(len(digests), fraction)
    chosen = np.zeros(len(digests), bool)
    chosen[sorted(range(len(digests)), key=digests.__getitem__)[:number]] = True
    rows: NDArray[np.bool_] = chosen[document_numbers(examples)]
    return rows


def held_out_count(documents: int, fraction: float) -> int:
    """How many documents are held out: the nearest number of whole blocks, one at least."""
    if documents < 2 * BLOCK:
        raise DataError(
            f"a peer must have at least {2 * BLOCK} documents to hold some out, got {documents}; "
            "give it more, or train with held_out = 0."
        )
    blocks = max(1, math.floor(documents * fraction / BLOCK + 0.5))
    return BLOCK * min(blocks, documents // BLOCK - 1)


def check_estimate(fraction: float, *, training_data: bool) -> None:
    """Refuse to count on what was trained on, unless that is asked for by its name."""
    if not fraction and not training_data:
        raise ParameterError(
            "nothing was held out of this training, and the documents that it was trained on give "
            "no estimate. Train with held_out=0.2, or ask by name for a count on training data: "
            "training_data=True."
        )
