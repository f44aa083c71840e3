"""What others say is never the author's, however it is quoted."""

from functools import cache

from hypothesis import given
from hypothesis import strategies as st
from support.disclosure_posts import FORMER, OPEN, disclosure_posts, everyday_posts

from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.disclosure.levels import DisclosureLevel

POSTS = [post.text for name in (FORMER, OPEN) for post in disclosure_posts(name)]
EVERYDAY = [text for text in everyday_posts() if "?" not in text]


@cache
def reader() -> DisclosureReader:
    return DisclosureReader()


def outright(text: str) -> set[str]:
    return {told.topic for told in reader().read(text) if told.level is DisclosureLevel.OUTRIGHT}


@given(st.sampled_from(POSTS), st.sampled_from(POSTS))
def test_a_quoted_line_above_a_post_never_adds_what_the_post_says_outright(
    quoted: str, post: str
) -> None:
    line = " ".join(quoted.split())
    assert outright(f"> {line}\n{post}") <= outright(post)


@given(st.sampled_from(POSTS), st.sampled_from(EVERYDAY))
def test_what_a_sign_says_in_quotation_marks_is_not_the_authors(quoted: str, post: str) -> None:
    words = quoted.replace('"', "").replace("\n", " ").replace(">", " ")
    text = f'{post}\nThe sign in the window read "{words}" and the rain had got in.'
    assert outright(text) <= outright(post)


@given(st.sampled_from(POSTS))
def test_the_telling_words_of_a_post_are_in_it_and_in_order(post: str) -> None:
    for told in reader().read(post):
        edges = [edge for span in told.spans for edge in span]
        assert edges == sorted(edges)
        assert all(post[first:last].strip() for first, last in told.spans)
        assert told.spans


@given(st.sampled_from(POSTS))
def test_blanks_around_a_post_change_nothing(post: str) -> None:
    assert outright(f"  {post}\n\n") == outright(post)
