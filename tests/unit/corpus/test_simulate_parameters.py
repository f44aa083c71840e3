"""Parameters out of bounds are refused; the difficulty levels are frozen."""

import math
from collections import Counter
from datetime import date
from typing import Any

import pytest

from sottovoce.corpus.simulate.parameters import (
    DIFFICULTIES,
    DOMAINS,
    PAPER_TOPICS,
    Difficulty,
    SimulationParameters,
    WorldTopic,
    the_world,
)
from sottovoce.corpus.simulate.write import simulate
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import ParameterError


def test_levels_are_frozen() -> None:
    """Chosen before any risk measure ran: a change here makes published results void."""
    frozen = {
        "very-easy": Difficulty(indirect=0.20, dilution=0.45, leakage=0.01, focus=0.50, drift=0.0),
        "easy": Difficulty(indirect=0.50, dilution=0.52, leakage=0.02, focus=0.40, drift=0.04),
        "default": Difficulty(indirect=0.70, dilution=0.60, leakage=0.03, focus=0.33, drift=0.08),
        "hard": Difficulty(indirect=0.82, dilution=0.68, leakage=0.06, focus=0.26, drift=0.12),
        "very-hard": Difficulty(indirect=0.92, dilution=0.76, leakage=0.10, focus=0.20, drift=0.16),
    }
    assert frozen == DIFFICULTIES


def test_defaults_are_frozen() -> None:
    assert SimulationParameters() == SimulationParameters(
        users=1000,
        weeks=26,
        seed=0,
        start=date(2024, 1, 1),
        difficulty=DIFFICULTIES["default"],
        control=False,
        afflicted_share=0.03,
        professional_share=0.015,
        curious_share=0.03,
        supporter_share=0.02,
        posts_per_week=1.2,
        volume_spread=1.0,
        week_regularity=0.6,
        words_per_post=11.0,
        length_spread=0.9,
        longest_post=120,
    )


WRONG: dict[str, list[object]] = {
    "users": [49, 1000.0, True],
    "weeks": [0, 521],
    "seed": [-1, 2**63],
    "longest_post": [0],
    "background_documents": [0],
    "start": [date(1969, 12, 31)],
    "posts_per_week": [0.0, math.nan],
    "volume_spread": [-0.1],
    "week_regularity": [0.0],
    "words_per_post": [0.5],
    "length_spread": [math.inf],
    "words_per_document": [0.0],
    "afflicted_share": [-0.01],
    "curious_share": [1.01],
    "sensitive_topics": [(), ("hiv", "hiv")],
}


@pytest.mark.parametrize(("name", "value"), [(k, each) for k in WRONG for each in WRONG[k]])
def test_parameter_out_of_bounds_is_refused_by_name(name: str, value: object) -> None:
    arguments: dict[str, Any] = {name: value}
    with pytest.raises(ParameterError, match=name.split("_", maxsplit=1)[0]):
        SimulationParameters(**arguments)


ROLES = ("afflicted", "professional", "curious", "supporter")
FEW = dict.fromkeys((f"{role}_share" for role in ROLES), 0.002)
EVERYTHING = tuple(topic.name for topic in the_world().topics)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({**FEW, "users": 100, "afflicted_share": 0.3}, "must fit into 100 users, got 165"),
        ({"sensitive_topics": ("gout",)}, "'gout'"),
        ({**FEW, "sensitive_topics": EVERYTHING}, "at most 42, .* got 46"),
    ],
)
def test_a_community_that_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        simulate(SimulationParameters(**arguments))


def test_a_role_with_a_share_has_at_least_one_holder_per_topic() -> None:
    parameters = SimulationParameters(users=50, supporter_share=0.0, afflicted_share=0.001)
    assert parameters.role_counts == {
        "afflicted": 1,
        "professional": 1,
        "curious": 2,
        "supporter": 0,
    }


PAPER_DOMAINS = {
    "clinical depression": "psychology",
    "drug addiction": "psychology",
    "pregnancy": "medicine",
    "hiv": "medicine",
    "financial debts": "finance",
}


def test_at_least_forty_topics_in_six_named_domains_and_other() -> None:
    topics = the_world().topics
    assert len(topics) >= 40
    assert len({topic.name for topic in topics}) == len(topics)
    assert {topic.domain for topic in topics} == set(DOMAINS)
    assert len(DOMAINS) == 7
    assert "other" in DOMAINS


@pytest.mark.parametrize("name", PAPER_TOPICS)
def test_topics_of_the_paper_stand_in_their_domain_with_four_siblings(name: str) -> None:
    topics = the_world().topics
    assert topics[the_world().topic_number(name)].domain == PAPER_DOMAINS[name]
    assert sum(topic.domain == PAPER_DOMAINS[name] for topic in topics) >= 5


@pytest.mark.parametrize("topic", the_world().topics, ids=lambda topic: topic.name)
def test_a_topic_has_twenty_direct_and_at_least_as_many_indirect_words(topic: WorldTopic) -> None:
    assert len(set(topic.direct)) == len(topic.direct) == 20
    assert len(set(topic.indirect)) == len(topic.indirect) >= 20
    assert Vocabulary.public(topic.direct).terms == topic.direct, "words, or two in a row"
    assert not set(topic.direct) & set(topic.indirect)


def test_words_are_lower_case_letters_with_single_spaces() -> None:
    world = the_world()
    lists = [*world.domain_words, world.function_words, world.everyday_words]
    lists += [words for topic in world.topics for words in (topic.direct, topic.indirect)]
    for word in (word for words in [*lists, world.ambiguous_words] for word in words):
        assert word.replace(" ", "").isalpha()
        assert word.isascii()
        assert word == word.lower()


def test_topics_share_direct_words_only_if_these_are_ambiguous() -> None:
    counts = Counter(word for topic in the_world().topics for word in topic.direct)
    shared = {word for word, count in counts.items() if count > 1}
    assert shared <= set(the_world().ambiguous_words)


def test_indirect_words_overlap_between_topics_and_with_everyday_speech() -> None:
    world = the_world()
    everyday = set(world.everyday_words + world.function_words)
    for topic in world.topics:
        elsewhere = {w for other in world.topics if other is not topic for w in other.indirect}
        assert len(elsewhere.intersection(topic.indirect)) >= 10
        assert len(everyday.intersection(topic.indirect)) >= 8
