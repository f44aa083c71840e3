"""Every definition, protocol, table and figure of the papers has code that names it."""

from collections import Counter
from pathlib import Path
from types import ModuleType

from sottovoce_lab.studies import STUDIES
from support.tools import loaded_tool

ROOT = Path(__file__).parents[2]


def tool() -> ModuleType:
    return loaded_tool("paper_map")


def test_every_item_of_the_papers_has_code() -> None:
    paper_map = tool()
    assert paper_map.lacking(paper_map.places()) == []


def test_every_item_of_the_papers_is_counted() -> None:
    counted = {
        paper: Counter(item.split()[0] for item in items) for paper, items in tool().ITEMS.items()
    }
    assert counted == {
        "R-Susceptibility": {"Definition": 9, "Table": 6, "Figure": 1},
        "Limited-Precision Release": {
            "Definition": 2, "Theorem": 1, "Figure": 2, "Table": 1, "Method": 4,
        },
        "Private Text Classification": {
            "Definition": 5, "Lemma": 1, "Problem": 1, "Protocol": 4, "Table": 1, "Figure": 3,
        },
    }  # fmt: skip


def test_every_item_has_a_study_that_there_is() -> None:
    paper_map = tool()
    named = {
        paper_map.study_of(paper, item)
        for paper, items in paper_map.ITEMS.items()
        for item in items
    }
    assert named <= set(STUDIES)


def test_the_page_is_what_the_docstrings_say() -> None:
    paper_map = tool()
    written = (ROOT / "docs" / "research" / "papers.md").read_text(encoding="utf-8")
    assert written == paper_map.page(paper_map.places()), "run: python tools/paper_map.py"


def test_an_item_without_code_is_noticed(tmp_path: Path) -> None:
    paper_map = tool()
    (tmp_path / "one.py").write_text(
        'def f():\n    """Both.\n\n    R-Susceptibility, Definitions 7\n    and 9.\n    """\n'
    )
    found = paper_map.places(tmp_path)
    assert [(place.item, place.name) for place in found] == [
        ("Definition 7", "one.f"),
        ("Definition 9", "one.f"),
    ]
    lacking = paper_map.lacking(found)
    assert "R-Susceptibility, Definition 8" in lacking
    assert "R-Susceptibility, Definition 7" not in lacking
