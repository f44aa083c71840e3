"""A release as an object: counts, words, maps and card, read from its folder."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce._notebook import html_facts
from sottovoce.arrays import Floats, Integers
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.guessed import warned_reading
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.privacy.audit.findings import AuditReport
from sottovoce.privacy.exact import exact, positive_integer
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import (
    MOST_COLUMNS,
    MOST_METERED,
    Moments,
    RowsElsewhere,
    SignalMeter,
    released_moments,
    released_totals,
    signal_meter,
)
from sottovoce.release.analysis.summary import PairOrder, PairTotals, ReleaseSummary, pair_totals
from sottovoce.release.analysis.totals import (
    TellingWords,
    WordTotals,
    column_names,
    label_totals,
    telling_words,
    word_totals,
)
from sottovoce.release.audit import audit_held, audit_published, audit_release
from sottovoce.release.card import ReleaseCard
from sottovoce.release.compression.word_map import WordMap, load_maps
from sottovoce.release.counts import Counts, CountsFile, checked_counts
from sottovoce.release.folder import (
    FREQUENCIES_FILE,
    MAP_STEM,
    VOCABULARY_FILE,
    ShardedRows,
    released_labels,
    released_rows,
    verified_card,
)
from sottovoce.release.groups import labels_of_rows

if TYPE_CHECKING:
    from sottovoce.release.classify.inputs import ReleasedDocumentsClassifier
    from sottovoce.release.topics.estimator import PrivateTopics

IN_MEMORY_BYTES = 1 << 28
"""More counts are not kept in memory."""
_CELL_BYTES = 12


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
    rows: "Counts | CountsFile | ShardedRows | RowsElsewhere"
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
        return self.rows if isinstance(self.rows, sparse.csr_array) else self.rows.whole()

    @property
    def guarantee(self) -> LimitedPrecision:
        """What truly holds for each document."""
        return self.card.guarantee

    @property
    def map(self) -> WordMap:
        """The map, where there is only one; else the first."""
        return self.maps[0]

    @property
    def law(self) -> NoiseLaw:
        """The law of every cell's noise, which the card states.

        Refused where outputs were dropped: their sums are no longer unbiased.
        """
        if self.card.threshold is not None:
            raise ParameterError(
                f"this release dropped outputs below {self.card.threshold}, so that the law of its "
                "cells is not that of its noise and their sums mislead; release what is to be "
                "analysed without a threshold."
            )
        return NoiseLaw(float(exact(self.card.noise_rate, "noise_rate")))

    def words(self, *, level: float = 0.95, by_label: bool | ArrayLike = False) -> WordTotals:
        """How often each word was used, unbiased, with standard errors and intervals.

        ``by_label``: for each label by itself; True takes the release's own labels.
        """
        if self.is_compressed:
            raise ParameterError(
                f"this release sums its {self.card.words:,} words into {self.card.columns:,} "
                "columns, and words of one column cannot be told apart; ask for .columns(), which "
                "names the words of each."
            )
        return self._totals(None, level, by_label)

    def columns(self, *, level: float = 0.95, by_label: bool | ArrayLike = False) -> WordTotals:
        """The same of a compressed release: how often the words of each column were used."""
        self._refuse_several_maps()
        return self._totals(self.map.column, level, by_label)

    def telling_words(
        self, labels: ArrayLike | None = None, *, level: float = 0.95, most: int = 10
    ) -> TellingWords:
        """The words that each label's documents use more than all do; None: its own labels."""
        self._refuse_several_maps()
        checked = self.checked_labels(labels)
        names = column_names(self.vocabulary.terms, self._shared_columns())
        return telling_words(self.rows, checked, self.law, names, level, most=most)

    def pairs(
        self,
        *,
        words: Sequence[str] | None = None,
        most: int = 100,
        level: float = 0.95,
        order: PairOrder = "surprise",
    ) -> PairTotals:
        """Which words occur together in documents, with standard errors and intervals.

        ``words``: among these alone. ``order``: "surprise", by how far above chance; or
        "together", by how often. Of a compressed release: the columns, by their numbers. Of more
        columns than memory holds pairs of: among the most frequent ones.
        """
        if words is None and self.card.columns <= MOST_COLUMNS:
            return pair_totals(self.moments, self.names(), level=level, most=most, order=order)
        places = self._frequent() if words is None else self._places(words)
        chosen = released_moments(self.rows, self.law, columns=places)
        names = [self.names()[place] for place in places.tolist()]
        return pair_totals(chosen, names, level=level, most=most, order=order)

    @cached_property
    def moments(self) -> Moments:
        """Unbiased sums over the documents, column by column and pair by pair."""
        self._refuse_several_maps()
        return released_moments(self.rows, self.law)

    def meter(self) -> SignalMeter:
        """How many dimensions of meaning stand above the noise of this release."""
        return self._meter

    @cached_property
    def _meter(self) -> SignalMeter:
        if self.card.columns <= MOST_METERED:
            return signal_meter(self.moments)
        self._refuse_several_maps()
        return signal_meter(released_moments(self.rows, self.law, columns=self._frequent()))

    def topics(self, k: int, *, seed: int = 0) -> "PrivateTopics":
        """``k`` topics of this release, as `PrivateTopics` reads them.

        Warns, with their number, where fewer stand above the noise.
        """
        from sottovoce.release.topics.estimator import PrivateTopics  # noqa: PLC0415 - slow to import

        number = positive_integer(k, "topics")
        if told := self.topics_warning(number):
            warnings.warn(told, stacklevel=2)
        return PrivateTopics(number, random_state=seed).fit(self)

    def topic_words(self, topics: "PrivateTopics", most: int = 10) -> list[list[str]]:
        """The most frequent words of each of the ``topics``; none that noise alone would show."""
        if self.meter().dimensions <= 1:
            return []
        names, order = self.names(), np.argsort(-topics.components_, axis=1, kind="stable")
        return [[names[place] for place in row] for row in order[:, :most].tolist()]

    def topics_warning(self, k: int) -> str | None:
        """What to know before ``k`` topics are read; None: as many stand above the noise."""
        if self.is_compressed:
            raise ParameterError(
                f"topics need words, and this release sums its {self.card.words:,} words into "
                f"{self.card.columns:,} columns, where they cannot be told apart; release without "
                "compression to read topics."
            )
        return self.meter().warning(k)

    def classifier(
        self, labels: ArrayLike | None = None, *, seed: int = 0
    ) -> "ReleasedDocumentsClassifier":
        """A classifier of documents that learnt from this release; None: from its own labels.

        Of several kinds the one that loses least on released documents it does not know.
        """
        from sottovoce.release.classify.logistic import fit_released  # noqa: PLC0415 - slow to import

        checked, given = self.checked_labels(labels), np.asarray(labels)
        numbers = labels is not None and given.dtype.kind in "iub"
        return fit_released(self, given if numbers else checked, seed=seed)

    def count_texts(self, texts: Iterable[str], rules: TokenRules | None = None) -> Counts:
        """True texts as counts of this release's words, or columns: what its classifier reads.

        They stay here. ``rules``: those of the release, where it had stop words or stems.
        """
        if isinstance(texts, str):
            raise ParameterError("texts must be several, got a single one; put it into a list.")
        self._refuse_several_maps()
        array = pa.array(list(texts), pa.string())
        counts = checked_counts(next(count_batches([array], self.vocabulary, rules)))
        return self.map.compress(counts) if self.is_compressed else counts

    def summary(self, *, level: float = 0.95, labels: ArrayLike | None = None) -> ReleaseSummary:
        """What this release supports: its law, its meter, its words, pairs and labels."""
        given = labels is not None or self.labels is not None
        checked = self.checked_labels(labels) if given else None
        totals = (self.columns if self.is_compressed else self.words)(level=level)
        return ReleaseSummary(
            law=self.law,
            documents=self.card.documents,
            words=self.card.words,
            columns=self.card.columns,
            labels={} if checked is None else dict(Counter(checked.tolist())),
            meter=self.meter(),
            totals=totals,
            pairs=self.pairs(level=level),
            telling=None if checked is None else self.telling_words(checked, level=level),
        )

    @property
    def is_compressed(self) -> bool:
        """Whether several words share a column."""
        return self.card.columns < self.card.words

    def checked_labels(self, labels: ArrayLike | None = None) -> NDArray[np.str_]:
        """``labels``, one for each document, or the release's own."""
        return labels_of_rows(self.labels if labels is None else labels, self.card.documents)

    def _totals(
        self, columns: NDArray[np.int32] | None, level: float, by_label: bool | ArrayLike
    ) -> WordTotals:
        names = column_names(self.vocabulary.terms, columns)
        if by_label is False:
            return word_totals(self.rows, self.law, names, level)
        labels = self.checked_labels(None if by_label is True else by_label)
        return label_totals(self.rows, labels, self.law, names, level)

    def _shared_columns(self) -> NDArray[np.int32] | None:
        return self.map.column if self.is_compressed else None

    def _frequent(self) -> Integers:
        """The columns to look at where all of them would be too many."""
        return np.argsort(-released_totals(self.rows), kind="stable")[:MOST_METERED]

    def names(self) -> list[str]:
        """What its columns are called: words, or numbers where words share them."""
        if self.is_compressed:
            return [f"column {column}" for column in range(self.card.columns)]
        return list(self.vocabulary.terms)

    def _places(self, words: Sequence[str]) -> Integers:
        if self.is_compressed:
            raise ParameterError(
                "this release is compressed: pairs of words cannot be told apart; leave words out "
                "to get those of columns."
            )
        known = {word: place for place, word in enumerate(self.vocabulary.terms)}
        if isinstance(words, str):
            raise ParameterError("words must be several, got a single one; put them into a list.")
        absent = sum(word not in known for word in words)
        if absent or not len(words):
            raise ParameterError(
                f"words must be some of the release's vocabulary; {absent} of {len(words)} are not."
            )
        if len(set(words)) < len(words):
            # The noise of a cell times itself does not have mean 0.
            raise ParameterError("words must each be named once, since pairs are of two of them.")
        return np.array([known[word] for word in words])

    def _refuse_several_maps(self) -> None:
        if len(self.maps) > 1:
            raise ParameterError(
                f"this release has {len(self.maps)} maps: a column holds other words in each group "
                "of documents, so that sums over all documents mean nothing."
            )

    def audit(
        self,
        *,
        texts: Source | None = None,
        text: str | int = "text",
        stop_words: str | None = None,
        trials: int | None = None,
    ) -> AuditReport:
        """Try to refute the promise, as ``sottovoce audit --release`` does.

        ``texts`` are those that it was made of, for their holder alone; they need its folder.
        """
        if self.folder is None and texts is not None:
            raise ParameterError(
                "texts are held to the files of a folder: release with out=, or load the release."
            )
        if self.folder is None:
            return audit_published(self.card, self.counts, trials=trials)
        if texts is None:
            return audit_release(self.folder, trials=trials)
        read = partial(
            warned_reading, texts, told=ReadOptions().with_columns(text=text), stacklevel=4
        )
        return audit_held(self.folder, texts, read, stop_words, trials)

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
    return replace(release_in(place, card, _rows(released_rows(place, card))), folder=place)


def release_in(
    place: Path, card: ReleaseCard, rows: "Counts | CountsFile | ShardedRows | RowsElsewhere"
) -> Release:
    """The release whose small files are in ``place``, with these ``rows``."""
    return Release(
        card=card,
        rows=rows,
        vocabulary=Vocabulary.load(place / VOCABULARY_FILE),
        maps=tuple(load_maps(place / MAP_STEM)[0]),
        frequencies=np.load(place / FREQUENCIES_FILE, allow_pickle=False),
        labels=released_labels(place, card),
    )


def _rows(found: CountsFile | ShardedRows) -> "Counts | CountsFile | ShardedRows":
    """The counts in memory, or where they would fill it, from the files whenever they are asked."""
    return found if found.nnz * _CELL_BYTES > IN_MEMORY_BYTES else found.whole()
