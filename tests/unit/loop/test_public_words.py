"""Which words a loop releases: the catalogue's, and of a large one the first of every topic."""

from sottovoce.loop.subject import MOST_WORDS, public_words, read_subject
from sottovoce.topics import Catalogue, Topic, shipped_catalogue


def test_a_small_catalogue_is_released_whole_and_in_its_order() -> None:
    topics = (
        Topic("debt", ("loan", "bank", "pay day"), "money"),
        Topic("work", ("bank",), "money"),
    )
    assert public_words(Catalogue(topics)) == ("loan", "bank")


def test_of_a_large_one_every_topic_has_its_first_words() -> None:
    words = public_words(shipped_catalogue())
    assert len(words) == len(set(words)) == MOST_WORDS
    for topic in shipped_catalogue():
        single = [word for word in topic.words if " " not in word]
        assert set(single[:30]) <= set(words)


def test_posts_without_topics_take_the_shipped_ones() -> None:
    found = read_subject([("ada", "2024-01-01", "a loan")]).catalogue
    assert found.names == shipped_catalogue().names
