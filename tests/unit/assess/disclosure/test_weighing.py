"""What no rule finds is weighed: clues and persons together say it, one clue says nothing."""

import json
from importlib.resources import files

from support.disclosure_posts import OPEN_FILES, UNTOPICAL

from sottovoce.assess.disclosure._said import Signals, Weights
from sottovoce.assess.disclosure.disclosures import TOGETHER, disclosures
from sottovoce.assess.disclosure.levels import DisclosureLevel

FAMILY = "I drop them back at her gate at six, every other weekend, and drive the long way home."


def test_clues_that_no_rule_knows_say_it_together() -> None:
    [told] = disclosures(FAMILY)
    assert (told.topic, told.level) == ("divorce and family conflict", DisclosureLevel.OUTRIGHT)
    assert told.rule == TOGETHER
    assert "every other weekend" in [FAMILY[first:last] for first, last in told.spans]


def test_one_clue_alone_says_nothing() -> None:
    assert disclosures("I drive the long way home on Fridays.") == ()


def test_words_count_less_the_more_of_them_there_are() -> None:
    weights = Weights({"gate": 100, "own": 50}, 0.0, 0.0, 0.0)
    few = Signals({"own": 1.0}, frozenset(("gate",)))
    many = Signals({"own": 1.0}, frozenset(("gate", "six", "drive", "home")))
    assert (weights.score(few), weights.score(many)) == (10.5, 5.5)


def test_a_topic_of_which_only_clues_are_there_needs_two_of_them() -> None:
    weights = Weights({}, 0.0, 0.0, 0.0)
    assert not weights.enough(_with_clues(1), named=False)
    assert weights.enough(_with_clues(2), named=False)
    assert weights.enough(_with_clues(0), named=True)


def test_who_speaks_of_another_must_have_more_that_speaks_for_themselves() -> None:
    weights = Weights({"own": 50}, 0.0, 0.0, 1.0)
    own, other = {"own": 1.0, "terms": 0.25, "clues": 0.0}, {"not: third person": 1.0}
    assert weights.enough(Signals(own, frozenset()), named=True)
    assert not weights.enough(Signals(own | other, frozenset()), named=True)


def test_the_shipped_weights_say_from_which_posts_they_are() -> None:
    text = (files("sottovoce.assess.disclosure") / "tables" / "weights.json").read_text(
        encoding="utf-8"
    )
    groups = {name.split(" ")[0] for name in json.loads(text)["examples"]}
    assert groups == {*OPEN_FILES, UNTOPICAL}


def _with_clues(number: int) -> Signals:
    return Signals({"terms": 0.0, "clues": number / 6}, frozenset())
