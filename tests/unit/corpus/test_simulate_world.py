"""The word lists keep what the rest relies on."""

from collections import Counter

import pytest

from sottovoce.corpus.simulate.parameters import DOMAINS, PAPER_TOPICS, WorldTopic, the_world
from sottovoce.corpus.vocabulary import Vocabulary

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


def test_general_speech_has_several_hundred_distinct_words() -> None:
    words = the_world().function_words + the_world().everyday_words
    assert len(words) == len(set(words)) > 500


def test_lists_of_shared_and_ambiguous_words_name_each_once() -> None:
    for words in (*the_world().domain_words, the_world().ambiguous_words):
        assert len(words) == len(set(words))
