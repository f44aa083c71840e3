"""The exact table check passes on what the builder makes, and on nothing else."""

import random
from fractions import Fraction

import numpy as np
import pytest
from support.table_samplers import with_one_off

from sottovoce.privacy._laws import ESCAPE, Geometric, LawTable, TwoSidedGeometric
from sottovoce.privacy.audit.sampler import audit_tables, check_sampler
from sottovoce.privacy.sampler import TableSampler


def random_rates() -> list[Fraction]:
    chooser = random.Random(20)
    return [Fraction(round(1000 * 2 ** chooser.uniform(-7, 1.8)), 1000) for _ in range(12)]


@pytest.mark.parametrize("rate", random_rates(), ids=str)
def test_all_tables_at_a_random_rate_are_exact(rate: Fraction) -> None:
    report = audit_tables([rate])
    assert report.holds, str(report)
    assert len(report.findings) == 4


@pytest.mark.parametrize("rate", ["60", "1000"])
def test_tables_of_next_to_no_noise_are_exact(rate: str) -> None:
    for law in (TwoSidedGeometric(Fraction(rate)), Geometric(Fraction(rate))):
        assert check_sampler(TableSampler(law)).holds


def changed(boundary: int | None = None, cell: int | None = None, to: int = 0) -> TableSampler:
    """A sampler at rate 1/2 with one entry of its table off."""
    return with_one_off(TableSampler(TwoSidedGeometric(Fraction(1, 2))), boundary, cell, to)


@pytest.mark.parametrize("boundary", [0, 50, 113])
def test_a_boundary_off_by_two_to_the_minus_64_is_caught(boundary: int) -> None:
    assert not check_sampler(changed(boundary=boundary)).holds


def test_a_wrong_cell_is_caught() -> None:
    middle = 1 << 15
    assert check_sampler(changed(cell=middle, to=0)).holds
    assert not check_sampler(changed(cell=middle, to=1)).holds


def test_a_cell_that_answers_across_a_boundary_is_caught() -> None:
    sampler = changed()
    cut = int(np.flatnonzero(sampler.table.cells == ESCAPE)[5])
    neighbour = int(sampler.table.cells[cut - 1])
    assert not check_sampler(changed(cell=cut, to=neighbour)).holds


@pytest.mark.parametrize("cell", [0, (1 << 16) - 1])
def test_a_cell_that_answers_for_a_tail_is_caught(cell: int) -> None:
    assert not check_sampler(changed(cell=cell, to=-57 if cell == 0 else 57)).holds
    assert not check_sampler(changed(cell=cell, to=20 if cell else -20)).holds


def test_a_table_of_another_rate_is_caught() -> None:
    sampler = TableSampler(TwoSidedGeometric(Fraction(1, 2)))
    sampler.law = TwoSidedGeometric(Fraction(500_001, 1_000_000))
    finding = check_sampler(sampler)
    assert not finding.holds
    assert "FAILS" in str(finding)


def test_a_missing_boundary_is_caught() -> None:
    sampler = changed()
    sampler.table = LawTable(sampler.table.cells, sampler.table.boundaries[:-1])
    assert not check_sampler(sampler).holds
