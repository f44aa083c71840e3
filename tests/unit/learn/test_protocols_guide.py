"""The guide to training together says what the code says, and its example runs."""

import re
from pathlib import Path

import pytest
from support.leakage_page import is_shown
from support.tools import loaded_tool

from sottovoce import learn
from sottovoce.learn.run.leakage import mode_leakage
from sottovoce.learn.training_terms import Mode, Recipe
from sottovoce.learn.wire.message import Leakage

GUIDE = Path(__file__).parents[3] / "docs" / "explanation" / "learn-protocols.md"
CASES: list[tuple[Mode, Recipe]] = [
    ("open", Recipe()),
    ("open", Recipe(statistics="rados", penalty=0.1)),
    ("hidden", Recipe(penalty=0.1)),
]


def test_the_page_of_leakage_says_what_the_code_says() -> None:
    """Made by tools/leakage_page.py; what it calls alike has rows for the same parties."""
    tool = loaded_tool("leakage_page")
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page()
    shown = {run.title: run for run in (*tool.runs(), *tool.protocols())}
    for run in shown.values():
        if run.like:
            assert _parties(shown[run.like].leakage) <= _parties(run.leakage)


def _parties(leakage: Leakage) -> set[str]:
    return {line.split("|")[1] for line in leakage.table().splitlines()}


@pytest.mark.parametrize(("mode", "recipe"), CASES)
def test_the_page_of_leakage_shows_every_mode(mode: Mode, recipe: Recipe) -> None:
    """With the rows that it leaves out where a table is like one before it."""
    assert is_shown(mode_leakage(mode, recipe))


def test_no_two_modes_leak_alike() -> None:
    tables = {mode_leakage(mode, recipe).table() for mode, recipe in CASES}
    assert len(tables) == len(CASES)


def test_the_guides_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = GUIDE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(code, "learn-protocols.md", "exec"), {})  # noqa: S102 - our own guide
    assert re.search("(?m)^coordinator  +which peers", capsys.readouterr().out)


def test_the_package_offers_train_and_nothing_that_is_not_there() -> None:
    assert learn.train.__module__ == "sottovoce.learn._train"
    with pytest.raises(AttributeError):
        _ = learn.nothing  # type: ignore[attr-defined] # the point of the test
