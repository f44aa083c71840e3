"""The study of sums and of the listed settings, and what the study refuses."""

import importlib.util
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.lab._options import StudyOptions
from sottovoce.lab.release import _listed, _summed, analyse
from sottovoce.lab.release._listed import ClassSetting, TopicSetting, listed_rows, verdicts
from sottovoce.lab.release._parts import PartStore
from sottovoce.lab.release._pinned import PINNED, PinnedCorpus
from sottovoce.lab.release._summed import summed_rows
from sottovoce.lab.release.analyse_rows import NAMES, AnalyseSetting, compared_rows, reader_row
from sottovoce.lab.release.analyse_topics import MADE_UP
from sottovoce.report._result import Row, number


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
    for name in (_summed.TOTALS, _summed.PAIRS):
        assert rows[name]["score"] == "coverage"
        assert number(rows[name], "mean") == pytest.approx(0.95, abs=0.03)


def test_a_planted_wrong_variance_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_summed, "normal_quantile", lambda _level: 1.3)
    assert number(sums_by_reader()[_summed.PAIRS], "mean") < 0.9


def test_the_error_of_totals_is_the_foretold_one_and_below_that_of_clipped_counts() -> None:
    rows = sums_by_reader()
    chosen, difference = rows["chosen"], rows["difference"]
    assert number(chosen, "mean") == pytest.approx(number(chosen, "predicted"), rel=0.15)
    assert number(chosen, "mean") < number(rows[_summed.CLIPPED], "mean")
    assert number(difference, "mean") < 0


def test_the_best_baseline_of_an_error_is_the_lowest() -> None:
    setting = AnalyseSetting(data="news", documents=9, words=3, rate=1.0, score="error")
    rows = compared_rows(setting, [0.1], {"poor": [0.9], "good": [0.3]})
    assert rows[-1]["baseline"] == 0.3
    assert rows[-1]["mean"] == pytest.approx(-0.2)


def seen_row(score: str, predicted: float, seen: float, data: str = "news, list 1") -> Row:
    setting = AnalyseSetting(data=data, documents=9, words=3, rate=1.0, score=score)
    return reader_row(setting, "chosen", [seen], predicted=predicted)


def test_the_verdict_counts_listed_settings_alone() -> None:
    rows = [
        seen_row("topics_seen", 6, 4),
        seen_row("topics_seen", 7, 4),
        seen_row("topics_seen", 0, 1.4),
        seen_row("topics_seen", 9, 1, data="news"),
        seen_row("accuracy", 0.7, 0.72),
        seen_row("accuracy", 0.7, 0.75),
        seen_row("accuracy", 0.7, 0.7, data="news, list 2"),
    ]
    first, second = verdicts(rows)
    assert first == (
        "List 1: the meter was within a factor of 1.5 in 2 of 3 settings; the planner's accuracy "
        "was within 0.03 in 1 of 2 settings, and 0.050 off at most."
    )
    assert second.startswith("List 2: the planner's accuracy was within 0.03 in 1 of 1 settings")
    assert verdicts(rows[3:4]) == ()


def test_listed_settings_have_rows_with_what_was_said_beforehand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_listed, "counted_corpus", lambda _name, words: made_corpus(60, words))
    topics = TopicSetting(f"simulated from {MADE_UP}", 300, 40, 3, 1.0)
    classes = ClassSetting("news", None, 30, Fraction(1))
    rows = listed_rows([topics], [classes], 1, PartStore())
    assert all(tuple(row) == NAMES for row in rows)
    assert [row["reader"] for row in rows] == [
        *("meter", "planner", "chosen"),
        *("rule of thumb", "chosen"),
    ]
    assert all(str(row["data"]).endswith(", list 1") for row in rows)
    assert rows[2]["predicted"] == rows[0]["mean"]
    assert 0.5 <= number(rows[3], "mean") < 1
    assert 0 < number(rows[4], "predicted") <= 1


def test_the_verdict_sets_the_rule_of_thumb_beside_the_pilot() -> None:
    row = seen_row("accuracy", 0.71, 0.7, data="news, list 3")
    (told,) = verdicts([row, row | {"reader": "rule of thumb", "mean": 0.8}])
    assert told == (
        "List 3: the planner's accuracy was within 0.03 in 1 of 1 settings, and 0.010 off at most; "
        "the rule of thumb's in 0 of 1, 0.100 off at most."
    )


def test_every_reader_has_the_same_names_and_the_scores_it_promises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PINNED, "blogs", partial(made_corpus, 60, 30))
    options = StudyOptions(quick=True, seeds=1, data="blogs", rates=(Fraction(2),))
    result = analyse.run_release_analyse(options)
    assert all(tuple(row) == NAMES for row in result.rows)
    scores = dict.fromkeys(row["score"] for row in result.rows)
    assert list(scores) == ["jaccard", "topics_seen", "coverage", "error"]
    assert len(result.plots) == 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (StudyOptions(quick=True, readers="topics,people"), "readers must be one of topics"),
        (StudyOptions(quick=True, readers="sums", data="novels"), "data must be one of complaints"),
        (StudyOptions(quick=True, readers="classifiers", data="blogs"), "no data set"),
    ],
)
def test_a_part_that_nobody_knows_is_refused(options: StudyOptions, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        analyse.run_release_analyse(options)


def test_a_missing_peer_is_named_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"tomotopy is not installed.*sottovoce\[topics\]"):
        analyse.run_release_analyse(StudyOptions(quick=True, readers="topics"))
