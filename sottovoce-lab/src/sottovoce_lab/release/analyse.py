"""What can be read from a release: readers that know the noise's law beside honest baselines.

The papers have no such table: their private topics are those of the clipped release. A seed of the
complaints' topics at rate 1 took 43 seconds of one processor, and all of it takes many hours;
``--data``, ``--rates``, ``--documents``, ``--seeds`` and ``--readers`` run a part, and what is done
in ``--out`` is not done again: see `parts`.
"""

import importlib.util
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.parsing import check_choice
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Moments, released_moments
from sottovoce.release.analysis.totals import noise_reach, normal_quantile
from sottovoce.release.counts import Counts
from sottovoce.report.result import Row, StudyResult
from sottovoce_lab._data import SIMULATED
from sottovoce_lab.options import StudyOptions, study_notes
from sottovoce_lab.release._classified import classified_rows
from sottovoce_lab.release.analyse_rows import (
    CHOSEN,
    AnalyseSetting,
    compared_rows,
    plots_of,
    reader_row,
)
from sottovoce_lab.release.analyse_topics import (
    MADE_UP,
    TOPICS,
    AnyCorpus,
    add_noise,
    drawn_corpus,
    topic_corpus,
    topic_rows,
)
from sottovoce_lab.release.parts import PartStore, Values, by_reader
from sottovoce_lab.release.pinned import PINNED, WORDS, PinnedCorpus, is_here

# Columns of the printed table, and those that only the wide one has.
SHOWN = ("data", "documents", "rate", "reader", "score", "mean", "low", "high")
WIDE = ("words", "topics", "seeds", "reference", "predicted", "baseline")
RATES = tuple(Fraction(rate) for rate in ("5", "2", "1", "0.5", "0.2", "0.1", "0.05"))
NOTES = study_notes("release-analyse")
DrawnSizes = tuple[tuple[int, tuple[Fraction, ...]], ...]
# The rates at which so many documents say something, and not everything.
DRAWN: DrawnSizes = (
    (1_000, RATES),
    (10_000, RATES),
    (100_000, RATES[2:]),
    (350_000, RATES[3:]),
    (1_000_000, RATES[4:]),
)


@dataclass(frozen=True)
class AnalyseSizes:
    """How much work the study does."""

    documents: int | None = None
    seeds: int = 5
    rates: tuple[Fraction, ...] = RATES
    words: int = WORDS
    topics: int = TOPICS
    drawn: DrawnSizes = DRAWN


QUICK = AnalyseSizes(
    documents=150,
    seeds=2,
    rates=(Fraction(2), Fraction(1, 2)),
    words=60,
    topics=3,
    drawn=((300, (Fraction(2), Fraction(1, 2))),),
)
ALL_DATA = (*PINNED, SIMULATED)
CLASSED = ("complaints", "news", "background")


def run_release_analyse(options: StudyOptions) -> StudyResult:
    """Topics and classes read from a release by its noise's law, beside honest baselines."""
    readers = tuple(READERS) if options.readers is None else tuple(options.readers.split(","))
    for reader in readers:
        check_choice("readers", reader, READERS)
    if options.data is not None:
        check_choice("data", options.data, ALL_DATA)
    _check_peer(readers)
    sizes, store = _sizes(options), PartStore.open_beside(options.out)
    rows = [row for reader in readers for row in READERS[reader](options.data, sizes, store)]
    if not rows:
        raise ParameterError("no data set that is here has what these readers need; see --data.")
    return StudyResult(tuple(rows), plots_of(rows), SHOWN, NOTES, WIDE)


def _check_peer(readers: Sequence[str]) -> None:
    """Refuse to begin hours of work without the peer that topics are compared with."""
    if "topics" in readers and importlib.util.find_spec("tomotopy") is None:
        raise MissingExtraError("tomotopy", "topics")


def _sizes(options: StudyOptions) -> AnalyseSizes:
    base = QUICK if options.quick else AnalyseSizes()
    drawn = base.drawn
    if options.documents is not None:
        drawn = ((options.documents, base.rates),)
    if options.rates:
        drawn = tuple((documents, options.rates) for documents, _ in drawn)
    return replace(
        base,
        documents=options.documents or base.documents,
        seeds=options.seeds or base.seeds,
        rates=options.rates or base.rates,
        drawn=drawn,
    )


def _corpora(data: str | None, names: Sequence[str]) -> list[str]:
    """Those of ``names`` that are asked for and here; one that is asked for by name must be."""
    if data is not None:
        return [data] if data in names else []
    return [name for name in names if is_here(name)]


def _corpus(name: str, sizes: AnalyseSizes) -> PinnedCorpus:
    return PINNED[name]().first(sizes.documents)


def topics_reader(data: str | None, sizes: AnalyseSizes, store: PartStore) -> list[Row]:
    """Topics of every data set, and of drawn documents of every number."""
    topics, cache = sizes.topics, store.folder
    corpora: list[tuple[Callable[[], AnyCorpus], tuple[Fraction, ...]]] = [
        (partial(topic_corpus, name, topics, cache=cache, documents=sizes.documents), sizes.rates)
        for name in _corpora(data, tuple(PINNED))
    ]
    if data in {None, SIMULATED}:
        source = "complaints" if is_here("complaints") else MADE_UP
        corpora += [
            (partial(drawn_corpus, documents, source, sizes.words, topics, cache=cache), rates)
            for documents, rates in sizes.drawn
        ]
    return [
        row
        for open_corpus, rates in corpora
        for corpus in (open_corpus(),)
        for rate in rates
        for row in topic_rows(corpus, float(rate), sizes.seeds, store)
    ]


def classifiers_reader(data: str | None, sizes: AnalyseSizes, store: PartStore) -> list[Row]:
    """Accuracy on each data set that has classes."""
    return [
        row
        for name in _corpora(data, CLASSED)
        for row in classified_rows(_corpus(name, sizes), sizes.rates, sizes.seeds, store)
    ]


def sums_reader(data: str | None, sizes: AnalyseSizes, store: PartStore) -> list[Row]:
    """Intervals and errors of sums on every data set."""
    rates = [float(rate) for rate in sizes.rates]
    return [
        row
        for name in _corpora(data, tuple(PINNED))
        for row in summed_rows(_corpus(name, sizes), rates, sizes.seeds, store)
    ]


READERS: dict[str, Callable[[str | None, AnalyseSizes, PartStore], list[Row]]] = {
    "topics": topics_reader,
    "classifiers": classifiers_reader,
    "sums": sums_reader,
}


LEVEL = 0.95
TOTALS, PAIRS = "intervals of word totals", "intervals of pairs"
CLIPPED, EVEN = "clipped sums", "all words alike"
# A rate with no noise to speak of: sums of the counts themselves.
_CLEAR = 60.0


def summed_rows(
    corpus: PinnedCorpus, rates: Sequence[float], seeds: int, store: PartStore
) -> list[Row]:
    """Coverage of totals and pairs, and the error of totals, at every rate."""
    truth = released_moments(corpus.counts, NoiseLaw(_CLEAR))
    return [row for rate in rates for row in _rate_rows(corpus, truth, rate, seeds, store)]


def _rate_rows(
    corpus: PinnedCorpus, truth: Moments, rate: float, seeds: int, store: PartStore
) -> list[Row]:
    documents, words = corpus.counts.shape
    known = corpus.part_parameters("sums", rate)
    parts = store.values_by_seed(known, seeds, partial(summed_values, corpus.counts, truth, rate))
    setting = partial(AnalyseSetting, data=corpus.name, documents=documents, words=words, rate=rate)
    rows = [
        reader_row(setting(score="coverage"), name, values, predicted=LEVEL)
        for name, values in by_reader(parts, "coverage").items()
    ]
    expected = math.sqrt(2 / math.pi * documents * NoiseLaw(rate).variance)
    predicted = expected * words / float(truth.totals.sum())
    errors = by_reader(parts, "error")
    compared = compared_rows(setting(score="error"), errors, reference=0.0, predicted=predicted)
    return rows + compared


def summed_values(counts: Counts, truth: Moments, rate: float, seed: int) -> Values:
    """Coverage and errors of one release, drawn with this seed."""
    released = add_noise(counts, rate, seed)
    moments = released_moments(released, NoiseLaw(rate))
    clipped = np.asarray(released.maximum(0).sum(axis=0), np.float64)
    even = np.full(truth.totals.size, truth.totals.mean())
    read = {CHOSEN: moments.totals, CLIPPED: clipped, EVEN: even}
    return {
        "coverage": {TOTALS: _totals_held(moments, truth), PAIRS: _pairs_held(moments, truth)},
        "error": {name: _error(totals, truth.totals) for name, totals in read.items()},
    }


def _totals_held(moments: Moments, truth: Moments) -> float:
    reach = noise_reach(moments.law, moments.documents, LEVEL)
    return float(np.mean(np.abs(moments.totals - truth.totals) <= reach))


def _pairs_held(moments: Moments, truth: Moments) -> float:
    above = np.triu_indices(moments.totals.size, 1)
    apart = np.abs(moments.pairs - truth.pairs)[above]
    reach = normal_quantile(LEVEL) * np.sqrt(moments.pair_variances()[above])
    return float(np.mean(apart <= reach))


def _error(found: Floats, true: Floats) -> float:
    return float(np.abs(found - true).sum() / true.sum())
