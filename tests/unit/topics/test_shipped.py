"""The catalogue that ships: 22 topics, written by hand."""

import re
from itertools import pairwise

import pytest

from sottovoce.corpus.words.rules import ENGLISH
from sottovoce.topics.shipped.rules import TopicRules, rules_of, shipped_catalogue, shipped_rules

NAMES = {
    "depression", "anxiety", "suicide and self-harm", "eating disorder", "drug addiction",
    "alcohol", "pregnancy", "infertility and abortion", "HIV and sexual health", "cancer",
    "chronic illness and disability", "sexuality", "gender identity", "religion", "politics",
    "trade union", "ethnicity and migration", "crime and conviction", "debt", "unemployment",
    "divorce and family conflict", "domestic violence",
}  # fmt: skip
RULES = list(shipped_rules().values())
# The commonest words of English texts, the commonest first.
FREQUENT = """
    the be to of and a in that have i it for not on with he as you do at this but his by from they
    we say her she or an will my one all would there their what so up out if about who get which go
    me when make can like time no just him know take people into year your good some could them see
    """.split()  # noqa: SIM905 - a column of words otherwise


def test_the_catalogue_has_the_topics_of_special_category_life() -> None:
    catalogue = shipped_catalogue()
    assert set(catalogue.names) == NAMES
    assert set(catalogue.sensitive) == set(catalogue.topics)
    assert [topic.name for topic in catalogue if len(catalogue.domain_of(topic)) < 2] == []


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: str(rules.name))
def test_each_list_has_hundreds_of_terms_and_says_how_it_was_written(rules: TopicRules) -> None:
    assert len(rules.topic.words) >= 180
    assert len(rules.how) > 100
    assert len(rules.phrases) >= 15
    assert rules.harmless


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: str(rules.name))
def test_no_list_is_a_stop_list_or_in_the_order_of_frequency(rules: TopicRules) -> None:
    words = [word for word in rules.topic.words if " " not in word]
    assert sum(word in ENGLISH or word in FREQUENT for word in words) <= len(words) // 20
    ranks = [FREQUENT.index(word) for word in words if word in FREQUENT]
    assert not is_sorted(ranks) or len(ranks) < 5
    # Long words are rarer than short ones: a list by frequency begins with the short.
    lengths = [len(word) for word in words]
    rising = sum(first <= second for first, second in pairwise(lengths))
    assert rising < 0.75 * len(lengths)


def is_sorted(ranks: list[int]) -> bool:
    return all(first <= second for first, second in pairwise(ranks))


def test_a_list_by_frequency_would_be_noticed() -> None:
    planted = FREQUENT[:60]
    assert sum(word in ENGLISH for word in planted) > len(planted) // 20
    assert is_sorted([FREQUENT.index(word) for word in planted])


def test_no_two_topics_share_a_list() -> None:
    for first, second in pairwise(sorted(RULES, key=lambda rules: len(rules.topic.words))):
        both = set(first.topic.words) & set(second.topic.words)
        assert len(both) < 0.3 * len(first.topic.words)


def test_a_topic_is_found_by_the_papers_name() -> None:
    named = [rules_of(name) for name in ("clinical depression", "hiv", "financial debts")]
    assert [rules.name for rules in named if rules] == [
        "depression",
        "HIV and sexual health",
        "debt",
    ]
    assert rules_of("gardening") is None


def test_terms_are_words_in_lower_case() -> None:
    wrong = [
        term
        for rules in RULES
        for role in rules.roles.values()
        for term in role
        if not re.fullmatch(r"[a-z0-9é' ]+", term)
    ]
    assert wrong == []
