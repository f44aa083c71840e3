"""The example notebooks run as they stand, and were kept with output that shows something."""

import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from notebooks import FOLDER, executed  # noqa: E402 - a script of ours, found by the line above

LONG = {"loop", "release"}
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:  # noqa: ANN401 - nbformat has no types
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # has no types


def test_every_verb_and_the_loop_has_a_notebook() -> None:
    assert {path.stem for path in BOOKS} >= {"assess", "release", "learn", "loop"}


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_kept_with_its_output_and_no_error(path: Path) -> None:
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type in {"error", "stream"}]
    assert any("text/html" in output.get("data", {}) for output in outputs)


# These two take longer than the others together.
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.long] * (path.stem in LONG))
        for path in BOOKS
    ],
)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    shown = [output for cell in executed(path).cells for output in cell.get("outputs", ())]
    assert any("text/html" in output.get("data", {}) for output in shown)
