"""Which tests are traced for coverage: all that are cheap, and the dear ones that add lines."""

import json
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from support.tools import loaded_tool
from support.tracing import LISTED, is_traced

ROOT = Path(__file__).parents[2]
tool = loaded_tool("untraced")


def test_a_dear_test_is_traced_only_for_what_no_cheaper_one_passes() -> None:
    passed = {"": {0}, "cheap": {1, 2}, "dear": {1, 2}, "dearer": {3, 4}, "dearest": {3, 4}}
    cost = {"cheap": 0.1, "dear": 1.0, "dearer": 2.0, "dearest": 3.0}
    assert tool.redundant(passed, cost) == ["dear", "dearest"]


def test_of_two_that_overlap_the_one_that_adds_most_for_its_time_is_traced() -> None:
    passed = {"long": {1, 2, 3, 4}, "short": {1, 2, 3}, "rest": {4}}
    assert tool.redundant(passed, {"long": 9.0, "short": 1.0, "rest": 1.0}) == ["long"]


def test_parameters_of_a_test_are_one_and_its_fixtures_are_its_own(tmp_path: Path) -> None:
    kept = sqlite3.connect(tmp_path / "coverage")
    kept.execute("create table context (id integer, context text)")
    kept.execute("create table arc (file_id integer, context_id integer, fromno integer, tono)")
    contexts = ["", *(f"tests/unit/t.py::test_a[{at}" for at in ("1]|run", "2]|run", "2]|setup"))]
    contexts.append("tests/property/t.py::test_b|run")
    kept.executemany("insert into context values (?, ?)", list(enumerate(contexts)))
    kept.executemany(
        "insert into arc values (7, ?, 1, ?)", [(0, 2), (1, 3), (2, 4), (3, 5), (4, 6)]
    )
    kept.commit()
    passed = tool.passed_by_test(tmp_path / "coverage")
    assert {name: len(steps) for name, steps in passed.items()} == {
        "": 1,
        "tests/unit/t.py::test_a": 3,
    }
    costs = {"tests": {"t.py::test_a[1]": (0.5, 1.0), "t.py::test_a[2]": (0.25, 1.0)}}
    (tmp_path / "costs").write_text(json.dumps(costs))
    assert tool.cost_by_test(tmp_path / "costs") == {"t.py::test_a": 0.75}


def test_the_list_names_tests_that_exist() -> None:
    """A test that was renamed is traced again, at its price: take the old name off the list."""
    gone = sorted(name for name in LISTED if not _is_there(*name.split("::")))
    assert gone == [], "take them off tests/untraced.txt, or run tools/untraced.py"


def _is_there(file: str, *inner: str) -> bool:
    path = ROOT / file
    return path.exists() and f"def {inner[-1]}(" in path.read_text(encoding="utf-8")


def test_a_listed_test_is_not_traced_and_another_is(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("cov_context", None):
        pytest.skip("a run that notes who passed what traces all")
    traced = {item.nodeid.partition("[")[0]: is_traced(item) for item in request.session.items}
    assert not any(traced[name] for name in LISTED & traced.keys())
    assert traced[request.node.nodeid]


def test_a_run_that_notes_who_passed_what_traces_all() -> None:
    for noted in (True, False):
        config = SimpleNamespace(getoption=lambda *_, noted=noted: "test" if noted else None)
        path = ROOT / "tests" / "property" / "test_a.py"
        item = SimpleNamespace(config=config, path=path, nodeid="tests/property/test_a.py::test")
        assert is_traced(cast("pytest.Item", item)) == noted
