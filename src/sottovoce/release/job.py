"""A release from beginning to end: what is asked, then spend, draw, keep, unpack.

`release_counts` makes a request from its keywords, ``sottovoce release`` from its options; it is
checked once, and worked out to a job when its documents are counted.

The order makes crashes harmless: the ledger commits the spend before noise is drawn and keeps
what was drawn, so that the same request, made again, gives the same bytes and never new noise.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import ReadOptions, named_columns
from sottovoce.corpus.vocabulary import Vocabulary, named_vocabulary
from sottovoce.errors import CorpusError, InputError, LedgerError, ParameterError
from sottovoce.files import FilePath, check_folder, nearest_folder
from sottovoce.privacy.exact import Exact, exact, positive_integer
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.ledger import Ledger, Spend
from sottovoce.release.card import ReleaseCard, make_card
from sottovoce.release.compression.embedding import WordVectors, read_embedding
from sottovoce.release.folder import (
    CARD_FILE,
    needs_spark,
    publish_bundle,
    released_card,
    verified_card,
    write_bundle,
)
from sottovoce.release.groups import checked_ids, labels_digest
from sottovoce.release.inputs import VOUCHED, CountedDocuments, CountsElsewhere, ReleaseInputs
from sottovoce.release.plan import (
    Accounting,
    PriorKind,
    Released,
    ReleasePlan,
    ReleaseSettings,
    Sized,
)

# A count and its column, in the uncompressed archive that the ledger keeps; and in a shard.
_BYTES_PER_CELL, _BYTES_PER_SHARD_CELL = 12, 4


@dataclass(frozen=True, eq=False)
class Job:
    """Documents to release by a plan.

    ``declared`` names what the data chose and the caller declares; ``label`` tells apart two
    releases that are otherwise the same, for whoever wants to spend twice.
    """

    documents: CountedDocuments
    plan: ReleasePlan
    declared: tuple[str, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        """Refuse what could only fail once the spend is committed."""
        documents, maps = self.documents.counts.shape[0], self.plan.settings.maps
        if maps > documents:
            raise ParameterError(f"maps must be at most one per document, {documents}, got {maps}.")

    @cached_property
    def request(self) -> SpendRequest:
        """What is asked of the ledger; the same job is the same request."""
        guarantee = LimitedPrecision.at_rate(self.plan.guarantee.rate, n=self.plan.guarantee.n)
        return SpendRequest(
            self._fingerprint(),
            self.documents.corpus,
            guarantee,
            documents=self.documents.documents,
            others=VOUCHED in self.declared,
        )

    def card(self, spend: int | None) -> ReleaseCard:
        """The release's card, but for the hashes of its files."""
        return make_card(
            self.plan,
            self.documents.vocabulary,
            documents=self.documents.counts.shape[0],
            documents_per_user=self.documents.per_user,
            declared=self.declared,
            spend=spend,
            labels=self.documents.labels,
            grouping=self.documents.grouping,
        )

    def _fingerprint(self) -> str:
        settings, vocabulary = self.plan.settings, self.documents.vocabulary
        plain = {
            name: str(value)
            for name, value in vars(settings).items()
            if name not in {"embedding", "frequencies", "guarantee"}
        }
        facts = {
            **plain,
            # What frequencies would have cost is no part of a release that buys none.
            "prior_share": str(settings.prior_rate),
            "guarantee": str((settings.guarantee.n, settings.guarantee.epsilon)),
            "frequencies": _digest(settings.frequencies),
            "map": _digest(self._embedded_words()),
            "vocabulary": (vocabulary.fingerprint, vocabulary.data_dependent, vocabulary.origin),
            "counts": self._counts(),
            "corpus": self.documents.corpus,
            "per_user": self.documents.per_user,
            "declared": self.declared,
            "label": self.label,
        }
        # Named only where there are some: the requests of earlier releases stay what they were.
        if self.documents.labels is not None:
            facts["labels"] = labels_digest(self.documents.labels)
        if self.documents.grouping is not None:
            facts["groups"] = self.documents.grouping.facts(self.documents.groups)
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def _embedded_words(self) -> NDArray[np.float64] | None:
        embedding = self.plan.settings.embedding
        return None if embedding is None else embedding.lookup(self.plan.vocabulary)[0]

    def _counts(self) -> list[str | None]:
        """What is released follows from the corpus and every rule that was applied to it."""
        counts = self.documents.counts
        if isinstance(counts, CountsElsewhere):
            return list(counts.digests)
        # In 64 bits each, whatever scipy chose for a matrix of this size.
        parts = (counts.data, counts.indices, counts.indptr)
        return [_digest(part.astype(np.int64, copy=False)) for part in parts]

    def draw(self) -> Released:
        """Draw noise here, for counts that are here."""
        if isinstance(self.documents.counts, CountsElsewhere):
            raise InputError("these counts are on a cluster; draw the noise there.")
        return self.plan.draw(self.documents.counts)


def _digest(array: NDArray[np.generic] | None) -> str | None:
    return None if array is None else hashlib.sha256(array.tobytes()).hexdigest()


def release_to_folder(job: Job, ledger: Ledger, folder: Path) -> ReleaseCard:
    """Spend, draw once, and put the release into ``folder``.

    Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
    """
    request = ledger.key_names(job.request)
    check_folder(folder)
    refuse_another_release(folder, job, ledger.find(request))
    check_room(folder, ledger.path.parent, job.plan, job.documents.counts)
    spend = ledger.commit(request)
    note = ledger.drawing_file(spend)

    def draw(path: Path) -> None:
        if note.exists():
            # A cluster died over the same request.
            with needs_spark():
                from sottovoce_spark import sharded_job  # noqa: PLC0415 - another distribution
            sharded_job.clear_attempt(note, sharded_job.local_store_at)
        draw_bundle(path, job, spend.id)

    stored = ledger.release(request, draw)
    if stored.output is not None:
        publish_bundle(stored.output.path, folder)
    card = verified_card(folder)
    if replace(card, files={}) != job.card(spend.id):
        raise LedgerError("the stored output is not what was asked for; do not publish it.")
    return card


def draw_bundle(path: Path, job: Job, spend: int | None) -> None:
    """Draw ``job`` into the one file that is kept of it: every release, and every audit of one."""
    released = job.draw()
    documents = job.documents
    public = documents.labels, documents.public_ids
    write_bundle(path, released, documents.vocabulary, job.card(spend), *public)


def refuse_another_release(folder: Path | None, job: Job, own: Spend | None) -> None:
    """What lies in ``folder`` may have been published: only the same release may be put there."""
    if folder is None or not (folder / CARD_FILE).exists():
        return
    if own is None or replace(released_card(folder), files={}) != job.card(own.id):
        raise InputError(
            f"{folder} holds another release; give another folder, or remove that one first."
        )


def check_room(folder: Path | None, outputs: Path, plan: ReleasePlan, counts: Sized) -> None:
    """Refuse before anything is spent what the disk could not hold, in the ledger's folder too."""
    cells = plan.expected_nonzeros(counts)
    if isinstance(counts, CountsElsewhere):
        # Shards are kept once, where they are written.
        places = [] if folder is None else [nearest_folder(folder)]
        needed = cells * _BYTES_PER_SHARD_CELL
    else:
        places = [nearest_folder(outputs), *([] if folder is None else [nearest_folder(folder)])]
        shared = len({place.stat().st_dev for place in places}) < len(places)
        needed = cells * _BYTES_PER_CELL * (1 + shared)
    free = min((shutil.disk_usage(place).free for place in places), default=needed)
    if free < needed:
        raise InputError(
            f"the release needs about {_in_bytes(needed)} of disk, but only {_in_bytes(free)} are "
            "free; nothing was spent or released."
        )


def _in_bytes(number: int) -> str:
    """So many bytes, in the largest unit of which there is one."""
    units = ("bytes", "kB", "MB", "GB", "TB")
    place = min(len(units) - 1, (len(str(number)) - 1) // 3)
    return f"{number / 1000**place:.1f} {units[place]}" if place else f"{number} bytes"


@dataclass(frozen=True, eq=False)
class ReleaseRequest:
    """One release, as it was asked; `release_counts` says what each keyword means."""

    documents: Source
    _: KW_ONLY
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
    dry_run: bool = False

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
            reading=reading.with_columns(label=self.labels),
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
