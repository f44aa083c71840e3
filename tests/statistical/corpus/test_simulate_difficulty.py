"""Counting does not solve the task, and the levels are ordered by what counting finds."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import (
    DIFFICULTIES,
    Difficulty,
    SimulationParameters,
    the_world,
)
from sottovoce.corpus.simulate.text import the_lexicon
from sottovoce.corpus.simulate.write import (
    CountingBaselines,
    afflicted_by_topic,
    counting_baselines,
    occurrences,
    posts_by_user,
    salient_words_by_user,
    simulate,
)

GLARING = Difficulty(indirect=0.0, dilution=0.1, leakage=0.0, focus=1.0, drift=0.0)


@cache
def community(
    difficulty: Difficulty, *, control: bool = False, seed: int = 1
) -> SimulatedCommunity:
    return simulate(
        SimulationParameters(
            users=1500, seed=seed, difficulty=difficulty, control=control, background_documents=1
        )
    )


@cache
def baselines(difficulty: Difficulty, *, control: bool = False) -> CountingBaselines:
    return counting_baselines(community(difficulty, control=control))


def superiority(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """How likely a draw from ``first`` is above one from ``second``, ties counting half."""
    below = np.searchsorted(np.sort(second), first, "left")
    not_above = np.searchsorted(np.sort(second), first, "right")
    return float((below + not_above).mean() / (2 * len(second)))


def test_counting_posts_or_words_is_near_chance_at_every_level() -> None:
    for difficulty in DIFFICULTIES.values():
        found = baselines(difficulty)
        assert found.posts < 3 * found.chance
        assert found.words < 3 * found.chance


def test_number_of_posts_does_not_tell_the_afflicted_but_would_tell_professionals() -> None:
    posts = posts_by_user(community(DIFFICULTIES["default"]))
    truth = community(DIFFICULTIES["default"]).truth
    persona = np.array(truth["persona"].to_pylist()).reshape(len(posts), -1)
    afflicted, professional, bystander = (
        posts[(persona == "afflicted").any(axis=1)],
        posts[(persona == "professional").any(axis=1)],
        posts[(persona == "bystander").all(axis=1)],
    )
    assert 0.43 < superiority(afflicted, bystander) < 0.57
    assert superiority(professional, bystander) > 0.65


def test_counting_salient_words_helps_but_does_not_solve_the_default() -> None:
    found = baselines(DIFFICULTIES["default"])
    assert 4 * found.chance < found.salient_words < 0.35


def test_counting_salient_words_finds_nobody_in_the_control_and_most_when_glaring() -> None:
    control = baselines(DIFFICULTIES["default"], control=True)
    assert control.salient_words < 3 * control.chance
    assert baselines(GLARING).salient_words > 0.7


def test_levels_are_ordered_from_easy_to_hard() -> None:
    found = [baselines(difficulty).salient_words for difficulty in DIFFICULTIES.values()]
    assert found == sorted(found, reverse=True)
    assert found[0] > 3 * found[-1]


def salient_counts_overlap(difficulty: Difficulty) -> bool:
    """One bystander in twenty uses more salient words than one afflicted user in four."""
    counts = salient_words_by_user(community(difficulty))
    afflicted = afflicted_by_topic(community(difficulty))
    roles = np.array(community(difficulty).truth["persona"].to_pylist())
    bystander = (roles == "bystander").reshape(counts.shape[1], -1).T
    return bool(np.quantile(counts[bystander], 0.95) > np.quantile(counts[afflicted], 0.25))


def test_bystanders_salient_words_overlap_with_those_of_the_afflicted() -> None:
    assert salient_counts_overlap(DIFFICULTIES["default"])
    assert not salient_counts_overlap(GLARING)


def share_of_users_naming_a_topic_in_passing(difficulty: Difficulty) -> float:
    """In the control, where nobody has a role: users with an unambiguous salient word."""
    sample = community(difficulty, control=True)
    ambiguous = the_world().ambiguous_words
    words = (word for topic in sample.topics if topic.sensitive for word in topic.words)
    terms = tuple({word: None for word in words if word not in ambiguous})
    hits = occurrences(sample.posts["text"], terms)
    users = sample.posts.filter(hits > 0)["user"].unique()
    return len(users) / sample.parameters.users


def test_bystanders_name_sensitive_topics_in_passing_the_more_the_more_leaks() -> None:
    tight, usual, leaky = (
        share_of_users_naming_a_topic_in_passing(replace(DIFFICULTIES["default"], leakage=leakage))
        for leakage in (0.0, DIFFICULTIES["default"].leakage, 0.2)
    )
    assert tight < 0.05
    assert 0.2 < usual < 0.6
    assert leaky > 1.3 * usual


def zipf_slope(counts: NDArray[np.int64]) -> float:
    """Slope of log frequency over log rank, between ranks 10 and 3000."""
    ordered = np.sort(counts)[::-1].astype(np.float64)
    ranks = np.unique(np.geomspace(10, 3000, 60).astype(np.int64))
    slope, _ = np.polyfit(np.log(ranks), np.log(ordered[ranks - 1]), 1)
    return float(slope)


def test_word_frequencies_are_zipf_shaped() -> None:
    text = " ".join(community(DIFFICULTIES["default"]).posts["text"].to_pylist())
    words = text.lower().translate(str.maketrans("", "", ",.!?")).split()
    _, counts = np.unique(words, return_counts=True)
    assert len(counts) > 15_000
    assert -1.4 < zipf_slope(counts) < -0.9
    flat = np.bincount(np.random.default_rng(0).integers(0, 20_000, len(words)))
    assert not -1.4 < zipf_slope(flat) < -0.9


def mean_rank_z(flags: NDArray[np.bool_]) -> float:
    """How far the mean position of the flagged lies from the middle, in standard errors."""
    count, chosen = len(flags), int(flags.sum())
    spread = np.sqrt((count + 1) * (count - chosen) / (12 * chosen))
    return float((np.flatnonzero(flags).mean() - (count - 1) / 2) / spread)


def test_user_ids_carry_no_information_about_personas() -> None:
    truth = community(DIFFICULTIES["default"]).truth
    ids = np.array(truth["user"].to_pylist())
    order = np.argsort(ids, kind="stable")
    personas = np.array(truth["persona"].to_pylist())[order]
    for persona in ("afflicted", "professional", "curious", "supporter"):
        assert abs(mean_rank_z(personas == persona)) < 4
        assert abs(mean_rank_z(np.sort(personas == persona))) > 4


def test_rows_of_truth_and_first_posts_carry_no_information_about_the_afflicted() -> None:
    sample = community(DIFFICULTIES["default"])
    flags = np.logical_or.reduce(afflicted_by_topic(sample), axis=0)
    assert abs(mean_rank_z(flags)) < 4
    ids = sample.truth["user"].unique().to_pylist()
    first_seen = dict.fromkeys(sample.posts["user"].to_pylist())
    by_id = dict(zip(ids, flags.tolist(), strict=True))
    assert abs(mean_rank_z(np.array([by_id[user] for user in first_seen]))) < 4


def test_volume_and_length_are_skewed_with_some_one_word_posts() -> None:
    sample = community(DIFFICULTIES["default"])
    posts = np.sort(posts_by_user(sample))[::-1]
    assert posts[: len(posts) // 10].sum() > 0.3 * posts.sum()
    words = np.array([text.count(" ") + 1 for text in sample.posts["text"].to_pylist()])
    assert 0.01 < (words == 1).mean() < 0.05
    assert np.mean(words) > 1.2 * np.median(words)
    assert words.max() > 60


@pytest.mark.parametrize("level", DIFFICULTIES)
def test_every_user_posts(level: str) -> None:
    assert posts_by_user(community(DIFFICULTIES[level])).min() >= 1


def test_vocabulary_has_twenty_thousand_distinct_words() -> None:
    words = the_lexicon().words
    assert len(words) == len(set(words)) == 20_000
