"""The study of sums, and what the study refuses."""

import numpy as np
import pytest
from scipy import sparse
from sottovoce_lab.release import analyse
from sottovoce_lab.release.analyse import summed_rows
from sottovoce_lab.release.parts import PartStore
from sottovoce_lab.release.pinned import PinnedCorpus

from sottovoce.report.result import Row, number


def made_corpus(documents: int = 400, words: int = 60) -> PinnedCorpus:
    means = np.random.default_rng(0).gamma(0.4, 1.5, words)
    counts = np.random.default_rng(1).poisson(means, (documents, words))
    names = tuple(f"w{place}" for place in range(words))
    labels = np.array(["debt", "sport"])[np.arange(documents) % 2]
    return PinnedCorpus("made", sparse.csr_array(counts), names, labels)


def sums_by_reader() -> dict[object, Row]:
    return {row["reader"]: row for row in summed_rows(made_corpus(), [1.0], 4, PartStore())}


def test_intervals_of_sums_hold_the_truth_as_often_as_they_say() -> None:
    rows = sums_by_reader()
    for name in (analyse.TOTALS, analyse.PAIRS):
        assert rows[name]["score"] == "coverage"
        assert number(rows[name], "mean") == pytest.approx(0.95, abs=0.03)


def test_a_planted_wrong_variance_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "normal_quantile", lambda _level: 1.3)
    assert number(sums_by_reader()[analyse.PAIRS], "mean") < 0.9


def test_the_error_of_totals_is_the_foretold_one_and_below_that_of_clipped_counts() -> None:
    rows = sums_by_reader()
    chosen, difference = rows["chosen"], rows["difference"]
    assert number(chosen, "mean") == pytest.approx(number(chosen, "predicted"), rel=0.15)
    assert number(chosen, "mean") < number(rows[analyse.CLIPPED], "mean")
    assert number(difference, "mean") < 0
