"""Both signals in a sentence: neither is concluded from the other."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import sottovoce
from sottovoce.advisor.person_values import TopicSaid
from sottovoce.advisor.standing import Standing
from sottovoce.advisor.verdict import Signs, verdict, verdict_of_all

REASSURING = re.compile(
    r"would change nothing|adds nothing|There is none|adds anything|You do not stand out"
)


def signs(
    place: int,
    *,
    outright: int = 0,
    about: int = 0,
    score: float = 0.5,
    users: int = 500,
    topic: str = "debts",
    simulated: bool = False,
) -> Signs:
    standing = Standing(topic, "money", "bow-t", users, score, place, place, place)
    standing = replace(standing, simulated=simulated)
    ids = tuple(range(outright + about))
    return Signs(standing, TopicSaid(topic, ids[:outright], ids[outright:], 4, 31), 10)


def test_both_signals_stand_in_the_sentence() -> None:
    assert verdict(signs(3, outright=2)) == (
        "Debts: 2 of your 4 posts say it outright; a ranking of 500 people would list you at "
        "place 3."
    )
    assert verdict(signs(3, about=1)) == (
        "Debts: 1 of your 4 posts is about it, and none says it outright; a ranking of 500 people "
        "would list you at place 3."
    )


def test_who_says_it_outright_is_not_comforted_by_a_late_place() -> None:
    told = verdict(signs(480, outright=1))
    assert told.startswith("Debts: 1 of your 4 posts says it outright. A ranking")
    assert told.endswith("at place 480, but a reader of those words needs no ranking.")


@pytest.mark.parametrize(
    "one",
    [
        signs(480, outright=1),
        signs(480, about=1),
        signs(120),
        signs(480, outright=1, score=0.0),
        signs(1, users=1, about=1),
    ],
)
def test_no_sign_is_said_only_where_neither_signal_is(one: Signs) -> None:
    assert not one.absent
    assert "No sign" not in verdict(one)
    assert "No sign" not in verdict_of_all([one, signs(480)])


def test_no_sign_says_how_much_was_read() -> None:
    none = signs(480)
    assert none.absent
    assert verdict(none) == (
        "No sign of debts: no word of it was found in your 4 posts, 31 words in all."
    )
    assert verdict_of_all([none, signs(400, score=0.0)]) == (
        "No sign of any of the 2 topics in your 4 posts: 31 words were read."
    )


def test_what_is_said_outright_comes_before_any_place() -> None:
    found = [signs(1, topic="a"), signs(480, outright=1, topic="b"), signs(2, about=3, topic="c")]
    assert [one.topic for one in sorted(found, key=lambda each: each.order)] == ["b", "a", "c"]
    assert verdict_of_all(found).startswith("B: 1 of your 4 posts says it outright")


def test_a_place_among_made_up_people_is_told_as_one() -> None:
    assert verdict(signs(3, about=1, simulated=True)).endswith(
        "; a ranking of you and 499 made-up people would list you at place 3."
    )
    outright = verdict(signs(480, outright=1, simulated=True))
    assert "A ranking of you and 499 made-up people would list you at place 480, but" in outright


def test_among_made_up_people_only_what_a_post_names_shows() -> None:
    unnamed, named = signs(2, simulated=True), signs(400, about=1, topic="rent", simulated=True)
    assert unnamed.stands_out
    assert not unnamed.shows
    assert signs(2).shows
    assert verdict_of_all([unnamed, named]).startswith("Rent: 1 of your 4 posts is about it")
    assert verdict(unnamed) == (
        "Debts: no word of it was found in your 4 posts, 31 words in all; by words that do not "
        "name it, a ranking of you and 499 made-up people would list you at place 2."
    )
    assert verdict_of_all([unnamed, signs(480, simulated=True)]) == (
        "No word of any of the 2 topics was found in your 4 posts: 31 words were read."
    )


def test_no_sentence_of_page_or_advisor_calls_an_unchanged_place_nothing() -> None:
    root = Path(sottovoce.__file__).parent
    files = [
        path
        for room in ("advisor", "web/advise", "cli", "report")
        for path in (root / room).rglob("*")
        if path.suffix in {".py", ".html", ".js"}
    ]
    assert len(files) > 60
    found = {path.name: REASSURING.findall(path.read_text()) for path in files}
    assert {name: words for name, words in found.items() if words} == {}
