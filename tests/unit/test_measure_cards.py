"""The cards of measures: every measure has one, and their figures are those of the studies."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sottovoce.assess.measures.catalogue import LIFTS, MEASURES

DOCS = Path(__file__).parents[2] / "docs"
CARDS = (DOCS / "reference" / "measure-cards.md").read_text(encoding="utf-8")
BLOGS = (DOCS / "research" / "assess-blogs.md").read_text(encoding="utf-8")
STUDIES = (DOCS / "research" / "assess-studies.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d\.\d+")
BASELINES = {"keywords", "weeks", "posts"}


def rows(page: str, after: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of the first table after a heading: a measure, and its other cells."""
    table = page.partition(f"\n{after}\n")[2].partition("\n| measure |")[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line[1:-1].split("|"))
        yield name.strip("`*"), cells


AGAIN = dict(rows(BLOGS, "## The test half again: 100 samples of posts"))
WHOLE = dict(rows(BLOGS, "### The test half by all posts"))
CARD = re.compile(r"^\| ((?:`[\w-]+`(?:, )?)+): [^|]+ \| ([^|]+) \|", re.MULTILINE)
FIGURES = {tuple(re.findall(r"`([^`]+)`", names)): told for names, told in CARD.findall(CARDS)}


def test_every_measure_has_figures_and_one_card() -> None:
    assert {*(name for name, each in MEASURES.items() if each.lifts), *BASELINES} <= set(AGAIN)
    assert set(AGAIN) <= {*MEASURES, *BASELINES}
    assert sorted(name for names in FIGURES for name in names) == sorted({*MEASURES, *BASELINES})


@pytest.mark.parametrize("names", FIGURES, ids=lambda names: names[0])
def test_a_card_s_figures_are_those_of_the_study(names: tuple[str, ...]) -> None:
    places = f"{AGAIN[names[0]][0]}; " if names[0] in AGAIN else ""
    lifts = WHOLE[names[0]][-1] if names[0] in WHOLE else "not measured"
    assert FIGURES[names] == f"{places}{lifts}"


def test_lifts_are_those_that_assess_prints() -> None:
    for name, told in LIFTS.items():
        assert re.findall(r"\d[\d.]*", WHOLE[name][-1]) == [f"{lift:g}" for lift, _ in told]


def test_figures_of_the_cards_stand_in_the_guides() -> None:
    told = BLOGS + STUDIES + (DOCS / "how-to" / "assess.md").read_text(encoding="utf-8")
    known = {each.lstrip("0") for each in re.findall(r"\d?\.\d+", told)}
    said = {each.lstrip("0") for each in re.findall(r"\d?\.\d+", CARDS)}
    assert said
    assert said <= known
