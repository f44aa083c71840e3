"""The public labels that a release may carry: one a document, published as they are.

`labels.txt` holds a line for each document, in the order of the counts. No noise covers a label:
whoever names a column of labels vouches that it is public, and the card says so.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, ParameterError

MOST_LABELS = 1000
LONGEST_LABEL = 100
LABELS_IN_WORDS = (
    "Labels are published as they are: nothing hides which label a document has, and the promise "
    "is about its words alone."
)


def checked_labels(labels: Sequence[str | None]) -> tuple[str, ...]:
    """Labels that can be published: a few short public names, one for each document."""
    absent = sum(label is None or not label.strip() for label in labels)
    if absent:
        raise ParameterError(
            f"every document needs a label, and {absent:,} of {len(labels):,} have none; leave "
            "those documents out, give them a label, or release without labels."
        )
    found = tuple(str(label) for label in labels)
    different = set(found)
    if len(different) > MOST_LABELS:
        raise ParameterError(
            f"labels must be a few public names, at most {MOST_LABELS:,}, got {len(different):,} "
            "different ones; name another column."
        )
    if any(len(label) > LONGEST_LABEL or not label.isprintable() for label in different):
        raise ParameterError(
            f"a label must be one line of at most {LONGEST_LABEL} characters; this column holds "
            "something else, which would be published as it is. Name another column."
        )
    return found


def labels_of_rows(labels: ArrayLike | None, documents: int) -> NDArray[np.str_]:
    """Labels that are there and one for each document."""
    given = None if labels is None else np.asarray(labels)
    if given is None:
        raise ParameterError(
            "this release carries no labels; give one for each document, in their order."
        )
    if given.shape != (documents,):
        raise ParameterError(
            f"labels must be one for each of the {documents:,} documents, got "
            f"{' by '.join(f'{size:,}' for size in given.shape) or 'a single one'}."
        )
    if missing := sum(map(_is_missing, given.tolist())):
        raise ParameterError(
            f"labels must be there for every document, got {missing:,} that are missing; leave "
            "their documents out before the release, or give them a label of their own."
        )
    return given.astype(np.str_)


def _is_missing(label: object) -> bool:
    """What is missing in a frame is None, unlike itself (NaN), or neither like nor unlike (NA)."""
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 - NaN
    except TypeError:
        return True


def packed_labels(labels: Sequence[str]) -> bytes:
    """The content of `labels.txt`."""
    return "".join(f"{label}\n" for label in labels).encode()


def labels_digest(labels: Sequence[str]) -> str:
    """What tells these labels from others, in their order."""
    return hashlib.sha256(packed_labels(labels)).hexdigest()


def read_labels(path: Path, documents: int, different: int) -> NDArray[np.str_]:
    """The labels of a released folder, which its card says how many of."""
    most = documents * (4 * LONGEST_LABEL + 1)
    try:
        if path.stat().st_size > most:
            raise InputError(f"{path} holds more than a label for each document.")
        found = checked_labels(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    except (OSError, UnicodeDecodeError, ParameterError):
        raise InputError(f"{path} does not hold a label for each document.") from None
    if (len(found), len(set(found))) != (documents, different):
        raise InputError(f"{path} does not hold the labels that the card describes.")
    return np.array(found)
