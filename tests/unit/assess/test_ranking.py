"""Ranks and bands, with ties and in small communities."""

import math
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from scipy import sparse
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import score
from sottovoce.assess.measures.catalogue import (
    ENTRY_POINTS,
    MEASURES,
    PAPER_METHODS,
    chosen_measures,
)
from sottovoce.assess.measures.interest import rank_in_domain
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.measures.word_use import differential_privacy_risk, entropy_risk
from sottovoce.assess.ranking import band_numbers, susceptibility
from sottovoce.assess.state.words import WordUse
from sottovoce.errors import InputError, ParameterError


def use_of(*rows: list[int]) -> WordUse:
    return WordUse.of_incidence(sparse.csr_array(np.array(rows, np.int32)))


def test_equal_scores_share_the_better_rank() -> None:
    assert susceptibility(np.array([0.5, 0.9, 0.5, 0.1])).tolist() == [2, 1, 2, 4]
    assert susceptibility(np.array([3.0, math.inf, -math.inf])).tolist() == [2, 1, 3]


def test_a_band_holds_at_most_its_share_of_users() -> None:
    bands = band_numbers(np.arange(200.0))
    assert [(bands <= band).sum() for band in range(3)] == [2, 10, 20]


def test_a_tie_across_the_border_of_a_band_is_outside() -> None:
    scores = np.concatenate([[2.0], np.ones(5), np.zeros(94)])
    assert band_numbers(scores)[:6].tolist() == [0, 2, 2, 2, 2, 2]


def test_where_all_are_alike_nobody_stands_out() -> None:
    assert set(band_numbers(np.zeros(500)).tolist()) == {3}


def test_one_of_twenty_is_the_top_five_percent() -> None:
    assert band_numbers(np.arange(20.0))[-1] == 1
    assert band_numbers(np.arange(19.0))[-1] == 2


def test_the_only_user_of_a_word_ranks_first() -> None:
    scores = differential_privacy_risk(use_of([1, 0], [0, 1], [0, 1]), np.arange(2))
    assert scores[0] == math.inf
    assert np.isfinite(scores[1:]).all()


def test_users_without_salient_words_do_not_score_zero() -> None:
    """Unlike the paper's remark on ENT and DIFF-PRIV."""
    use = use_of([1], [1], [0], [0], [0])
    assert (entropy_risk(use, np.arange(1)) > 0).all()
    assert (differential_privacy_risk(use, np.arange(1)) > 0).all()


def test_users_whose_words_are_equally_rare_tie_exactly() -> None:
    generator = np.random.default_rng(0)
    rows = np.zeros((400, 12), np.int32)
    for word in range(12):
        rows[generator.permutation(398)[: 30 + 7 * (word // 2)], word] = 1
    # The last two have the words of even and of odd columns: the same numbers of users each.
    rows[398, ::2] = rows[399, 1::2] = 1
    scores = entropy_risk(use_of(*rows.tolist()), generator.permutation(12))
    assert scores[398] == scores[399]


@pytest.mark.parametrize(
    ("topics", "k", "place"), [(30, 0.1, 3), (10, 0.3, 3), (3, 0.3, 1), (7, 1.0, 7)]
)
def test_k_is_taken_as_it_is_written(topics: int, k: float, place: int) -> None:
    assert rank_in_domain(topics, k=k) == place


def test_a_ranking_has_a_row_for_each_measure_topic_and_user() -> None:
    ranking = score(random_posts(1), FixedSpace(), CATALOGUE, measures=("ent", "lda-dt", "bow"))
    assert ranking.table.column_names == ["measure", "user", "topic", "score", "rank", "band"]
    assert ranking.table.num_rows == 3 * 3 * ranking.users == 3 * 3 * 6
    one = ranking.select("lda-dt", "debts")
    assert one["rank"].to_pylist() == susceptibility(one["score"].to_numpy()).tolist()
    assert one["rank"][0].as_py() == 1


def test_a_ranking_shows_counts_and_no_user_in_a_notebook() -> None:
    ranking = score(random_posts(1), FixedSpace(), CATALOGUE, measures=("bow",))
    shown = ranking._repr_html_()
    assert "pregnancy" in shown
    assert not any(f"u{number}" in shown for number in range(6))


def test_voice_comes_first_where_its_model_is_and_is_left_out_where_not() -> None:
    with_model = list(chosen_measures(("recommended",), ("bow", "voice", "voice-s")))
    assert with_model == ["voice-t", "bow-t", "keyword-kinds"]
    assert list(chosen_measures(("recommended",), ("bow",))) == ["bow-t", "keyword-kinds"]


def test_the_papers_fourteen_are_called_paper_and_as_before_all() -> None:
    spaces = ("bow", "w2v", "lda", "voice")
    assert tuple(chosen_measures(("paper",), spaces)) == PAPER_METHODS
    assert tuple(chosen_measures(("all",), spaces)) == PAPER_METHODS
    assert len(PAPER_METHODS) == 14


def test_groups_and_names_mix_and_each_is_there_once() -> None:
    found = list(chosen_measures(("recommended", "ent", "bow-t"), ("bow",)))
    assert found == ["bow-t", "keyword-kinds", "ent"]


def test_a_speaker_needs_the_voice_model() -> None:
    with pytest.raises(ParameterError, match="train --space voice and give it"):
        chosen_measures(("voice-st",), ("bow",))


def test_another_package_can_add_a_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "posts"

        def load(self) -> Measure:
            return Measure(lambda state, _topic, _setting: state.posts.astype(np.float64), "bow")

    def points(*, group: str) -> list[Point]:
        return [Point()] if group == ENTRY_POINTS else []

    monkeypatch.setattr("sottovoce.assess.measures.catalogue.entry_points", points)
    posts = random_posts(3)
    ranking = score(posts, (), CATALOGUE, measures=("posts",))
    assert ranking.table["score"][0].as_py() == max(
        posts["user"].to_pylist().count(user) for user in set(posts["user"].to_pylist())
    )
    assert "posts" not in MEASURES


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nowhere:risk", r"cannot be loaded from nowhere:risk \(ModuleNotFoundError\); fix"),
        ("math:risk", r"cannot be loaded from math:risk \(AttributeError\); fix"),
        ("math:pi", r"math:pi, must be a sottovoce.assess.Measure, got a float"),
    ],
)
def test_a_broken_measure_of_another_package_is_named_and_harms_no_other(
    monkeypatch: pytest.MonkeyPatch, value: str, message: str
) -> None:
    monkeypatch.setattr(
        "sottovoce.assess.measures.catalogue.entry_points",
        lambda group: [EntryPoint("theirs", value, group)],
    )
    assert list(chosen_measures(("bow", "ent"), ("bow",))) == ["bow", "ent"]
    with pytest.raises(InputError, match=f"the measure theirs.*{message}"):
        chosen_measures(("bow", "theirs"), ("bow",))
    with pytest.raises(ParameterError, match="all; theirs, ent, .*got 'their'"):
        chosen_measures(("their",), ("bow",))
