"""The exact table check passes on the tables of shares, and on nothing else."""

from fractions import Fraction

import numpy as np
import pytest
from support.table_samplers import with_one_off

from sottovoce.privacy._laws import ESCAPE
from sottovoce.privacy.audit.sampler import check_sampler
from sottovoce.privacy.shares import NegativeBinomial, ShareSampler

TABLE_RATE, AMONG = Fraction(1, 2), 3


@pytest.mark.parametrize("among", [1, 2, 7, 100])
@pytest.mark.parametrize("rate", ["1/50", "3/7", "4", "60"])
def test_the_table_of_a_share_is_exact(rate: str, among: int) -> None:
    finding = check_sampler(ShareSampler(Fraction(rate), among))
    assert finding.holds, str(finding)


def changed(boundary: int | None = None, cell: int | None = None, to: int = 0) -> ShareSampler:
    """A sampler with one entry of its table off."""
    return with_one_off(ShareSampler(TABLE_RATE, AMONG), boundary, cell, to)


@pytest.mark.parametrize("boundary", [0, 20, 56])
def test_a_boundary_rounded_up_is_caught(boundary: int) -> None:
    assert not check_sampler(changed(boundary=boundary)).holds


def test_a_wrong_cell_and_one_that_answers_across_a_boundary_are_caught() -> None:
    sampler = changed()
    cut = int(np.flatnonzero(sampler.table.cells == ESCAPE)[0])
    assert check_sampler(changed(cell=0, to=0)).holds
    assert not check_sampler(changed(cell=0, to=1)).holds
    assert not check_sampler(changed(cell=cut, to=int(sampler.table.cells[cut - 1]))).holds


def test_a_cell_that_answers_for_what_lies_beyond_the_table_is_caught() -> None:
    assert not check_sampler(changed(cell=(1 << 16) - 1, to=57)).holds


@pytest.mark.parametrize(
    ("rate", "shape"),
    [(TABLE_RATE * Fraction(51, 50), Fraction(1, AMONG)), (TABLE_RATE, Fraction(1, AMONG + 1))],
    ids=["a rate 2% off", "another shape"],
)
def test_a_table_of_another_law_is_caught(rate: Fraction, shape: Fraction) -> None:
    sampler = changed()
    sampler.law = NegativeBinomial(rate, shape, sampler.law.run)
    assert not check_sampler(sampler).holds
