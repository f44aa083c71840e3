"""Which tests are traced for coverage: all that are cheap, and the dear ones that add lines."""

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
