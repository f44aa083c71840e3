"""The rank server's page: what it shows runs, and its table is what the law gives."""

import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from sottovoce.lab.advisor._errors import predicted_error
from sottovoce.lab.advisor._people import rules_for

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "how-to" / "rank-server.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_its_commands_run_as_written(tmp_path: Path) -> None:
    (script,) = blocks("sh")
    command = f"{sys.executable} -m sottovoce.cli"
    done = subprocess.run(
        ["/bin/bash", "-ec", re.sub(r"^sottovoce", command, script, flags=re.MULTILINE)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "epsilon 1 for each new bucket" in done.stdout


def test_its_python_runs_as_written() -> None:
    names: dict[str, object] = {}
    for example in blocks("python"):
        exec(compile(example, "rank-server.md", "exec"), names)  # noqa: S102 - our own page


@pytest.mark.parametrize("people", [1_000, 10_000, 100_000])
def test_its_table_of_errors_is_what_the_law_gives(people: int) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {people:,} |"))
    printed = [float(cell) for cell in row.split("|")[2:-1]]
    cases = [("noise", "1/2"), ("noise", "1"), ("noise", "2"), ("noise", "4"), ("shares", "1")]
    for shown, (mode, epsilon) in zip(printed, cases, strict=True):
        rules = rules_for(mode, Fraction(epsilon), 20)  # type: ignore[arg-type] # one of two
        assert shown == pytest.approx(100 * predicted_error(rules, people) / people, rel=0.03)
