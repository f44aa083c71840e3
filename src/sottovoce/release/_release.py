"""A release as an object: counts, words, maps and card, read from its folder."""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce._arrays import Floats
from sottovoce._notebook import html_facts
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.privacy._guarantee import LimitedPrecision
from sottovoce.privacy.audit._findings import AuditReport
from sottovoce.release._audit import audit_published, audit_release
from sottovoce.release._card import ReleaseCard
from sottovoce.release._counts import Counts
from sottovoce.release._counts_file import CountsFile
from sottovoce.release._folder import (
    COUNTS_FILE,
    FREQUENCIES_FILE,
    MAP_STEM,
    VOCABULARY_FILE,
    released_labels,
    verified_card,
)
from sottovoce.release.compression._word_map import WordMap, load_maps


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Released word counts and what they promise; all of it may be published.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     released = sv.release_counts(
    ...         ["my debt", "a loan at the bank"], words=["bank", "debt", "loan"],
    ...         epsilon=2, precision=2, ledger=f"{folder}/my.ledger",
    ...     )
    >>> released  # doctest: +ELLIPSIS
    Release(documents=2, words=3, columns=3, guarantee='(N=2, epsilon=2) ... per word')
    >>> released.counts.shape, released.vocabulary.terms
    ((2, 3), ('bank', 'debt', 'loan'))
    """

    card: ReleaseCard
    """What ``card.json`` says."""
    rows: "Counts | CountsFile"
    """Documents by columns, the noise included, where they lie: they may be longer than memory."""
    vocabulary: Vocabulary
    maps: tuple[WordMap, ...]
    """Which column each word was summed into; document i took map i modulo their number."""
    frequencies: Floats
    """How frequent each word was taken to be."""
    labels: NDArray[np.str_] | None = None
    """The public label of each document, where the release carries labels."""
    folder: Path | None = None
    """Where it was written; None: only the ledger keeps it."""

    @cached_property
    def counts(self) -> Counts:
        """Documents by columns, the noise included, in memory."""
        return self.rows.whole() if isinstance(self.rows, CountsFile) else self.rows

    @property
    def guarantee(self) -> LimitedPrecision:
        """What truly holds for each document."""
        return self.card.guarantee

    @property
    def map(self) -> WordMap:
        """The map, where there is only one; else the first."""
        return self.maps[0]

    def audit(self, *, trials: int | None = None) -> AuditReport:
        """Try to refute the promise, as ``sottovoce audit --release`` does."""
        if self.folder is not None:
            return audit_release(self.folder, trials=trials)
        return audit_published(self.card, self.counts, trials=trials)

    def __repr__(self) -> str:
        card = self.card
        return (
            f"Release(documents={card.documents}, words={card.words}, columns={card.columns}, "
            f"guarantee={str(card.guarantee)!r})"
        )

    def __str__(self) -> str:
        return f"{self!r}\n{self.card.in_words()}"

    def _repr_html_(self) -> str:
        card = self.card
        facts = {"documents": card.documents, "words": card.words, "columns": card.columns}
        return html_facts({**facts, "promise": card.in_words()}, "Release")


def load_release(folder: str | PathLike[str]) -> Release:
    """The release in ``folder``, whose files must be what its card says.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = sv.release_counts(
    ...         ["my debt", "a loan"], words=["debt", "loan"], epsilon=2, precision=2,
    ...         ledger=f"{folder}/my.ledger", out=f"{folder}/released",
    ...     )
    ...     found = sv.load_release(f"{folder}/released")
    >>> (found.counts != made.counts).nnz, found.guarantee == made.guarantee
    (0, True)
    """
    place = Path(folder)
    card = verified_card(place)
    return Release(
        card=card,
        rows=CountsFile(place / COUNTS_FILE),
        vocabulary=Vocabulary.load(place / VOCABULARY_FILE),
        maps=tuple(load_maps(place / MAP_STEM)[0]),
        frequencies=np.load(place / FREQUENCIES_FILE, allow_pickle=False),
        labels=released_labels(place, card),
        folder=place,
    )
