"""Evidence: the posts and words that hold a place up, with shares that add up."""

from datetime import timedelta

import numpy as np
import pytest
from support.communities import CATALOGUE, MONDAY, FixedSpace, random_posts

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting, Post, PostMatrix
from sottovoce.advisor.standing import without_each
from sottovoce.errors import InputError, ParameterError

WEEK = timedelta(days=7)


def person_of(*texts: str, measure: str = "bow-t", apart: timedelta = WEEK) -> Person:
    posts = [Post(n + 1, MONDAY + n * apart, text) for n, text in enumerate(texts)]
    setting = AdvisorSetting(measure, m=2)
    return Person(Community.from_posts(random_posts(1), [FixedSpace()], CATALOGUE, setting), posts)


def test_shares_are_parts_of_the_best_weeks() -> None:
    found = person_of("debt loan bank", "debt", "nothing").evidence("debts")
    assert {post.id: round(post.share, 3) for post in found.posts} == {1: 0.634, 2: 0.366}
    assert {post.id: post.stronger for post in found.posts} == {1: 0, 2: 1}
    assert sum(word.share for word in found.words) == pytest.approx(1)
    assert found.others == 1


def test_like_posts_of_one_week_part_their_share_and_each_adds_nothing() -> None:
    person = person_of("debt loan", "debt loan", apart=timedelta(hours=1))
    found = person.evidence("debts")
    assert [(post.share, post.adds) for post in found.posts] == [(0.5, 0.0), (0.5, 0.0)]
    assert {word.word for word in found.words} == {"debt", "loan"}


def test_a_week_counts_once_however_many_like_posts_it_has() -> None:
    community = person_of("debt").community
    often = [
        Post(1, MONDAY, "debt loan"),
        Post(2, MONDAY, "debt loan"),
        Post(3, MONDAY + WEEK, "debt"),
    ]
    found = Person(community, often).evidence("debts")
    assert {post.id: round(post.share, 3) for post in found.posts} == {1: 0.293, 2: 0.293, 3: 0.414}
    once = Person(community, [often[0], often[2]]).evidence("debts")
    assert [word.adds for word in found.words] == pytest.approx([word.adds for word in once.words])


def test_without_buckets_the_strongest_post_holds_everything_up() -> None:
    found = person_of("debt loan bank", "debt", measure="bow").evidence("debts")
    assert {post.id: post.share for post in found.posts} == {1: 1.0, 2: 0.0}


def test_posts_that_say_it_outright_come_first_whatever_they_weigh() -> None:
    heavy, plain = "she has debt, he has a loan, they own a bank", "I am deep in debt and I hid it"
    found = person_of(heavy, plain, "bread").evidence("debts")
    assert [(post.id, post.level.name) for post in found.posts] == [(2, "OUTRIGHT"), (1, "ABOUT")]
    assert found.posts[0].share < found.posts[1].share
    assert [plain[start:end] for start, end in found.posts[0].spans]


@pytest.mark.parametrize("measure", ["ent", "diff-priv-present", "lda-dt"])
def test_all_listed_words_are_hers(measure: str) -> None:
    person = person_of("debt loan", "baby clinic sad", measure=measure)
    for topic in person.community.topics:
        found = person.evidence(topic)
        assert {word.word for word in found.words} <= {"debt", "loan", "baby", "clinic", "sad"}
        assert sum(post.share for post in found.posts) == pytest.approx(1) or not found.words


def test_a_word_adds_what_her_score_falls_without_it() -> None:
    person = person_of("debt loan", "baby clinic", measure="ent-present")
    for word in person.evidence("debts").words:
        fewer = person.without_words([word.word])[person.column("debts")]
        own = person.standing("debts")
        assert own.score is not None
        assert fewer.score is not None
        assert word.adds == own.score - fewer.score


def test_one_post_alone_adds_the_whole_score() -> None:
    person = person_of("debt loan")
    standing = person.standing("debts")
    assert person.evidence("debts").posts[0].adds == standing.score
    assert standing.uncertainty is not None
    assert standing.uncertainty.score_error == 0
    assert (standing.uncertainty.low, standing.uncertainty.high) == (standing.low, standing.high)


def test_a_post_that_points_away_from_a_topic_is_tried_too() -> None:
    """With fewer weeks than m a missing week counts 0, so leaving out a negative one changes it."""
    strengths = np.array([[-0.25], [0.0], [0.5]])
    posts = PostMatrix(np.array([0, 1, 2], np.int32), strengths, np.zeros((3, 0), np.uint8))
    mattering, variants = without_each(posts, 4)
    assert mattering.tolist() == [0, 2]
    kept = [variants.posts.strengths[variants.owner == version, 0] for version in range(2)]
    assert [sorted(each.tolist()) for each in kept] == [[0.0, 0.5], [-0.25, 0.0]]


def test_what_is_not_hers_is_refused() -> None:
    person = person_of("debt")
    with pytest.raises(ParameterError, match="got 1 that are not"):
        person.standings_without([7])
    with pytest.raises(ParameterError, match="sensitive"):
        person.evidence("sleep")
    with pytest.raises(ParameterError, match="at least 1 post must stay"):
        person.lacking([1])
    with pytest.raises(ParameterError, match="ids of posts must differ"):
        Person(person.community, [Post(1, MONDAY, "a"), Post(1, MONDAY, "b")])
    with pytest.raises(InputError, match="at least 1 post"):
        Person(person.community, [])
    with pytest.raises(ParameterError, match="got neither"):
        Person(person.community)
