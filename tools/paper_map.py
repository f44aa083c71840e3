"""Write docs/research/papers.md: each item of the papers, and the code that stands for it.

A docstring that says "R-Susceptibility, Definition 7." puts its function on the page, and
"Definitions 7 and 9" puts it there twice. Run it when such a docstring has changed.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "research" / "papers.md"
SOURCES = (ROOT / "src", ROOT / "sottovoce-lab" / "src")
LONGEST_LINE = 118

PAPERS = {
    "R-Susceptibility": (
        "Biega et al., *R-Susceptibility: An IR-Centric Approach to Assessing Privacy Risks for "
        "Users in Online Communities*, SIGIR 2016."
    ),
    "Limited-Precision Release": (
        "Schofield, Yauney and Mimno, *Combatting The Challenges of Local Privacy for "
        "Distributional Semantics with Compression*, PriML 2019."
    ),
    "Private Text Classification": (
        "Hanlen, Nock, Suominen and Bacon, *Private Text Classification: Using Radomacher "
        "operators and blind addition to allow multiple peers to learn text without seeing the "
        "text*."
    ),
}


def _run(kind: str, last: int) -> list[str]:
    return [f"{kind} {number}" for number in range(1, last + 1)]


ITEMS = {
    "R-Susceptibility": [*_run("Definition", 9), *_run("Table", 6), "Figure 1"],
    "Limited-Precision Release": [
        *_run("Definition", 2),
        "Theorem 1",
        *_run("Figure", 2),
        "Table 1",
        *(f"Method {name}" for name in ("RANDOM", "FREQUENCY", "GLOVE-CLUSTER", "GLOVE-DISPERSE")),
    ],
    "Private Text Classification": [
        *_run("Definition", 5),
        "Lemma 1",
        "Problem 1",
        *_run("Protocol", 4),
        "Table 1",
        *_run("Figure", 3),
    ],
}

# The study that shows an item at work; a table or figure is its own study.
STUDIES = {
    "R-Susceptibility": {
        **dict.fromkeys(["Definition 1", "Definition 2", *_run("Definition", 5)], "assess-table-4"),
        **dict.fromkeys((f"Definition {number}" for number in range(6, 10)), "assess-table-5"),
        "Definition 3": "assess-table-2",
        **{f"Table {number}": f"assess-table-{number}" for number in range(1, 7)},
        "Figure 1": "assess-figure-1",
    },
    "Limited-Precision Release": {
        "Definition 1": "release-figure-1",
        "Definition 2": "release-synthetic",
        "Theorem 1": "release-figure-2",
        "Figure 1": "release-figure-1",
        "Figure 2": "release-figure-2",
        "Table 1": "release-table-1",
    },
    "Private Text Classification": {
        "Definition 3": "learn-paper",
        "Problem 1": "learn-solvers",
        "Protocol 1": "learn-figures",
        "Protocol 2": "learn-figures",
        "Protocol 3": "learn-paper",
        "Protocol 4": "learn-solvers",
        **dict.fromkeys(_run("Figure", 3), "learn-figures"),
    },
}
OTHERWISE = {
    "Limited-Precision Release": "release-figure-2",
    "Private Text Classification": "learn-table-1",
}

_KINDS = "Definition|Table|Figure|Protocol|Lemma|Problem|Theorem"
_MENTION = re.compile(rf"({'|'.join(PAPERS)}), ({_KINDS})s? (\d+)((?:(?:,| and) \d+)*)")


_METHOD = re.compile(r"(Limited-Precision Release), (Method) ([A-Z][A-Z-]*)")


class Place(NamedTuple):
    """A function, class or module whose docstring names an item of a paper."""

    paper: str
    item: str
    name: str
    summary: str


def places(*sources: Path) -> list[Place]:
    """Every mention in every docstring under ``sources``, or else under those of our code."""
    return [
        place
        for source in sources or SOURCES
        for path in sorted(source.rglob("*.py"))
        if any(_mentions("", text := path.read_text(encoding="utf-8")))
        for name, docstring in _docstrings(path, text, source)
        for place in _mentions(name, docstring)
    ]


def lacking(found: list[Place]) -> list[str]:
    """The items of the papers that no docstring names."""
    named = {(place.paper, place.item) for place in found}
    return [
        f"{paper}, {item}"
        for paper, items in ITEMS.items()
        for item in items
        if (paper, item) not in named
    ]


def study_of(paper: str, item: str) -> str:
    """The name of the study that shows an item."""
    return STUDIES[paper].get(item) or OTHERWISE[paper]


def page(found: list[Place]) -> str:
    """The text of docs/research/papers.md."""
    lines = [
        "# The papers, item by item",
        "",
        _wrapped(
            "Made from the docstrings by `tools/paper_map.py`; a test fails when an item has no "
            "code, or when this page is behind. `sottovoce study NAME` runs a study. Where the "
            "papers are wrong or silent: [what we do instead](paper-errors.md)."
        ),
    ]
    for paper, items in ITEMS.items():
        lines += ["", f"## {paper}", "", _wrapped(PAPERS[paper]), ""]
        lines += ["| item | code | what it does | study |", "|---|---|---|---|"]
        for item in items:
            own = [place for place in found if (place.paper, place.item) == (paper, item)]
            named = [(item, f"`{study_of(paper, item)}`")] + [("", "")] * len(own)
            lines += [
                f"| {first} | `{place.name}` | {place.summary} | {study} |"
                for (first, study), place in zip(named, own, strict=False)
            ]
    return "\n".join([*lines, ""])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, LONGEST_LINE, break_on_hyphens=False)


def _docstrings(path: Path, text: str, source: Path) -> Iterator[tuple[str, str]]:
    module = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
    yield from _inside(ast.parse(text), module)


def _inside(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterator[tuple[str, str]]:
    yield name, ast.get_docstring(node) or ""
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _inside(child, f"{name}.{child.name}")


def _mentions(name: str, docstring: str) -> Iterator[Place]:
    text = " ".join(docstring.split())
    summary = " ".join(docstring.split("\n\n", maxsplit=1)[0].split()).replace("|", "\\|")
    seen = set()
    for paper, kind, first, more in _MENTION.findall(text):
        for number in (first, *re.findall(r"\d+", more)):
            if (paper, kind, number) not in seen:
                seen.add((paper, kind, number))
                yield Place(paper, f"{kind} {number}", name, summary)
    for paper, kind, method in _METHOD.findall(text):
        yield Place(paper, f"{kind} {method.strip('-')}", name, summary)


if __name__ == "__main__":
    PAGE.write_text(page(places()), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)}; without code: {', '.join(lacking(places())) or 'none'}")
