"""The exact table check passes on what the builders make, and on nothing else."""

import random
from fractions import Fraction

import numpy as np
import pytest
from support.table_samplers import with_one_off

from sottovoce.privacy._laws import ESCAPE, Geometric, Law, LawTable, TwoSidedGeometric
from sottovoce.privacy.audit.sampler import audit_tables, check_sampler
from sottovoce.privacy.sampler import TableSampler
from sottovoce.privacy.shares import NegativeBinomial, ShareSampler

HALF, AMONG = Fraction(1, 2), 3
LAST_CELL, MIDDLE = (1 << 16) - 1, 1 << 15


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


@pytest.mark.parametrize("among", [1, 2, 7, 100])
@pytest.mark.parametrize("rate", ["1/50", "3/7", "4", "60"])
def test_the_table_of_a_share_is_exact(rate: str, among: int) -> None:
    finding = check_sampler(ShareSampler(Fraction(rate), among))
    assert finding.holds, str(finding)


def sampler_of(kind: str) -> TableSampler:
    return TableSampler(TwoSidedGeometric(HALF)) if kind == "noise" else ShareSampler(HALF, AMONG)


@pytest.mark.parametrize(
    ("kind", "boundary"),
    [*(("noise", each) for each in (0, 50, 113)), *(("share", each) for each in (0, 20, 56))],
)
def test_a_boundary_off_by_two_to_the_minus_64_is_caught(kind: str, boundary: int) -> None:
    assert not check_sampler(with_one_off(sampler_of(kind), boundary)).holds


@pytest.mark.parametrize(
    ("kind", "cell", "right", "wrong"),
    [
        ("noise", MIDDLE, 0, 1),
        ("share", 0, 0, 1),
        # For the tails no cell may answer.
        ("noise", 0, None, -57),
        ("noise", 0, None, -20),
        ("noise", LAST_CELL, None, 57),
        ("noise", LAST_CELL, None, 20),
        ("share", LAST_CELL, None, 57),
    ],
)
def test_a_wrong_cell_is_caught(kind: str, cell: int, right: int | None, wrong: int) -> None:
    if right is not None:
        assert check_sampler(with_one_off(sampler_of(kind), cell=cell, to=right)).holds
    assert not check_sampler(with_one_off(sampler_of(kind), cell=cell, to=wrong)).holds


@pytest.mark.parametrize(("kind", "place"), [("noise", 5), ("share", 0)])
def test_a_cell_that_answers_across_a_boundary_is_caught(kind: str, place: int) -> None:
    cells = sampler_of(kind).table.cells
    cut = int(np.flatnonzero(cells == ESCAPE)[place])
    assert not check_sampler(with_one_off(sampler_of(kind), cell=cut, to=int(cells[cut - 1]))).holds


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("noise", TwoSidedGeometric(Fraction(500_001, 1_000_000))),
        ("share", NegativeBinomial(HALF * Fraction(51, 50), Fraction(1, AMONG), 57)),
        ("share", NegativeBinomial(HALF, Fraction(1, AMONG + 1), 57)),
    ],
    ids=["another rate", "a share of a rate 2% off", "a share of another shape"],
)
def test_a_table_of_another_law_is_caught(kind: str, law: Law) -> None:
    sampler = sampler_of(kind)
    sampler.law = law
    finding = check_sampler(sampler)
    assert not finding.holds
    assert "FAILS" in str(finding)


def test_a_missing_boundary_is_caught() -> None:
    sampler = sampler_of("noise")
    sampler.table = LawTable(sampler.table.cells, sampler.table.boundaries[:-1])
    assert not check_sampler(sampler).holds
