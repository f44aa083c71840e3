"""Every option and parameter that a message names exists where the message is read."""

import ast
import gc
from pathlib import Path

import pytest
from support.named_options import (
    Command,
    Commands,
    Wrong,
    commands_of,
    wrong_keywords,
    wrong_options,
)
from support.reachable_code import Place, Sources

import sottovoce
from sottovoce.cli._app import app

DRIVERS = {"bench", "demo", "study"}
"""Commands that run what others offer, on inputs of their own."""
_READERS = "one set of readers serves every command; the sentence says it for Python too"
_COUNTED = "`audit --texts` counts again by the card; what is refused there no release could count"
_ASSESSED = "`assess` and `explain` share a request and a terminal; each refuses only its own"
SHARED = {
    "--allow-unmatched": "only `topics match` refuses what is unmatched",
    "--bigrams": "`loop` trains without them",
    "--by": _COUNTED,
    "--checkpoint": _ASSESSED,
    "--choose": "only `topics match` refuses what is unmatched",
    "--day-first": _READERS,
    "--declare-data-dependent": _COUNTED,
    "--delimiter": _READERS,
    "--drop-failed": "sheets of profiles hold no attention checks",
    "--encoding": _READERS,
    "--fields": _READERS,
    "--first-person": "only `topics train` reads texts that are not ours; the demo's are English",
    "--format": _READERS,
    "--header": _READERS,
    "--ids": "only `release` groups documents, and cards that it wrote are read by others",
    "--label": "the sentence says that it is `learn audit`'s, and what a party and Python have",
    "--labels": _COUNTED,
    "--ledger": "`loop` trains models of topics, and no classifier that would be paid for",
    "--max-line-bytes": _READERS,
    "--max-terms": _COUNTED,
    "--min-texts": _COUNTED,
    "--model": "the sentence sends its reader to the command that scores the posts",
    "--month-first": _READERS,
    "--people": _ASSESSED,
    "--report": _ASSESSED,
    "--resume": "`explain`, `advise` and `loop` assess, but keep no checkpoint",
    "--user-documents": _COUNTED,
    "--vocabulary": _COUNTED,
    "--without": _ASSESSED,
}
"""Options that some command lacks which can reach the message, and why nobody is misled."""


@pytest.fixture(scope="module")
def sources() -> Sources:
    # Without the collector, which would look through a million nodes again and again.
    gc.disable()
    try:
        return Sources.of_package(Path(sottovoce.__file__).parent)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="module")
def wrong(sources: Sources) -> list[Wrong]:
    return wrong_options(sources, commands_of(app))


def test_every_option_that_a_message_names_exists(wrong: list[Wrong]) -> None:
    assert [each for each in wrong if each.nowhere] == []


def test_a_message_names_no_option_that_one_of_its_commands_lacks(wrong: list[Wrong]) -> None:
    lacked = {each.option for each in wrong if not DRIVERS.issuperset(each.lacking)}
    assert lacked == set(SHARED)


def test_every_parameter_that_an_error_names_can_be_passed(sources: Sources) -> None:
    assert wrong_keywords(sources, commands_of(app)) == []


MADE_UP = Sources(
    {
        "made.up": ast.parse(
            '''
from made import library

def assess(model):
    """Give --model, or --modle."""
    from made.library import scored
    return scored(model)

def topics_train():
    library.SPACES.clear()
'''
        ),
        "made.library": ast.parse(
            '''
SPACES = {"lda": "score posts with --model"}

def scored(model, *, held_out=None):
    """Not shown: --shown-nowhere."""
    if model is None:
        raise ValueError("train one with sottovoce topics train --model, give it with --model")
    if held_out:
        raise ValueError(f"{model} takes no --{held_out}; leave --held-out out, or holdout=None")
    return SPACES.get(model, "give --out")

def unused():
    print("go on with --out here")
'''
        ),
    }
)
MADE_UP_COMMANDS: Commands = {
    "assess": Command(Place("made.up", "assess"), frozenset({"--model", "--out"})),
    "topics train": Command(Place("made.up", "topics_train"), frozenset({"--out"})),
}


def test_wrong_options_of_a_made_up_program_are_found() -> None:
    found = wrong_options(MADE_UP, MADE_UP_COMMANDS)
    assert found == [
        Wrong(Place("made.up", "assess"), "--modle", ("assess",), nowhere=True),
        Wrong(Place("made.library", "SPACES"), "--model", ("topics train",), nowhere=False),
        Wrong(Place("made.library", "scored"), "--model", ("topics train",), nowhere=True),
        Wrong(Place("made.library", "scored"), "--held-out", ("assess",), nowhere=True),
        Wrong(Place("made.library", "unused"), "--out", (), nowhere=True),
    ]


def test_a_wrong_parameter_of_a_made_up_program_is_found() -> None:
    found = wrong_keywords(MADE_UP, {"x": Command(Place("made.front.up", "x"), frozenset())})
    assert found == [(Place("made.library", "scored"), "holdout")]
