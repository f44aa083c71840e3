"""Reading a release at the ends of what it may be: few documents, hardly any noise, odd asking."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import SignalMeter
from sottovoce.release.analysis.summary import PairTotals, ReleaseSummary
from sottovoce.release.analysis.totals import noise_reach, telling_words, word_totals

NOTES = [("my debt and my loan", "money"), ("a boat at sea", "trip")] * 6
WORDS = ["boat", "debt", "loan", "never", "sea"]
LAW = NoiseLaw(0.5)
COLUMNS = 300


@pytest.fixture(scope="module")
def hardly_noised(tmp_path_factory: pytest.TempPathFactory) -> sv.release.Release:
    """At the largest rate that a release may have, where e^-rate is 0 in floating point."""
    folder = tmp_path_factory.mktemp("noised")
    asked: dict[str, Any] = {"words": WORDS, "labels": "label", "epsilon": 1000, "precision": 1}
    with pytest.MonkeyPatch.context() as patch:
        # Else what it spends is known to every later test that releases such a text.
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        with pytest.warns(UserWarning, match="next to no promise"):
            made: sv.release.Release = sv.release_counts(NOTES, ledger=folder / "ledger", **asked)
    return made


def _noise(documents: int, seed: int) -> "sparse.csr_array[np.int64, tuple[int, int]]":
    drawn = np.random.default_rng(seed).geometric(1 - LAW.alpha, (2, documents, COLUMNS))
    return sparse.csr_array(drawn[0] - drawn[1])


def _names() -> pa.Table:
    return pa.table({"word": [f"w{column}" for column in range(COLUMNS)]})


def test_a_release_with_hardly_any_noise_is_read(hardly_noised: sv.release.Release) -> None:
    assert hardly_noised.meter().dimensions >= 1
    assert hardly_noised.summary().certain_words == 4
    told = hardly_noised.classifier().predict(hardly_noised.count_texts(["debt", "boat"]))
    assert told.tolist() == ["money", "trip"]


def test_words_of_a_label_with_few_documents_are_told_from_their_noise() -> None:
    """A sum of few cells has longer tails than a normal one: those would name words half the time.

    At a level of 95%, noise alone may name some in one release of 40, about.
    """
    labels = np.array(["few"] + ["many"] * 19)
    found = [
        telling_words(_noise(20, seed), labels, LAW, _names(), 0.95).beyond_chance(COLUMNS)
        for seed in range(40)
    ]
    assert sum(bool(each["few"]) for each in found) <= 4


def test_words_of_a_label_with_few_documents_are_named_where_they_stand_out() -> None:
    cells = _noise(20, 0).toarray()
    cells[0, 7] += 60
    labels = np.array(["few"] + ["many"] * 19)
    found = telling_words(sparse.csr_array(cells), labels, LAW, _names(), 0.95)
    assert found.beyond_chance(COLUMNS)["few"] == ["w7"]


def test_words_of_one_document_are_not_beyond_doubt_by_its_noise() -> None:
    empty = PairTotals(pa.table({}), 0.95, 1)
    meter = SignalMeter(1, COLUMNS, np.zeros(1))
    certain = [
        ReleaseSummary(LAW, 1, COLUMNS, COLUMNS, {}, meter, totals, empty).certain_words
        for totals in (word_totals(_noise(1, seed), LAW, _names(), 0.95) for seed in range(40))
    ]
    assert sum(number > 0 for number in certain) <= 4


@pytest.mark.parametrize("level", [0.95, 0.999])
def test_the_reach_of_one_cell_with_much_noise_is_that_of_its_law(level: float) -> None:
    """P(|noise| > h) = 2 alpha^(h+1)/(1 + alpha), so that h is about ln(1/(1 - level))/rate."""
    assert noise_reach(NoiseLaw(1e-4), 1, level) == pytest.approx(-np.log(1 - level) / 1e-4, 0.02)


def test_pairs_of_a_word_with_itself_are_refused(hardly_noised: sv.release.Release) -> None:
    with pytest.raises(ParameterError, match="named once"):
        hardly_noised.pairs(words=["debt", "debt"])
    with pytest.raises(ParameterError, match="put them into a list"):
        hardly_noised.pairs(words="debt")
    assert len(hardly_noised.pairs(words=np.array(["debt", "loan"]))) == 1  # type: ignore[arg-type] # as notebooks do


def test_a_classifier_refuses_a_release_with_several_maps(
    hardly_noised: sv.release.Release,
) -> None:
    """Whether it is asked for by the release or by its own name."""
    fitted = sv.release.PrivateNaiveBayes().fit(hardly_noised, hardly_noised.checked_labels())
    grouped = replace(hardly_noised, maps=hardly_noised.maps * 2)
    with pytest.raises(ParameterError, match="needs a release with one map"):
        sv.release.PrivateNaiveBayes().fit(grouped, hardly_noised.checked_labels())
    with pytest.raises(ParameterError, match="needs a release with one map"):
        fitted.predict_released(grouped)


def test_topics_are_a_whole_number(hardly_noised: sv.release.Release) -> None:
    with pytest.raises(ParameterError, match="must be a whole number"):
        hardly_noised.topics(1.5)  # type: ignore[arg-type] # what is refused
    with pytest.raises(ParameterError, match="n_topics must be a whole number"):
        sv.release.PrivateTopics(1.5).fit(hardly_noised)  # type: ignore[arg-type] # what is refused
    two: Any = 2.0
    assert hardly_noised.topics(two).components_.shape == (2, 5)
