"""The posts on which disclosure is judged keep the form that their README promises."""

from collections import Counter

import pytest
from support.disclosure_posts import (
    BLIND,
    FILES,
    FORMER,
    FRESH,
    OPEN,
    DisclosurePost,
    disclosure_posts,
    everyday_posts,
)

HEALTH = """
    depression, anxiety, suicide and self-harm, eating disorder, drug addiction, alcohol,
    pregnancy, infertility and abortion, HIV and sexual health, cancer, chronic illness and
    disability
"""
OTHER = """
    sexuality, gender identity, religion, politics, trade union, ethnicity and migration, crime
    and conviction, debt, unemployment, divorce and family conflict, domestic violence
"""
ALWAYS_OUTRIGHT = ("disclosure", "disclosure-slang", "disclosure-indirect", "past")
SELDOM_OUTRIGHT = """
    negation, quotation, question, third-person, professional, metaphor, news, second-person,
    hypothetical, joke
"""
# File: posts; least posts of a health topic, of another topic, of a kind.
LEAST = {
    BLIND: (450, 18, 19, 11),
    FRESH: (400, 17, 17, 9),
    FORMER: (360, 14, 12, 8),
    OPEN: (500, 20, 20, 20),
}
# Words and characters of a post.
SIZES = {BLIND: (2, 120, 700)}
LONGEST_SHARED_RUN = 7


def listed(names: str) -> list[str]:
    return " ".join(names.split()).split(", ")


def words(post: DisclosurePost) -> list[str]:
    return post.text.casefold().split()


def runs(post: DisclosurePost, length: int) -> set[tuple[str, ...]]:
    spoken = words(post)
    return {tuple(spoken[at : at + length]) for at in range(len(spoken) - length + 1)}


@pytest.mark.parametrize("name", FILES)
def test_every_topic_and_kind_has_its_posts_and_about_half_are_outright(name: str) -> None:
    posts, (count, health, other, of_kind) = disclosure_posts(name), LEAST[name]
    topics, kinds = (Counter(getattr(post, part) for post in posts) for part in ("topic", "kind"))
    assert topics.total() >= count
    assert set(topics) == set(listed(HEALTH) + listed(OTHER))
    assert min(topics[topic] for topic in listed(HEALTH)) >= health
    assert min(topics[topic] for topic in listed(OTHER)) >= other
    assert set(kinds) == {*ALWAYS_OUTRIGHT, *listed(SELDOM_OUTRIGHT)}
    assert min(kinds.values()) >= of_kind
    assert 0.24 <= kinds["disclosure"] / kinds.total() <= 0.4
    outright = Counter(post.topic for post in posts if post.outright)
    assert {type(post.outright) for post in posts} == {bool}
    assert 0.45 <= outright.total() / len(posts) <= 0.55
    assert all(0.35 <= outright[topic] / topics[topic] <= 0.65 for topic in topics)
    assert all(post.outright for post in posts if post.kind in ALWAYS_OUTRIGHT)
    by_surprise = [post for post in posts if post.outright and post.kind in listed(SELDOM_OUTRIGHT)]
    assert 5 <= len(by_surprise) <= len(posts) / 20
    fewest, most, longest = SIZES.get(name, (4, 80, 600))
    assert [post.id for post in posts if len(post.text) > longest] == []
    assert [post.id for post in posts if not fewest <= len(words(post)) <= most] == []
    assert [post.id for post in posts if post.text != post.text.strip()] == []


def test_no_id_and_no_text_stands_twice_in_any_file() -> None:
    posts = [post for name in FILES for post in disclosure_posts(name)]
    assert len({post.id for post in posts}) == len(posts)
    assert len({" ".join(words(post)) for post in posts}) == len(posts)


def test_the_judged_posts_have_wordings_of_their_own() -> None:
    known = [name for name in FILES if name != BLIND]
    length = LONGEST_SHARED_RUN + 1
    open_runs = set[tuple[str, ...]]().union(
        *(runs(post, length) for name in known for post in disclosure_posts(name))
    )
    assert [post.id for post in disclosure_posts(BLIND) if open_runs & runs(post, length)] == []


def test_everyday_posts_are_a_hundred_different_ones_in_the_first_person() -> None:
    posts = everyday_posts()
    assert len(set(posts)) == len(posts) >= 100
    own = {"i", "i'm", "i've", "i'd", "my", "me", "we", "our", "we're", "we've", "us", "ours"}
    assert sum(not own.isdisjoint(post.casefold().split()) for post in posts) >= 75
