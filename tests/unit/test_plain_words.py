"""Pages, help and messages are in plain modern English: no quaint word, they for people."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUAINT = re.compile(
    r"\b(anew|own(s|ed)? up|hitherto|henceforth|thereof|wherein|whilst|lest|naught|nought|"
    r"betwixt|nats a word|parted by|by lot|come by|gravely)\b",
    re.IGNORECASE,
)
GENDERED = re.compile(r"\b(she|her|hers|herself|he|his|him|himself)\b", re.IGNORECASE)
LONGEST = 120
SHOWN = ("text/plain", "text/html")


def pages() -> list[str]:
    found = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "SECURITY.md"]
    found += [ROOT / "CONTRIBUTING.md", ROOT / "Makefile", ROOT / "tests" / "help.txt"]
    return sorted(str(path.relative_to(ROOT)) for path in found if "_build" not in path.parts)


def said(name: str) -> str:
    """A page without its code and formulas, and without examples between quotation marks."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", pages())
def test_a_page_has_no_quaint_word(name: str) -> None:
    assert QUAINT.findall(said(name)) == []


@pytest.mark.parametrize("name", pages())
def test_a_page_calls_people_they(name: str) -> None:
    assert GENDERED.findall(said(name)) == []


@pytest.mark.parametrize("name", [each for each in pages() if each.endswith(".md")])
def test_prose_has_no_overlong_line(name: str) -> None:
    """Code, rows of tables, headings and links cannot be broken."""
    text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", "["))]
    assert [line for line in lines if len(line) > LONGEST] == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs").rglob("*.ipynb")), ids=lambda path: path.stem
)
def test_a_notebook_shows_no_quaint_word_and_calls_people_they(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    for output in (output for cell in cells for output in cell.get("outputs", ())):
        shown += ["".join(output.get("data", {}).get(kind, ())) for kind in SHOWN]
    text = re.sub("<[^>]*>", " ", " ".join(shown))
    assert QUAINT.findall(text) + GENDERED.findall(text) == []


def test_no_message_or_docstring_has_a_quaint_word() -> None:
    files = (ROOT / "src").rglob("*.py")
    assert [str(path) for path in files if QUAINT.search(path.read_text(encoding="utf-8"))] == []
