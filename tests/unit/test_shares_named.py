"""No page and no message says of how many in a hundred a topic holds, unless a rate is named.

How many of those listed first a topic concerns depends on how many it concerns at all.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(
        path
        for folder, kinds in (("docs", ("md", "ipynb")), ("src/sottovoce", ("py", "html")))
        for kind in kinds
        for path in sorted((ROOT / folder).rglob(f"*.{kind}"))
        if "_build" not in path.parts
    ),
]
NUMBER = re.compile(r"\b\d+%|\b\d+ (?:in|of) 100\b|\b[Oo]f 100\b|\d: \d+, \d+, \d+")
LISTED = re.compile(r"\btop \d+%|\blisted first|\branked first|\bin a band\b|\bflagged\b")
CONCERNED = re.compile(r"\bconcern(s|ed)?\b|\bsa(y|id) so\b|\bappl(ies|ied) to\b")
NAMED = re.compile(
    r"\bif (a|the) topic concerns\b|--concerned|At this half's rate|lift", re.IGNORECASE
)
BANDS = re.compile(r"\b(?:top|first) \d+%?(?:(?:,| and| or|, and) \d+%)*|95%")


def sentences(path: Path) -> list[str]:
    text = re.sub(r"\"\s*\n\s*f?\"", "", path.read_text(encoding="utf-8"))
    return re.split(r"(?<=[.:!?])\s+|\n\n|\n\|", re.sub(r"(?<!\n)\n(?![\n|])", " ", text))


def says_a_share(sentence: str) -> bool:
    """Whether it says of how many of those ranked first a topic holds, for no named rate."""
    says_of_people = LISTED.search(sentence) and CONCERNED.search(sentence)
    number = NUMBER.search(BANDS.sub("", sentence))
    return bool(says_of_people and number and not NAMED.search(sentence))


def test_no_share_of_those_ranked_first_is_said_without_its_rate() -> None:
    assert [
        (path.name, each) for path in PAGES for each in sentences(path) if says_a_share(each)
    ] == []


@pytest.mark.parametrize(
    "former",
    [
        "of 100 in the top 5%, 14 (voice-t) said on another day that the topic concerns them.",
        "In a test on real timelines the topic concerned 16 of 100 in the top 5%.",
        "Of 100 people in the top 1% by the recommended measure 21 said that the topic applied to.",
        "Of those whom the ranking listed first, 12 in 100 were people it concerned.",
        "The topic concerned, of 100 people in the top 1%, 5% and 10%: voice-t 21, 14, 13.",
    ],
)
def test_the_sentences_of_before_are_caught(former: str) -> None:
    assert says_a_share(former)


@pytest.mark.parametrize(
    "present",
    [
        "If a topic concerns 2 in 100 here, then of 100 people in the top 5% it concerns about 9.",
        "People whom a topic concerned were in the top 5% about 4.4 times as often as others.",
    ],
)
def test_a_lift_or_a_named_rate_passes(present: str) -> None:
    assert not says_a_share(present)
