"""What is said of a draft: what it is about and how plainly, whatever happens to the place."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from sottovoce.advisor.person import DraftCheck, DraftTopic
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.advisor.standing import Standing
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.web.advise._what_if import _describe_none, _place_with, _says, _touches

if TYPE_CHECKING:
    from sottovoce.advisor.person import Person

BEFORE = Standing("debts", "money", "bow-t", 500, 0.5, 7, 7, 7)


def draft(before: Standing = BEFORE, after: Standing | None = None, **more: object) -> DraftTopic:
    return DraftTopic(before, after or before, 0.3, (), **more)  # type: ignore[arg-type] # as given


def check(*topics: DraftTopic, known: int = 3) -> DraftCheck:
    return DraftCheck(datetime(2026, 1, 1, tzinfo=UTC), topics, known, 12)


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (DisclosureLevel.OUTRIGHT, "It says it outright: debts."),
        (
            DisclosureLevel.ABOUT,
            "It is about debts, but does not say outright that it concerns you.",
        ),
        (DisclosureLevel.NONE, "Some of its words count towards debts."),
    ],
)
def test_what_it_is_about_and_how_plainly_comes_first(level: DisclosureLevel, words: str) -> None:
    assert _says(draft(level=level)) == words


def test_a_place_that_stays_is_told_with_what_holds_it() -> None:
    first = replace(BEFORE, low=1, high=1)
    assert (
        _place_with(draft(first))
        == "You are at place 1 of 500 already, the highest place there is."
    )
    assert _place_with(draft(covering=3)) == (
        "Your place stays 7 of 500, held by 3 stronger posts of yours; the draft would count if "
        "they were gone."
    )
    unseen = replace(BEFORE, score=0.0, low=300, high=500)
    assert "but a reader would not" in _place_with(draft(unseen))


@pytest.mark.parametrize(
    ("topic", "touched"),
    [
        (draft(replace(BEFORE, low=400, high=400), level=DisclosureLevel.ABOUT), True),
        (draft(replace(BEFORE, strength=0.5)), True),
        (draft(replace(BEFORE, strength=0.9)), False),
        (draft(after=replace(BEFORE, score=0.6)), True),
        (draft(replace(BEFORE, low=400, high=400, surely=400, strength=0.1)), False),
    ],
    ids=["named", "as strong as others", "weak and covered", "moves", "weighs far behind"],
)
def test_a_topic_is_told_of_if_named_or_if_it_weighs_where_one_is_listed_early(
    topic: DraftTopic, touched: bool
) -> None:
    measure, setting = SimpleNamespace(space="bow"), AdvisorSetting("bow-t")
    person = SimpleNamespace(measure=measure, setting=setting)
    assert _touches(cast("Person", person), topic) is touched


def test_no_sign_tells_how_much_was_read_and_what_a_ranking_would_still_do() -> None:
    assert (
        _describe_none(check(draft()))
        == "No sign of any of the 1 sensitive topics in its 12 words."
    )
    assert _describe_none(check(draft(), known=0)).endswith("none of which the ranking knows.")
    later = replace(BEFORE, low=300, high=300)
    moved = _describe_none(check(draft(), draft(later, replace(later, low=250, high=250))))
    assert "a ranking would still move you. For debts you would be more exposed" in moved
