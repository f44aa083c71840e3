"""A classifier from words counted together by label, on texts that were held out.

Errors are over five folds, every text held out once. The baselines are always the largest label,
and the same reader on a local release at equal epsilon for equal unit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
from sklearn.model_selection import StratifiedKFold

from sottovoce.arrays import Flags, Integers
from sottovoce.corpus.counts import term_statistics
from sottovoce.corpus.read.corpus import open_documents
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.learn.count import CountedClassifier, counted_classifier
from sottovoce.learn.count.classes import shrunk_shares
from sottovoce.learn.count.votes import VotePlan
from sottovoce.learn.documents import Documents
from sottovoce.report.result import Row
from sottovoce.steps import repetitions
from sottovoce_lab._data import SIMULATED, data_file
from sottovoce_lab.learn._count_rows import CLEAR, LOCAL, UNIT, count_rows
from sottovoce_lab.learn._count_sums import (
    PARTIES,
    CountSetting,
    locally_released,
    opened,
    voted,
)
from sottovoce_lab.learn._data import made_up_documents
from sottovoce_lab.release.analyse_rows import CHOSEN, AnalyseSetting
from sottovoce_lab.release.parts import PartStore, Values, by_reader
from sottovoce_lab.release.pinned import SOURCES

VOTES, FOLDS, WORDS = 4, 5, 300
SMS, MAJORITY = "SMS spam", "largest label"


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Documents with labels, and the words that are counted of them."""

    name: str
    documents: Documents
    words: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """All label names, in alphabetical order."""
        return tuple(sorted(set(self.documents.labels or ())))

    @property
    def plan(self) -> VotePlan:
        """Who votes for what."""
        return VotePlan("words", self.words, self.labels, VOTES)

    @property
    def majority(self) -> float:
        """The share of texts that have the largest label."""
        _, sizes = np.unique(np.array(self.documents.labels), return_counts=True)
        return float(sizes.max() / sizes.sum())

    def folds(self, seed: int) -> Iterator[tuple[Documents, Documents]]:
        """To train on and to test on."""
        labels = np.array(self.documents.labels)
        split = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(labels, labels)
        for train, test in split:
            yield (
                self.documents.part(_marked(train, labels.size)),
                self.documents.part(_marked(test, labels.size)),
            )


def _marked(places: "np.ndarray[tuple[int], np.dtype[np.intp]]", size: int) -> Flags:
    marks = np.zeros(size, np.bool_)
    marks[places] = True
    return marks


def frequent_words(texts: Sequence[str], most: int) -> tuple[str, ...]:
    """The words that the most texts use."""
    statistics = term_statistics([pa.array(texts, pa.large_string())], TokenRules())
    return statistics.vocabulary(min_texts=1, max_terms=most).terms


def labelled_texts(data: str, *, words: int, documents: int | None) -> LabelledTexts:
    """Messages, or made-up texts, with their own most frequent words."""
    if data == SIMULATED:
        made_up = made_up_documents(documents or 1_000, 0)
        return LabelledTexts(SIMULATED, made_up, frequent_words(made_up.texts, words))
    table = open_documents(
        data_file("sms.tsv"), options=ReadOptions(header=("label", "text"))
    ).read_all()
    order = np.random.default_rng(0).permutation(table.num_rows)[:documents]
    chosen = table.take(pa.array(order))
    own = Documents(tuple(chosen["text"].to_pylist()), tuple(chosen["label"].to_pylist()))
    return LabelledTexts(SMS, own, frequent_words(own.texts, words))


def with_other_words(given: LabelledTexts, source: str, words: int) -> LabelledTexts:
    """The same texts, counted by the most frequent words of another corpus."""
    texts, _ = SOURCES[source]()
    return LabelledTexts(
        f"{given.name}, words of {source}", given.documents, frequent_words(texts, words)
    )


def class_rows(
    given: LabelledTexts, epsilons: Sequence[Fraction], seeds: int, store: PartStore
) -> list[Row]:
    """Errors at every epsilon."""
    return [row for epsilon in epsilons for row in _epsilon_rows(given, epsilon, seeds, store)]


def _epsilon_rows(
    given: LabelledTexts, epsilon: Fraction, seeds: int, store: PartStore
) -> list[Row]:
    setting = CountSetting("words", VOTES, epsilon)
    parts = [
        store.values(_parameters(given, setting, seed), partial(_values, given, setting, seed))
        for seed in repetitions(seeds)
    ]
    values = by_reader(parts, "error")
    chosen, clear = values.pop(CHOSEN), values.pop(CLEAR)
    without = float(np.mean(clear))
    return count_rows(
        setting,
        shown_setting(given, setting),
        chosen,
        values,
        clear=clear,
        reference=without,
    )


def shown_setting(given: LabelledTexts, setting: CountSetting) -> AnalyseSetting:
    """Of the rows of one epsilon."""
    return AnalyseSetting(
        data=given.name,
        documents=len(given.documents),
        words=len(given.words),
        rate=float(setting.epsilon / setting.votes),
        score="error",
        unit=UNIT,
    )


def _parameters(
    given: LabelledTexts, setting: CountSetting, seed: int
) -> dict[str, str | int | float | None]:
    return {
        "reader": "count classes",
        "data": given.name,
        "documents": len(given.documents),
        "words": len(given.words),
        **setting.parameters,
        "seed": seed,
    }


def _values(given: LabelledTexts, setting: CountSetting, seed: int) -> Values:
    """Errors of every reader over all folds."""
    wrong = dict.fromkeys((CHOSEN, LOCAL, CLEAR), 0.0)
    for fold, (train, test) in enumerate(given.folds(seed)):
        cells = voted(given.plan, train, PARTIES, seed)
        counted = opened(cells, given.plan, setting, FOLDS * seed + fold)
        found = counted_classifier(counted)
        noisy, variance = locally_released(cells, setting, len(train), FOLDS * seed + fold)
        wrong[CHOSEN] += missed(found, test)
        wrong[LOCAL] += missed(_read(found, noisy, variance), test)
        wrong[CLEAR] += missed(_read(found, cells, 0.0), test)
    errors = {name: each / len(given.documents) for name, each in wrong.items()}
    return {"error": errors | {MAJORITY: 1 - given.majority}}


def missed(found: CountedClassifier, test: Documents) -> float:
    """How many texts get a wrong label."""
    return float(np.sum(found.predict(test.texts) != np.array(test.labels)))


def _read(like: CountedClassifier, cells: Integers, variance: float) -> CountedClassifier:
    """The same reader, on other cells."""
    rows = cells.reshape(len(like.labels), -1)
    deviation = variance**0.5
    shares = shrunk_shares(rows[:, :-1], rows[:, -1], deviation)
    return CountedClassifier(like.words, like.labels, *shares, deviation, like.rules)
