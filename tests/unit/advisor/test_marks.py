"""Telling words, marked where they stand."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.advisor._demo import demo_posts, sentences, start_of_week
from sottovoce.advisor.verdict import TextPiece, pieces, spans_of_words
from sottovoce.corpus.words.rules import TokenRules

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5)


def test_telling_words_are_marked_and_the_rest_is_not() -> None:
    text = "My Debts and the credit card."
    spans = spans_of_words(text, {"debts", "credit card", "the", "y"}, TokenRules(shortest=1))
    assert pieces(text, spans) == [
        TextPiece("My ", telling=False),
        TextPiece("Debts", telling=True),
        TextPiece(" and the ", telling=False),
        TextPiece("credit", telling=True),
        TextPiece(" ", telling=False),
        TextPiece("card", telling=True),
        TextPiece(".", telling=False),
    ]


def test_a_word_counts_in_the_form_in_which_the_ranking_counts_it() -> None:
    rules = TokenRules(stem="english")
    assert spans_of_words("Two loans", {"loan"}, rules) == [(4, 9)]
    assert spans_of_words("Two loans", {"loan"}, TokenRules()) == []


@given(st.text(max_size=25), SPANS)
def test_the_pieces_are_the_text_whatever_is_marked(
    text: str, spans: list[tuple[int, int]]
) -> None:
    found = pieces(text, spans)
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)
    marked = {at for start, end in spans for at in range(start, min(end, len(text)))}
    told = [piece.telling for piece in found for _ in piece.text]
    assert [at for at, telling in enumerate(told) if telling] == sorted(marked)


def test_demo_posts_are_the_same_each_time_and_move_by_whole_weeks() -> None:
    topics = ["debt", "pregnancy"]
    monday, friday = datetime(2026, 11, 16, tzinfo=UTC), datetime(2026, 11, 27, 13, tzinfo=UTC)
    first = demo_posts(topics, start_of_week(monday), users=40, weeks=4, seed=3)
    later = demo_posts(topics, start_of_week(friday), users=40, weeks=4, seed=3)
    assert first.posts["text"].equals(later.posts["text"])
    shifts = {
        after - before
        for before, after in zip(
            first.posts["time"].to_pylist(), later.posts["time"].to_pylist(), strict=True
        )
    }
    assert [shift.days for shift in shifts] == [7]
    assert max(first.posts["time"].to_pylist()) < monday
    assert {topic for topic, _ in first.afflicted} == set(topics)


def test_every_kind_of_person_has_something_to_say_about_every_topic() -> None:
    assert len(sentences()) == 22
    assert all(len(lines) >= 2 for roles in sentences().values() for lines in roles.values())
