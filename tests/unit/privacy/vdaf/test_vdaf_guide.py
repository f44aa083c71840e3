"""The page about Prio3 says what the code does."""

import re
from pathlib import Path

import pytest

from sottovoce.privacy.vdaf._circuits import CountCircuit, HistogramCircuit, SumVecCircuit
from sottovoce.privacy.vdaf._proof import Proof
from sottovoce.privacy.vdaf.field import FIELD64, FIELD128
from sottovoce.privacy.vdaf.prio3 import Prio3Histogram

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "vdaf.md").read_text(encoding="utf-8")


def test_its_example_runs_and_counts_the_one_report(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "vdaf.md", "exec"), {})  # noqa: S102 - our own page
    assert capsys.readouterr().out.strip() == str([0] * 13 + [1] + [0] * 6)


def test_sizes_and_chances_are_those_of_the_formulas() -> None:
    for chunk, column in ((4, 720), (7, 688)):
        size = Prio3Histogram(20, chunk, context=b"").report_size
        assert size == 64 + column + 64
        points = Proof(HistogramCircuit(20, chunk)).points
        assert column == 16 * (20 + 2 * chunk + 2 * points - 1) + 32
        assert f"**{size}**" in PAGE
        assert f" {column} " in PAGE
    points = Proof(HistogramCircuit(20, 4)).points
    assert f"P = {points}, {4 + 2 * (points - 1) + 1} in 2^128" in " ".join(PAGE.split())


def test_fields_are_those_of_the_table() -> None:
    assert [CountCircuit().field, SumVecCircuit(1, 1, 1).field] == [FIELD64, FIELD128]
    assert FIELD64.modulus == 2**64 - 2**32 + 1
    assert FIELD128.modulus == 2**128 - 7 * 2**66 + 1
    assert "2^64 − 2^32 + 1 and 2^128 − 7·2^66 + 1" in PAGE
