"""How well classifiers learnt from a release tell classes apart: ours beside honest baselines."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

from sottovoce.arrays import Floats, Integers
from sottovoce.privacy.mechanism import geometric_noise
from sottovoce.release.classify.features import positive
from sottovoce.release.classify.inputs import Labelled
from sottovoce.release.classify.logistic import SoftmaxProblem, chosen_classifier
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.report.result import Row
from sottovoce_lab.release.analyse_rows import CHOSEN, AnalyseSetting, compared_rows, reader_row
from sottovoce_lab.release.parts import Parameters, PartStore, Values, by_reader
from sottovoce_lab.release.pinned import PinnedCorpus

# A column of this value lets the intercept be learnt almost without a price.
_CONSTANT = 10.0

Scores = Callable[[Counts], Floats]
Strengths = Sequence[float]


def naive_bayes(data: Labelled, strengths: Strengths) -> list[Scores]:
    """Multinomial, with each of these numbers of tokens added to every word."""
    clipped = positive(data.cells)
    fits = [MultinomialNB(alpha=strength).fit(clipped, data.codes) for strength in strengths]
    return [fit.predict_joint_log_proba for fit in fits]


def ridge(data: Labelled, strengths: Strengths) -> list[Scores]:
    """Least squares on the classes' indicators, with each of these penalties."""
    rows, indicators = positive(data.cells).toarray(), np.eye(data.classes)[data.codes]
    fits = [Ridge(strength * data.documents).fit(rows, indicators) for strength in strengths]
    return [fit.predict for fit in fits]


def logistic(data: Labelled, strengths: Strengths) -> list[Scores]:
    """Multinomial logistic regression with each of these penalties, intercepts learnt."""
    rows = positive(data.cells).astype(np.float64)
    constant = sparse.csr_array(np.full((rows.shape[0], 1), _CONSTANT))
    features = sparse.csr_array(sparse.hstack([rows, constant], format="csr"))
    width = features.shape[1]
    problem = SoftmaxProblem(features, np.zeros(width), data.codes, np.zeros(data.classes))
    fits = problem.path(np.zeros((width, data.classes)), strengths)
    return [_linear(fit.weights[:-1], _CONSTANT * fit.weights[-1]) for fit in fits]


def _linear(weights: Floats, intercepts: Floats) -> Scores:
    return lambda counts: np.asarray(counts @ weights + intercepts)


BASELINES: dict[str, tuple[Callable[[Labelled, Strengths], list[Scores]], Strengths]] = {
    "clipped naive Bayes": (naive_bayes, (100.0, 10.0, 1.0, 0.1, 0.01)),
    "clipped ridge": (ridge, (1000.0, 100.0, 10.0, 1.0, 0.1)),
    "clipped logistic": (logistic, (300.0, 30.0, 3.0)),
}


def tune_strength(name: str, data: Labelled, seed: int) -> float:
    """The strength with the best accuracy on released documents held out of ``data``."""
    fit, strengths = BASELINES[name]
    known, held = next(iter(data.parts(seed)))
    clipped = positive(held.cells)
    scores = [accuracy(each(clipped), held.codes) for each in fit(known, strengths)]
    return strengths[int(np.argmax(scores))]


def fit_baseline(name: str, data: Labelled, strength: float) -> Scores:
    """That baseline, learnt from all of ``data``."""
    return BASELINES[name][0](data, (strength,))[0]


def accuracy(scores: Floats, codes: Integers) -> float:
    """The share of documents whose class has the highest score."""
    return float(np.mean(scores.argmax(axis=1) == codes))


FOLDS = 5
MAJORITY, TEXT = "largest class", "true text"
TRUE, RELEASED = "true documents", "released documents"
# Almost no noise: what the same readers reach on the text itself.
CLEAR_RATE = 12.0


@dataclass(frozen=True, eq=False)
class ClassifiedCorpus:
    """Documents of known classes, and what is asked of them."""

    corpus: PinnedCorpus
    codes: Integers
    classes: int

    @classmethod
    def from_corpus(cls, corpus: PinnedCorpus) -> "ClassifiedCorpus":
        """Classes of fewer documents than folds are left out."""
        labels = corpus.labels if corpus.labels is not None else np.empty(0, np.str_)
        names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        kept = np.flatnonzero(sizes[codes] >= FOLDS)
        _, again = np.unique(names[codes[kept]], return_inverse=True)
        smaller = PinnedCorpus(corpus.name, corpus.counts[kept], corpus.words, labels[kept])
        return cls(smaller, again, int(again.max()) + 1)

    @property
    def majority(self) -> float:
        """The share of the largest class."""
        return float(np.bincount(self.codes).max() / self.codes.size)

    def setting(self, rate: float | None, *, released: bool = False) -> AnalyseSetting:
        """The setting of its rows; ``released``: documents of the test were released too."""
        name = f"{self.corpus.name}, released" if released else self.corpus.name
        documents, words = self.corpus.counts.shape
        return AnalyseSetting(
            data=name, documents=documents, words=words, rate=rate, score="accuracy"
        )

    def parameters(self, rate: Fraction | None) -> Parameters:
        """What a part is known by; the text itself has no rate."""
        known = self.corpus.part_parameters("classifiers", None if rate is None else str(rate))
        return {**known, "classes": self.classes}


def classified_rows(
    corpus: PinnedCorpus, rates: Sequence[Fraction], seeds: int, store: PartStore
) -> list[Row]:
    """Ours, the baselines and their difference at every rate, on true and on released documents."""
    known = ClassifiedCorpus.from_corpus(corpus)
    text = store.values(known.parameters(None), partial(_text_accuracy, known))[TRUE][TEXT]
    rows = [reader_row(known.setting(None), TEXT, [text])]
    for rate in rates:
        parts = store.values_by_seed(
            known.parameters(rate), seeds, partial(_seed_accuracies, known, rate)
        )
        for which in (TRUE, RELEASED):
            setting = known.setting(float(rate), released=which == RELEASED)
            rows += compared_rows(setting, by_reader(parts, which), reference=text)
    return rows


def _seed_accuracies(known: ClassifiedCorpus, rate: Fraction, seed: int) -> Values:
    """Accuracy of every reader over all folds, on true and on released documents."""
    cells = checked_counts(geometric_noise(known.corpus.counts, rate), signed=True)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    right: Values = {TRUE: defaultdict(float), RELEASED: defaultdict(float)}
    strengths: dict[str, float] = {}
    for train, test in folds.split(known.codes, known.codes):
        data = Labelled(cells[train], known.codes[train], known.classes)
        texts, codes = known.corpus.counts[test], known.codes[test]
        chosen = chosen_classifier(data.cells, data.codes, float(rate), seed=seed)
        right[TRUE][CHOSEN] += float(np.sum(chosen.predict(texts) == codes))
        right[RELEASED][CHOSEN] += float(np.sum(chosen.predict_released(cells[test]) == codes))
        for name in BASELINES:
            if name not in strengths:  # on the training documents of the seed's first fold
                strengths[name] = tune_strength(name, data, seed)
            scores = fit_baseline(name, data, strengths[name])
            clipped = cells[test].maximum(0)
            right[TRUE][name] += accuracy(scores(texts), codes) * len(test)
            right[RELEASED][name] += accuracy(scores(checked_counts(clipped)), codes) * len(test)
    return {
        which: {name: sum_ / known.codes.size for name, sum_ in each.items()}
        | {MAJORITY: known.majority}
        for which, each in right.items()
    }


def _text_accuracy(known: ClassifiedCorpus) -> Values:
    """The chosen reader's accuracy on true text, read like a release with almost no noise."""
    right, counts = 0.0, known.corpus.counts
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(known.codes, known.codes):
        chosen = chosen_classifier(counts[train], known.codes[train], CLEAR_RATE, seed=0)
        right += float(np.sum(chosen.predict(counts[test]) == known.codes[test]))
    return {TRUE: {TEXT: right / known.codes.size}}
