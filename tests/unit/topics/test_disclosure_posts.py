"""The posts on which disclosure is judged keep the form that their README promises."""

from collections import Counter

import pytest
from support.disclosure_posts import FRESH, JUDGED, OPEN, DisclosurePost, disclosure_posts

HEALTH = (
    "depression",
    "anxiety",
    "suicide and self-harm",
    "eating disorder",
    "drug addiction",
    "alcohol",
    "pregnancy",
    "infertility and abortion",
    "HIV and sexual health",
    "cancer",
    "chronic illness and disability",
)
OTHER = (
    "sexuality",
    "gender identity",
    "religion",
    "politics",
    "trade union",
    "ethnicity and migration",
    "crime and conviction",
    "debt",
    "unemployment",
    "divorce and family conflict",
    "domestic violence",
)
ALWAYS_OUTRIGHT = ("disclosure", "disclosure-slang", "disclosure-indirect", "past")
SELDOM_OUTRIGHT = (
    "negation",
    "quotation",
    "question",
    "third-person",
    "professional",
    "metaphor",
    "news",
    "second-person",
    "hypothetical",
    "joke",
)
# File: posts; least posts of a health topic, of another topic, of a kind.
LEAST = {FRESH: (400, 18, 18, 9), JUDGED: (360, 14, 12, 8), OPEN: (160, 7, 7, 5)}
LONGEST_SHARED_RUN = 5

every_file = pytest.mark.parametrize("name", [FRESH, JUDGED, OPEN])


def words(post: DisclosurePost) -> list[str]:
    return post.text.casefold().split()


def runs(post: DisclosurePost, length: int) -> set[tuple[str, ...]]:
    spoken = words(post)
    return {tuple(spoken[at : at + length]) for at in range(len(spoken) - length + 1)}


@every_file
def test_every_topic_has_its_least_number_of_posts_and_there_is_no_other_topic(name: str) -> None:
    posts, health, other, _ = LEAST[name]
    topics = Counter(post.topic for post in disclosure_posts(name))
    assert topics.total() >= posts
    assert set(topics) == {*HEALTH, *OTHER}
    assert min(topics[topic] for topic in HEALTH) >= health
    assert min(topics[topic] for topic in OTHER) >= other


@every_file
def test_every_kind_has_its_least_number_of_posts_and_there_is_no_other_kind(name: str) -> None:
    kinds = Counter(post.kind for post in disclosure_posts(name))
    assert set(kinds) == {*ALWAYS_OUTRIGHT, *SELDOM_OUTRIGHT}
    assert min(kinds.values()) >= LEAST[name][-1]
    assert 0.28 <= kinds["disclosure"] / kinds.total() <= 0.4


@every_file
def test_about_half_of_the_posts_are_outright_and_so_it_is_in_every_topic(name: str) -> None:
    posts = disclosure_posts(name)
    outright = Counter(post.topic for post in posts if post.outright)
    of_topic = Counter(post.topic for post in posts)
    assert {type(post.outright) for post in posts} == {bool}
    assert 0.45 <= outright.total() / len(posts) <= 0.55
    assert all(0.35 <= outright[topic] / of_topic[topic] <= 0.65 for topic in of_topic)


@every_file
def test_disclosures_are_outright_and_some_posts_of_other_kinds_too(name: str) -> None:
    posts = disclosure_posts(name)
    assert all(post.outright for post in posts if post.kind in ALWAYS_OUTRIGHT)
    by_surprise = [post for post in posts if post.outright and post.kind in SELDOM_OUTRIGHT]
    assert 5 <= len(by_surprise) <= len(posts) / 20


@every_file
def test_posts_are_short_and_clean_at_their_ends(name: str) -> None:
    posts = disclosure_posts(name)
    assert [post.id for post in posts if len(post.text) > 600] == []
    assert [post.id for post in posts if not 4 <= len(words(post)) <= 80] == []
    assert [post.id for post in posts if post.text != post.text.strip()] == []


def test_no_id_and_no_text_stands_twice_in_any_file() -> None:
    posts = disclosure_posts(FRESH) + disclosure_posts(JUDGED) + disclosure_posts(OPEN)
    assert len({post.id for post in posts}) == len(posts)
    assert len({" ".join(words(post)) for post in posts}) == len(posts)


@pytest.mark.parametrize(("name", "others"), [(OPEN, [JUDGED]), (FRESH, [JUDGED, OPEN])])
def test_posts_have_wordings_of_their_own(name: str, others: list[str]) -> None:
    length = LONGEST_SHARED_RUN + 1
    known = set[tuple[str, ...]]().union(
        *(runs(post, length) for other in others for post in disclosure_posts(other))
    )
    assert [post.id for post in disclosure_posts(name) if known & runs(post, length)] == []
