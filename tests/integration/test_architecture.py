"""The page of the architecture says what is so: its walks, its files and its tests."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from support.tools import loaded_tool

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "sottovoce"
walks = loaded_tool("walks")
STOPS = walks.read_stops(PAGE)


@cache
def _functions(module: str) -> set[str]:
    """The functions of a module, as a trace names them."""
    found: set[str] = set()

    def _look(node: ast.AST, within: str) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(f"{within}{each.name}")
                _look(each, f"{within}{each.name}.")

    _look(ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8")), "")
    return found


def _is_function(stop: str) -> bool:
    parts = stop.split(".")
    places = (("/".join(parts[:at]), ".".join(parts[at:])) for at in range(1, len(parts)))
    return any((SOURCE / f"{at}.py").is_file() and name in _functions(at) for at, name in places)


def test_five_walks_have_their_named_stops() -> None:
    assert {name: 5 <= len(stops) <= 8 for name, stops in STOPS.items()} == dict.fromkeys(
        walks.TITLES, True
    )
    assert [stop for stops in STOPS.values() for stop in stops if not _is_function(stop)] == []


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`([\w/.-]+/[\w.-]+\.(?:py|md))`", PAGE)
    assert len(named) > 20
    made_up = {name for name in named if "NAME" in name}
    places = (ROOT, SOURCE)
    assert [
        name
        for name in named
        if name not in made_up and not any((place / name).is_file() for place in places)
    ] == []


@pytest.mark.parametrize("name", ["post", "document"])
def test_a_walk_passes_its_stops_in_their_order(name: str, tmp_path: Path) -> None:
    checkout = walks.Checkout(ROOT / "src", tmp_path)
    walks.write_inputs(checkout)
    _check(name, getattr(walks, name)(checkout))


@pytest.mark.long
def test_the_walks_of_processes_pass_their_stops(tmp_path: Path) -> None:
    checkout = walks.Checkout(ROOT / "src", tmp_path)
    walks.write_inputs(checkout)
    _check("what_if", walks.what_if(checkout))
    for name, walk in zip(("text", "count"), walks.learn(checkout), strict=True):
        _check(name, walk)


def _check(name: str, walk: object) -> None:
    assert walks.find_missed_stops(walk, STOPS[name]) == []
    written = re.search(rf"### {re.escape(walks.TITLES[name])} \((\d+) files\)", PAGE)
    assert written is not None
    # A file more or fewer on another machine is no other walk.
    assert abs(len(walk.files) - int(written[1])) <= 2, "run: python tools/walks.py"  # type: ignore[attr-defined] # a tool's own class


def test_a_missed_stop_and_a_wrong_order_are_noticed() -> None:
    walk = walks.Walk({"a.py"}, ["a.first", "a.second"])
    assert walks.find_missed_stops(walk, ["a.first", "a.second"]) == []
    assert walks.find_missed_stops(walk, ["a.second", "a.first", "a.third"]) == [
        "a.first",
        "a.third",
    ]
