"""The cards of measures: every measure has one, and their figures are those of the studies."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sottovoce.assess.measures._catalogue import MEASURES
from sottovoce.assess.measures._expected import EXPECTED_PRECISION

DOCS = Path(__file__).parents[2] / "docs"
CARDS = (DOCS / "reference" / "measure-cards.md").read_text(encoding="utf-8")
BLOGS = (DOCS / "research" / "assess-blogs.md").read_text(encoding="utf-8")
STUDIES = (DOCS / "research" / "assess-studies.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d\.\d+")
WITHOUT_FIGURES = {"ent-present", "diff-priv-present"}
BASELINES = {"keywords", "weeks", "posts"}


def rows(page: str, after: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of the first table after a heading: a measure, and its other cells."""
    table = page.partition(f"\n{after}\n")[2].partition("\n| measure |")[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line[1:-1].split("|"))
        yield name.strip("`*"), cells


AGAIN = dict(rows(BLOGS, "## The test half again: 100 samples of posts"))
SIMULATED = dict(rows(STUDIES, "## Table 5: all measures"))
FIGURES = dict(rows(CARDS, "## Figures"))


def test_every_measure_has_figures_and_a_card() -> None:
    assert set(FIGURES) == (set(MEASURES) - WITHOUT_FIGURES) | BASELINES
    cards = CARDS.partition("\n## `voice-t`")[2]
    missing = {name for name in FIGURES if f"`{name}`" not in cards}
    in_families = {"w2v", "bow-d", "bow-dt", "w2v-d", "w2v-t", "w2v-dt", "voice-d", "voice-dt"}
    assert missing <= in_families


@pytest.mark.parametrize("name", FIGURES)
def test_a_card_s_figures_are_those_of_the_studies(name: str) -> None:
    ten, every, bands, simulated = FIGURES[name]
    now, all_posts, precise = AGAIN[name]
    assert (ten, every, bands) == (now, all_posts, precise)
    if simulated != "-":
        assert simulated == SIMULATED[name][0]
    else:
        assert name not in SIMULATED


def test_bands_are_those_that_assess_prints() -> None:
    for name, told in EXPECTED_PRECISION.items():
        shown = [float(each) for each in NUMBER.findall(FIGURES[name][2])]
        assert shown == [round(each, 2) for each in told]


def test_figures_outside_of_the_table_stand_in_the_guides() -> None:
    told = BLOGS + STUDIES + (DOCS / "how-to" / "assess.md").read_text(encoding="utf-8")
    known = {each.lstrip("0") for each in re.findall(r"\d?\.\d+", told)}
    prose = CARDS.replace(CARDS.partition("\n## Figures\n")[2].partition("\n## ")[0], "")
    said = {each.lstrip("0") for each in re.findall(r"\d?\.\d+", prose)}
    assert said
    assert said <= known
