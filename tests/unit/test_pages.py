"""The pages of the guide hang together: links lead somewhere, sentences are those that are said."""

import re
from functools import cache
from pathlib import Path

import pytest
from support.error_sentences import parts, sentences

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]
_LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")
_NAMED = re.compile(r"\bdocs/[\w./-]+\.(?:md|png|svg|ipynb)\b")
_JOINED = re.compile(r'"\s*\n\s*f?"')


def pages_by_name() -> dict[str, Path]:
    return {str(path.relative_to(ROOT)): path for path in PAGES}


@pytest.mark.parametrize("name", pages_by_name())
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    code = re.compile(r"```.*?```|`[^`\n]*`|\$[^$\n]*\$", re.DOTALL)
    dead = [each for each in _LINK.findall(code.sub("", text)) if not (path.parent / each).exists()]
    dead += [each for each in _NAMED.findall(text) if not (ROOT / each).exists()]
    assert dead == []


def test_every_page_of_the_guide_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([\w-]+/[\w-]+)$", index, re.MULTILINE))
    kinds = ("tutorials", "how-to", "reference", "explanation", "research")
    there = {f"{kind}/{p.stem}" for kind in kinds for p in (ROOT / "docs" / kind).glob("*.md")}
    assert listed == there


def test_a_search_finds_every_command() -> None:
    """The page of help shows the text that is compared with the commands."""
    page = ROOT / "docs" / "reference" / "help.md"
    shown = re.findall(r"literalinclude} (\S+)", page.read_text(encoding="utf-8"))
    text = "".join((page.parent / each).read_text(encoding="utf-8") for each in shown)
    assert len(re.findall(r"^\$ sottovoce .*--help$", text, re.MULTILINE)) > 50


def test_every_page_with_examples_is_named_by_a_test_that_runs_them() -> None:
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    named = "".join(path.read_text(encoding="utf-8") for path in tests)
    examples = re.compile(r"^```(sh|python|pycon)$", re.MULTILINE)
    shown = [path for path in PAGES if examples.search(path.read_text(encoding="utf-8"))]
    assert len(shown) > 20
    assert [path.name for path in shown if f'{path.name}"' not in named] == []


@cache
def said() -> tuple[str, ...]:
    """The source files, with the parts of long strings joined."""
    files = (ROOT / "src").rglob("*.py")
    return tuple(_JOINED.sub("", path.read_text(encoding="utf-8")) for path in files)


def test_troubleshooting_has_the_likely_sentences() -> None:
    assert len(sentences()) > 30


@pytest.mark.parametrize("sentence", sentences())
def test_a_sentence_of_troubleshooting_is_still_said(sentence: str) -> None:
    assert any(all(part in source for part in parts(sentence)) for source in said())
