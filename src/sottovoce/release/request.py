"""What a release is asked to be: its documents, its promise, its words, its ledger; checked once.

`release_counts` makes one from its keywords, ``sottovoce release`` from its options.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Required, TypedDict

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import ReadOptions, named_columns
from sottovoce.corpus.vocabulary import Vocabulary, named_vocabulary
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.files import FilePath
from sottovoce.privacy.exact import Exact, exact, positive_integer
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.compression.embedding import WordVectors, read_embedding
from sottovoce.release.groups import checked_ids
from sottovoce.release.inputs import CountedDocuments, ReleaseInputs
from sottovoce.release.job import Job
from sottovoce.release.plan import Accounting, PriorKind, ReleasePlan, ReleaseSettings


class ReleaseOptions(TypedDict, total=False):
    """The keywords of `release_counts`, for type checkers; `ReleaseRequest` has their defaults."""

    epsilon: Required[Exact]
    precision: Required[int]
    words: FilePath | Vocabulary | Iterable[str] | None
    text: str | int
    user: str | int | None
    time: str | int | None
    user_documents: int | None
    labels: str | int | None
    by: str | None
    ids: str | None
    ledger: FilePath | None
    budget: Exact | None
    out: FilePath | None
    compress: str
    columns: int | None
    accounting: Accounting
    prior: PriorKind
    prior_share: Exact
    frequencies: FilePath | ArrayLike | None
    embedding: FilePath | WordVectors | None
    maps: int
    threshold: int | None
    constant_work: bool
    declare_data_dependent: bool
    declare_new_documents: bool
    min_texts: int
    max_terms: int | None
    stop_words: str | None
    label: str
    reading: ReadOptions


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseRequest:
    """One release, as it was asked; `release_counts` says what each keyword means."""

    documents: Source
    epsilon: Exact
    precision: int
    words: FilePath | Vocabulary | Iterable[str] | None = None
    text: str | int = "text"
    user: str | int | None = None
    time: str | int | None = None
    user_documents: int | None = None
    labels: str | int | None = None
    by: str | None = None
    ids: str | None = None
    ledger: FilePath | None = None
    budget: Exact | None = None
    out: FilePath | None = None
    compress: str = "none"
    columns: int | None = None
    accounting: Accounting = "tight"
    prior: PriorKind = "public"
    prior_share: Exact = "1/10"
    frequencies: FilePath | ArrayLike | None = None
    embedding: FilePath | WordVectors | None = None
    maps: int = 1
    threshold: int | None = None
    constant_work: bool = False
    declare_data_dependent: bool = False
    declare_new_documents: bool = False
    min_texts: int = 1
    max_terms: int | None = None
    stop_words: str | None = None
    label: str = ""
    reading: ReadOptions = field(default_factory=ReadOptions)

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, rows of counts among it: no ledger could know them again."""
        given = self.documents
        if sparse.issparse(given) or (isinstance(given, np.ndarray) and given.dtype.kind in "biuf"):
            raise ParameterError(
                "documents must be texts, which the ledger charges one by one, got a matrix of "
                "counts; give the texts, or use PrivateBagOfWords, which keeps no ledger, and add "
                "up yourself."
            )
        if self.user_documents is None and not (self.user is None and self.time is None):
            raise ParameterError(
                "user and time are read only where each user's documents are bounded; give "
                "user_documents too, or leave them out."
            )
        self.guarantee, self.limit  # noqa: B018 - each is checked where it is made

    @cached_property
    def guarantee(self) -> LimitedPrecision:
        """What is stated of the whole release."""
        return LimitedPrecision(positive_integer(self.precision, "precision"), self.epsilon)

    @cached_property
    def limit(self) -> LimitedPrecision | None:
        """What the documents may ever spend, where that is said."""
        return None if self.budget is None else LimitedPrecision(self.precision, self.budget)

    @property
    def file(self) -> Path | None:
        """The file of the documents, if they are in one."""
        given = self.documents
        return Path(given) if isinstance(given, str | PathLike) else None

    def inputs(self) -> ReleaseInputs:
        """How the documents are to be read and counted."""
        reading = named_columns(self.reading, text=self.text, user=self.user, time=self.time)
        return ReleaseInputs(
            corpus=self.documents,
            reading=reading.named(label=self.labels),
            vocabulary=_read_vocabulary(self.words),
            min_texts=self.min_texts,
            max_terms=self.max_terms,
            stop_words=self.stop_words,
            user_documents=self.user_documents,
            declared=self.declare_data_dependent,
            declared_new=self.declare_new_documents,
            labelled=self.labels is not None,
            grouping=checked_ids(self.by, self.ids),
        )

    def job(self, documents: CountedDocuments, declared: tuple[str, ...]) -> Job:
        """The release of counted ``documents``, ready to be quoted or drawn."""
        words, embedding = documents.vocabulary, self.embedding
        settings = ReleaseSettings(
            guarantee=self.guarantee,
            compression=self.compress,
            columns=self.columns,
            accounting=self.accounting,
            prior=self.prior,
            prior_share=exact(self.prior_share, "prior share"),
            frequencies=_read_frequencies(self.frequencies, words),
            embedding=(
                read_embedding(Path(embedding))
                if isinstance(embedding, str | PathLike)
                else embedding
            ),
            maps=self.maps,
            threshold=self.threshold,
            constant_work=self.constant_work,
        )
        return Job(documents, ReleasePlan(settings, words.terms), declared, self.label)


def _read_vocabulary(words: FilePath | Vocabulary | Iterable[str] | None) -> Vocabulary | None:
    if words is None or isinstance(words, Vocabulary):
        return words
    if isinstance(words, str | PathLike):
        return named_vocabulary(words)
    # A set has no order of its own, and another order is another release.
    return Vocabulary.public(sorted(words) if isinstance(words, set | frozenset) else words)


def _read_frequencies(given: FilePath | ArrayLike | None, vocabulary: Vocabulary) -> Floats | None:
    if given is None:
        return None
    if isinstance(given, str | PathLike):
        return load_frequencies(Path(given), vocabulary)
    return np.asarray(given, np.float64)


def load_frequencies(path: Path, vocabulary: Vocabulary) -> Floats:
    """Public frequencies from lines "word, tab, number"; words that are not listed get none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        pairs = [line.rsplit("\t", 1) for line in lines if line.strip()]
        listed = {word: float(number) for word, number in pairs}
    except (OSError, UnicodeDecodeError, ValueError):
        raise CorpusError(f"{path} must be readable lines of a word, a tab and a number.") from None
    frequencies = np.array([listed.get(term, 0.0) for term in vocabulary.terms])
    if not np.isfinite(frequencies).all() or frequencies.min() < 0:
        raise CorpusError(f"the frequencies in {path} must be finite and >= 0.")
    if not frequencies.any():
        raise CorpusError(f"{path} lists none of the vocabulary's words.")
    # A word without a listed frequency is rare, not impossible.
    return np.where(frequencies > 0, frequencies, frequencies[frequencies > 0].min() / 2)
