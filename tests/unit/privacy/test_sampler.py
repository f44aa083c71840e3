"""The sampler asks for as many bits as a draw needs, and then is certain."""

from fractions import Fraction

import numpy as np
import pytest
from support.table_samplers import Scripted, draw, escape_at

from sottovoce.errors import ParameterError
from sottovoce.privacy._laws import ESCAPE
from sottovoce.privacy._sparse_noise import surviving_zeros
from sottovoce.privacy.sampler import gap_sampler, geometric_sampler, two_sided_sampler

pytestmark = pytest.mark.kernel
HALF = Fraction(1, 2)


def escape_below(boundary: int, low: int) -> list[tuple[int, int]]:
    """The 16 and 64 bits whose first 64 are the boundary's less ``low``."""
    return escape_at(boundary - low)


def test_sixteen_bits_suffice_in_a_cell_without_boundary() -> None:
    sampler = two_sided_sampler(HALF)
    assert draw(sampler, (1 << 15, 2)) == 0


def test_forty_eight_more_decide_next_to_a_boundary() -> None:
    sampler = two_sided_sampler(HALF)
    zero = sampler.law.offset
    boundary = int(sampler.table.boundaries[zero])
    assert draw(sampler, *escape_below(boundary, 1)) == 0
    assert draw(sampler, *escape_below(boundary, -1)) == 1


def test_bits_equal_to_a_boundarys_are_decided_by_finer_ones() -> None:
    sampler = two_sided_sampler(HALF)
    zero = sampler.law.offset
    boundary = int(sampler.table.boundaries[zero])
    finer = sampler.law.floor_at(zero, 128) & (1 << 64) - 1
    assert draw(sampler, *escape_below(boundary, 0), (finer - 1, 8)) == 0
    assert draw(sampler, *escape_below(boundary, 0), (finer + 1, 8)) == 1
    finest = sampler.law.floor_at(zero, 192) & (1 << 64) - 1
    assert draw(sampler, *escape_below(boundary, 0), (finer, 8), (finest - 1, 8)) == 0
    assert draw(sampler, *escape_below(boundary, 0), (finer, 8), (finest + 1, 8)) == 1


def test_boundaries_closer_than_64_bits_are_told_apart() -> None:
    """At rate 60 both sides of 0 have probability below 2^-64, and so equal first bits."""
    sampler = two_sided_sampler(Fraction(60))
    assert int(sampler.table.boundaries[0]) == 0
    floors = [sampler.law.floor_at(j, 128) for j in range(sampler.law.run)]
    just_above = (floors[0] + 1) & (1 << 64) - 1
    assert draw(sampler, (0, 2), (0, 8), (just_above, 8)) == 0


def test_a_tail_goes_on_with_fresh_geometric_draws() -> None:
    sampler, excess = two_sided_sampler(Fraction(8)), geometric_sampler(Fraction(8))
    reach, top = sampler.law.offset, (1 << 64) - 1
    one = int(excess.table.boundaries[0]) + 1
    assert draw(sampler, (0xFFFF, 2), (top, 8), (0, 8)) == reach
    assert draw(sampler, (0xFFFF, 2), (top, 8), (one, 8)) == reach + 1
    assert draw(sampler, (0, 2), (0, 8), (one, 8)) == -reach - 1
    stretched = reach + excess.law.run + 1
    assert draw(sampler, (0xFFFF, 2), (top, 8), (top, 8), (one, 8)) == stretched


def test_a_geometric_tail_is_memoryless_as_well() -> None:
    sampler = geometric_sampler(Fraction(8))
    top = (1 << 64) - 1
    assert draw(sampler, (0xFFFF, 2), (top, 8), (0, 8)) == sampler.law.run


def test_an_undecided_leap_is_decided_and_the_walk_goes_on() -> None:
    gaps = gap_sampler(Fraction(3), None)
    boundary = int(gaps.table.boundaries[4])
    finer = gaps.law.floor_at(4, 128) & (1 << 64) - 1
    batch = [(boundary, 8)] + [(0, 8)] * 40
    cells = 10
    source = Scripted(*batch[: _batch(cells)], (finer - 1, 8), *[(0, 8)] * 40)
    assert surviving_zeros(gaps, cells, source).tolist() == [4, 5, 6, 7, 8, 9]
    source = Scripted(*batch[: _batch(cells)], (finer + 1, 8), *[(0, 8)] * 40)
    assert surviving_zeros(gaps, cells, source).tolist() == [5, 6, 7, 8, 9]


def _batch(cells: int) -> int:
    from sottovoce.privacy._sparse_noise import _batch_size  # noqa: PLC0415 - the script depends on it

    return _batch_size(gap_sampler(Fraction(3), None), cells)


def test_a_leap_off_the_table_lands_nowhere() -> None:
    gaps = gap_sampler(Fraction(1), None)
    run, top = gaps.law.run, (1 << 64) - 1
    source = Scripted((top, 8), *[(0, 8)] * 4000)
    assert surviving_zeros(gaps, run + 3, source).tolist() == [run, run + 1, run + 2]


def test_cells_never_answer_for_a_tail() -> None:
    """At the smallest rates the tails hold whole cells."""
    sampler = two_sided_sampler(Fraction(1, 100_000))
    cells, boundaries = sampler.table.cells, sampler.table.boundaries
    assert cells[0] == cells[-1] == ESCAPE
    assert cells[int(boundaries[0] >> np.uint64(48)) - 1] == ESCAPE


@pytest.mark.parametrize("rate", ["1/100001", "1001"])
def test_a_rate_out_of_reach_is_refused(rate: str) -> None:
    with pytest.raises(ParameterError, match=r"between 0\.00001 and 1000"):
        two_sided_sampler(Fraction(rate))
