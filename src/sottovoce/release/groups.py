"""A release whose rows are groups of documents: threads, say, by a column of the file.

A row's counts are the sums of its documents' counts, and the promise is about a row: texts of a
group that are up to N words apart. Which groups there are, and how many, is disclosed, and one
author's documents may lie in many rows. The ledger charges every document of every group. Rows are
numbered in the order in which their groups begin; what the column calls them is published only
where that is said to be public (``ids``), in `ids.txt`, a line for each row.

The public labels that a release may carry: one a document, published as they are.

`labels.txt` holds a line for each document, in the order of the counts. No noise covers a label:
whoever names a column of labels vouches that it is public, and the card says so.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.corpus.clean import clean_text
from sottovoce.corpus.read.guess import named_for
from sottovoce.errors import InputError, ParameterError

PUBLIC = "public"
LONGEST_ID = 200
_LONGEST_COLUMN = 100


@dataclass(frozen=True)
class Grouping:
    """By which column documents are grouped, and whether its values are published.

    >>> Grouping("thread").in_words()[:44]
    'Each row holds the documents of one group by'
    """

    by: str
    ids: bool = False

    def __post_init__(self) -> None:
        if not self.by.isprintable() or not 0 < len(self.by) <= _LONGEST_COLUMN:
            raise ParameterError("documents are grouped by a column with a short printable name.")
        if not self.ids and named_for(self.by, "user") > 1:
            raise ParameterError(
                "a row for each author tells who is there: declare with --ids public (in Python "
                "ids='public') that this is public already, or group by another column."
            )

    def facts(self, groups: Sequence[str]) -> str:
        """What tells a release by these groups, in their order, from others."""
        digest = hashlib.sha256("\0".join(groups).encode()).hexdigest()
        return f"{self.by}, {'public' if self.ids else 'numbered'}, {digest}"

    def in_words(self) -> str:
        """What the card says of it."""
        ids = "what the groups are called is published" if self.ids else "rows are only numbered"
        return (
            f"Each row holds the documents of one group by the column {self.by!r}. Which groups "
            f"there are and how many is disclosed ({ids}), and one author's documents may lie in "
            "many rows: the promise is about the words of a row, not about an author."
        )


def checked_ids(by: str | None, ids: str | None) -> Grouping | None:
    """The options --by and --ids."""
    if ids not in {None, PUBLIC}:
        raise ParameterError(f"ids must be {PUBLIC}, or left out, got {ids!r}.")
    if by is None:
        if ids is not None:
            raise ParameterError("ids need a column to group by (--by, in Python by=).")
        return None
    return Grouping(by, ids == PUBLIC)


def group_names(values: Sequence[str | None], by: str) -> tuple[str, ...]:
    """The group of each document; replies belong to the subject that they reply to."""
    missing = sum(value is None or not value.strip() for value in values)
    if missing:
        raise ParameterError(
            f"every document needs a group, and {missing:,} of {len(values):,} have no {by!r}; "
            "leave those out, or give them one."
        )
    replied = named_for(by, "text") > 0
    return tuple(clean_text(str(each)) if replied else str(each) for each in values)


def summed_by_group(
    counts: sparse.csr_array, names: Sequence[str]
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """The sum of each group's rows, and the groups, in the order in which they begin."""
    number: dict[str, int] = {}
    rows = np.array([number.setdefault(name, len(number)) for name in names], np.int64)
    places = np.arange(len(names))
    belongs = sparse.csr_array(
        (np.ones(len(names), counts.dtype), (rows, places)), shape=(len(number), len(names))
    )
    summed = sparse.csr_array(belongs @ counts)
    summed.sort_indices()
    return summed, tuple(number)


def packed_ids(ids: Sequence[str]) -> bytes:
    """The content of `ids.txt`: public names, each on a line of its own."""
    if any(len(each) > LONGEST_ID or not each.isprintable() for each in ids):
        raise ParameterError(
            f"what a group is called must be one line of at most {LONGEST_ID} characters to be "
            "published; release without --ids, or group by another column."
        )
    return "".join(f"{each}\n" for each in ids).encode()


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
