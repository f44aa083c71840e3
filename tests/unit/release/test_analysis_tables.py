"""Word totals, pairs and the meter of a release object, and what they refuse."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release import release as release_module
from sottovoce.release.analysis.moments import Moments, SignalMeter, clarity, noise_edge, strength
from sottovoce.release.analysis.summary import pair_totals
from sottovoce.release.analysis.totals import noise_reach, normal_quantile
from sottovoce.release.counts import CountsFile

LAW = NoiseLaw(1.0)
WORDS = ["bank", "boat", "debt", "loan", "sea", "shut"]
NOTES = [("my debt and my loan", "money"), ("the bank is shut", "money"), ("a boat, a sea", "trip")]


def released(folder: Path, notes: Any = NOTES, **options: Any) -> sv.release.Release:  # noqa: ANN401 - any option
    asked: dict[str, Any] = {"words": WORDS, "epsilon": 40, "precision": 2, **options}
    with pytest.warns(UserWarning, match="next to no promise"):
        made: sv.release.Release = sv.release_counts(notes, ledger=folder / "ledger", **asked)
    return made


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> sv.release.Release:
    folder = tmp_path_factory.mktemp("labelled")
    released(folder, labels="label", out=folder / "out")
    return sv.load_release(folder / "out")


def test_words_are_totals_of_the_release_with_errors_and_intervals(
    labelled: sv.release.Release,
) -> None:
    found = labelled.words()
    assert found.table.column_names == ["word", "total", "error", "low", "high"]
    totals = {row["word"]: row["total"] for row in found.rows()}
    assert totals == dict(zip(WORDS, labelled.counts.toarray().sum(axis=0), strict=True))
    assert found.table["error"][0].as_py() == pytest.approx((3 * labelled.law.variance) ** 0.5)
    assert repr(found) == "WordTotals(rows=6, documents=3, level=0.95)"
    assert str(found).splitlines()[0].split() == ["word", "total", "error", "low", "high"]
    assert "<table>" in found._repr_html_()
    assert isinstance(found.to_frame("pandas"), pd.DataFrame)


def test_words_by_label_are_those_of_each_labels_documents(labelled: sv.release.Release) -> None:
    rows = labelled.words(by_label=True).rows()
    money = {row["word"]: row["total"] for row in rows if row["label"] == "money"}
    assert money == dict(zip(WORDS, labelled.counts.toarray()[:2].sum(axis=0), strict=True))
    errors = {row["label"]: row["error"] for row in rows}
    assert errors["money"] == pytest.approx(errors["trip"] * 2**0.5)
    again = labelled.words(by_label=["x", "y", "y"]).rows()
    assert {row["label"] for row in again} == {"x", "y"}


def test_pairs_are_sums_of_products_of_different_words(labelled: sv.release.Release) -> None:
    dense = labelled.counts.toarray()
    found = labelled.pairs(most=3, order="together")
    assert found.table.num_rows == 3
    place = {word: at for at, word in enumerate(WORDS)}
    for row in found.rows():
        first, second = place[row["first"]], place[row["second"]]
        assert row["together"] == dense[:, first] @ dense[:, second]
        assert row["low"] < row["together"] < row["high"]
    few = labelled.pairs(words=["loan", "debt"])
    assert [(row["first"], row["second"]) for row in few.rows()] == [("loan", "debt")]
    assert few.rows()[0]["together"] == dense[:, place["loan"]] @ dense[:, place["debt"]]


def test_the_best_pairs_of_nothing_but_noise_are_not_called_beyond_chance() -> None:
    words = 60
    noise = np.random.default_rng(3).normal(size=(words, words)) * (1000 * LAW.variance**2) ** 0.5
    pairs = np.triu(noise, 1)
    moments = Moments(LAW, 1000, np.ones(words), np.zeros(words), pairs + pairs.T)
    names = [f"w{at}" for at in range(words)]
    options: Any = {"level": 0.95, "most": 10, "order": "surprise"}
    found = pair_totals(moments, names, **options)
    assert found.beyond_chance() == 0
    assert not any(row["low"] > row["expected"] for row in found.rows())
    alone = [row["together"] - 1.96 * row["error"] > row["expected"] for row in found.rows()]
    assert any(alone), "each by itself would be"
    pairs[4, 9] = 20 * (1000 * LAW.variance**2) ** 0.5
    found = pair_totals(replace(moments, pairs=pairs + pairs.T), names, **options)
    assert (found.beyond_chance(), found.rows(1)[0]["first"]) == (1, "w4")


def test_surprise_is_how_far_above_chance_and_not_how_often() -> None:
    pairs = np.zeros((4, 4))
    pairs[0, 1], pairs[2, 3] = 900, 400
    totals = np.array([600.0, 600, 100, 100])
    moments = Moments(NoiseLaw(1.0), 1000, totals, totals, pairs + pairs.T)
    for order, first in (("surprise", ("c", "d")), ("together", ("a", "b"))):
        found = pair_totals(moments, list("abcd"), level=0.95, most=1, order=order)  # type: ignore[arg-type] # one of two
        row = found.rows()[0]
        assert (row["first"], row["second"]) == first
    # 2,600 pairs of tokens, by the words' shares of 1,400 tokens.
    assert row["expected"] == pytest.approx(2600 * (600 / 1400) ** 2)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"words": ["loan", "absent"]}, "1 of 2 are not"),
        ({"order": "best"}, "order must be one of surprise, together"),
        ({"level": 1}, "level must lie between 0 and 1"),
        ({"most": 0}, "most must be > 0"),
    ],
)
def test_pairs_refuse_what_cannot_be_meant(
    labelled: sv.release.Release, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        labelled.pairs(**asked)


def test_words_of_a_compressed_release_are_refused_and_columns_name_theirs(tmp_path: Path) -> None:
    packed = released(tmp_path, compress="random", columns=2)
    with pytest.raises(ParameterError, match=r"sums its 6 words into 2 columns.*\.columns\(\)"):
        packed.words()
    with pytest.raises(ParameterError, match="pairs of words cannot be told apart"):
        packed.pairs(words=["loan"])
    rows = {row["column"]: row for row in packed.columns().rows()}
    for column in (0, 1):
        own = [word for word, at in zip(WORDS, packed.map.column, strict=True) if at == column]
        assert rows[column]["words"].split() == own
        assert rows[column]["total"] == packed.counts.toarray()[:, column].sum()
    assert packed.pairs().rows()[0]["first"] == "column 0"


def test_sums_over_several_maps_are_refused(tmp_path: Path) -> None:
    packed = released(tmp_path, compress="random", columns=2, maps=2)
    for ask in (packed.columns, packed.pairs, packed.meter):
        with pytest.raises(ParameterError, match="this release has 2 maps"):
            ask()


def test_a_release_that_dropped_outputs_has_no_law_to_read_it_by(tmp_path: Path) -> None:
    cut = released(tmp_path, threshold=1)
    with pytest.raises(ParameterError, match="dropped outputs below 1.*without a threshold"):
        cut.words()


@pytest.mark.parametrize(("rate", "documents"), [(5.0, 40), (1.0, 3), (1.0, 1), (0.5, 100)])
def test_the_reach_of_a_sum_of_noise_is_exact(rate: float, documents: int) -> None:
    """As far as the difference of two negative binomials stays from 0."""
    law = NoiseLaw(rate)
    drawn = np.arange(400)
    one = stats.nbinom(documents, 1 - law.alpha).pmf(drawn)
    sums = np.convolve(one, one[::-1])
    reach = noise_reach(law, documents, 0.95)
    middle = drawn[-1]

    def within(most: int) -> float:
        return float(sums[middle - most : middle + most + 1].sum())

    assert reach == next(h for h in range(60) if within(h) >= 0.95)


def test_the_reach_of_many_cells_is_the_normal_one() -> None:
    law = NoiseLaw(0.1)
    assert noise_reach(law, 1000, 0.95) == pytest.approx(1.96 * (1000 * law.variance) ** 0.5, 1e-4)
    assert normal_quantile(0.95) == pytest.approx(1.959964)


def test_an_eigenvalue_at_the_edge_has_no_clarity_and_a_high_one_is_clear() -> None:
    edge = noise_edge(1000, 100)
    at, far = strength(np.array([edge, 50.0]), 1000, 100)
    assert at == pytest.approx(0.1**0.5)
    assert far + 0.1 + 0.1 / far == pytest.approx(50)
    assert clarity(np.array([at, 0.01]), 1000, 100) == pytest.approx([0, 0])
    assert 0.99 < clarity(np.array([far]), 1000, 100)[0] < 1


def test_a_meter_counts_what_stands_above_the_edge() -> None:
    meter = SignalMeter(1000, 100, np.array([9.0, 4.0, 0.74, 0.73]))
    assert meter.dimensions == 3
    assert repr(meter) == "SignalMeter(dimensions=3, edge=0.7325, documents=1000, columns=100)"
    assert str(meter) == meter.in_words()
    assert "noise edge" in meter._repr_html_()
    for dimensions, told in ((0, "No dimension stands"), (1, "1 dimension stands")):
        assert told in str(SignalMeter(1000, 100, np.full(dimensions, 9.0)))


def test_a_release_longer_than_memory_says_the_same(
    labelled: sv.release.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_module, "IN_MEMORY_BYTES", 10)
    assert labelled.folder is not None
    found = sv.load_release(labelled.folder)
    assert isinstance(found.rows, CountsFile)
    assert not isinstance(labelled.rows, CountsFile)
    np.testing.assert_array_equal(found.moments.pairs, labelled.moments.pairs)
    assert found.words(by_label=True).rows() == labelled.words(by_label=True).rows()
    assert "counts" not in vars(found)
    np.testing.assert_array_equal(found.counts.toarray(), labelled.counts.toarray())


def test_more_columns_than_pairs_are_kept_of_leave_the_most_frequent(
    labelled: sv.release.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_module, "MOST_COLUMNS", 4)
    monkeypatch.setattr(release_module, "MOST_METERED", 3)
    frequent = {row["word"] for row in labelled.words().rows(3)}
    assert labelled.folder is not None
    found = sv.load_release(labelled.folder)
    named = {row[place] for row in found.pairs().rows() for place in ("first", "second")}
    assert named == frequent
    assert found.meter().columns == 3


def test_a_summary_has_all_of_it_in_short(labelled: sv.release.Release) -> None:
    found = labelled.summary()
    assert found.labels == {"money": 2, "trip": 1}
    assert found.mean_length == pytest.approx(labelled.counts.toarray().sum() / 3)
    assert "dimensions above the noise" in str(found)
    assert repr(found).startswith("ReleaseSummary(documents=3, columns=6, dimensions=")
    assert "What this release supports" in found._repr_html_()
    assert found.telling is not None
    trip = [row for row in found.telling.rows() if row["label"] == "trip"]
    assert {row["word"] for row in trip if row["low"] > 0} == {"boat", "sea"}
    assert trip[0]["error"] == pytest.approx((labelled.law.variance * (1 / 1 - 1 / 3)) ** 0.5)
    assert labelled.summary(labels=["x", "x", "y"]).labels == {"x": 2, "y": 1}


def test_a_classifier_without_labels_says_what_to_give(tmp_path: Path) -> None:
    made = released(tmp_path)
    with pytest.raises(ParameterError, match="carries no labels"):
        made.classifier()
    with pytest.raises(ParameterError, match="one for each of the 3 documents, got 1"):
        made.classifier(["money"])


def test_topics_of_a_release_are_its_words_that_go_together(tmp_path: Path) -> None:
    notes = ["debt loan debt loan bank"] * 60 + ["a boat at sea, the sea, the boat"] * 60
    made: sv.release.Release = sv.release_counts(
        notes, words=WORDS, epsilon=4, precision=2, ledger=tmp_path / "ledger"
    )
    found = made.topics(2)
    best = {frozenset(np.argsort(-topic)[:2].tolist()) for topic in found.components_}
    assert best == {frozenset({2, 3}), frozenset({1, 4})}
