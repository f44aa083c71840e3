"""How well classes are told by what was learnt from a release: ours beside honest baselines."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from sklearn.model_selection import StratifiedKFold

from sottovoce._arrays import Integers
from sottovoce.lab.release._clipped import BASELINES, accuracy, fitted, tuned
from sottovoce.lab.release._pinned import PinnedCorpus
from sottovoce.lab.release.analyse_rows import AnalyseSetting, compared_rows, reader_row
from sottovoce.privacy._mechanism import geometric_noise
from sottovoce.release._counts import Counts, checked_counts
from sottovoce.release.classify._choice import chosen_classifier
from sottovoce.release.classify._inputs import Labelled
from sottovoce.report._result import Row

FOLDS = 5
MAJORITY = "largest class"
# Almost no noise: what the same readers reach on the text itself.
CLEAR_RATE = 12.0


@dataclass(frozen=True, eq=False)
class ClassifiedCorpus:
    """Documents of known classes, and what is asked of them."""

    corpus: PinnedCorpus
    codes: Integers
    classes: int

    @classmethod
    def of(cls, corpus: PinnedCorpus) -> "ClassifiedCorpus":
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
        """Of its rows; ``released`` where documents of the test were released too."""
        name = f"{self.corpus.name}, released" if released else self.corpus.name
        documents, words = self.corpus.counts.shape
        return AnalyseSetting(
            data=name, documents=documents, words=words, rate=rate, score="accuracy"
        )


def classified_rows(corpus: PinnedCorpus, rates: Sequence[Fraction], seeds: int) -> list[Row]:
    """Ours, the baselines and their difference at every rate, on true and on released documents."""
    known = ClassifiedCorpus.of(corpus)
    reference = _on_text(known)
    rows = [reader_row(known.setting(None), "true text", [reference])]
    for rate in rates:
        rows += _rate_rows(known, rate, seeds, reference)
    return rows


def _rate_rows(known: ClassifiedCorpus, rate: Fraction, seeds: int, reference: float) -> list[Row]:
    true: dict[str, list[float]] = defaultdict(list)
    released: dict[str, list[float]] = defaultdict(list)
    for seed in range(seeds):
        cells = checked_counts(geometric_noise(known.corpus.counts, rate), signed=True)
        for scores, found in zip(
            (true, released), _one_seed(known, cells, rate, seed), strict=True
        ):
            for name, value in found.items():
                scores[name].append(value)
    rows = []
    for scores, each in ((true, False), (released, True)):
        chosen = scores.pop("chosen")
        rows += compared_rows(
            known.setting(float(rate), released=each), chosen, dict(scores), reference=reference
        )
    return rows


def _one_seed(
    known: ClassifiedCorpus, cells: Counts, rate: Fraction, seed: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Accuracy of every reader over all folds, on true and on released documents."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    right: list[dict[str, float]] = [defaultdict(float), defaultdict(float)]
    strengths: dict[str, float] = {}
    for train, test in folds.split(known.codes, known.codes):
        data = Labelled(cells[train], known.codes[train], known.classes)
        texts, codes = known.corpus.counts[test], known.codes[test]
        chosen = chosen_classifier(data.cells, data.codes, float(rate), seed=seed)
        right[0]["chosen"] += float(np.sum(chosen.predict(texts) == codes))
        right[1]["chosen"] += float(np.sum(chosen.predict_released(cells[test]) == codes))
        for name in BASELINES:
            if name not in strengths:  # on the training documents of the seed's first fold
                strengths[name] = tuned(name, data, seed)
            scores = fitted(name, data, strengths[name])
            clipped = cells[test].maximum(0)
            right[0][name] += accuracy(scores(texts), codes) * len(test)
            right[1][name] += accuracy(scores(checked_counts(clipped)), codes) * len(test)
    shares = [{name: sum_ / known.codes.size for name, sum_ in each.items()} for each in right]
    return shares[0] | {MAJORITY: known.majority}, shares[1] | {MAJORITY: known.majority}


def _on_text(known: ClassifiedCorpus) -> float:
    """The chosen reader's accuracy where there is almost no noise."""
    cells, right = known.corpus.counts, 0.0
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(
        known.codes, known.codes
    ):
        chosen = chosen_classifier(cells[train], known.codes[train], CLEAR_RATE)
        right += float(np.sum(chosen.predict(cells[test]) == known.codes[test]))
    return right / known.codes.size
