"""A share is drawn with as many bits as it takes, and beyond the table too."""

from fractions import Fraction

import pytest
from support.table_samplers import Scripted, draw, escape_at

from sottovoce.errors import ParameterError
from sottovoce.privacy.shares import NoiseShare, share_sampler

pytestmark = pytest.mark.kernel
TOP = (1 << 64) - 1
RATE = Fraction(8)


@pytest.mark.parametrize("k", [0, 3])
def test_more_bits_decide_next_to_a_boundary(k: int) -> None:
    sampler = share_sampler(Fraction(1, 2), 2)
    boundary = int(sampler.table.boundaries[k])
    finer = sampler.law.floor_at(k, 128) & TOP
    finest = sampler.law.floor_at(k, 192) & TOP
    assert draw(sampler, *escape_at(boundary - 1)) == k
    assert draw(sampler, *escape_at(boundary + 1)) == k + 1
    assert draw(sampler, *escape_at(boundary), (finer - 1, 8)) == k
    assert draw(sampler, *escape_at(boundary), (finer + 1, 8)) == k + 1
    assert draw(sampler, *escape_at(boundary), (finer, 8), (finest - 1, 8)) == k
    assert draw(sampler, *escape_at(boundary), (finer, 8), (finest + 1, 8)) == k + 1


@pytest.mark.parametrize("among", [1, 3])
def test_beyond_its_end_the_table_is_extended_by_the_law(among: int) -> None:
    sampler = share_sampler(RATE, among)
    end, law = sampler.law.run, sampler.law
    beyond = law.floor_at(end, 64)
    assert int(sampler.table.boundaries[-1]) < beyond < TOP
    assert draw(sampler, *escape_at(int(sampler.table.boundaries[-1]) + 1)) == end
    assert draw(sampler, *escape_at(beyond - 1)) == end
    assert draw(sampler, *escape_at(beyond + 1)) == end + 1


def test_a_draw_far_beyond_the_table_is_found_with_more_bits() -> None:
    sampler = share_sampler(RATE, 2)
    far = 3 * sampler.law.run
    floors = [sampler.law.floor_at(j, 192) for j in (far - 1, far)]
    middle = sum(floors) // 2
    assert [floor >> 128 for floor in floors] == [TOP, TOP]
    drawn = draw(sampler, *escape_at(TOP), (middle >> 64 & TOP, 8), (middle & TOP, 8))
    assert drawn == far


def test_a_share_is_one_draw_less_another() -> None:
    share = NoiseShare(epsilon=1, norm=2, among=4)
    sampler = share_sampler(Fraction(1, 2), 4)
    up = int(sampler.table.boundaries[2]) + 1
    zeros = (1 << 13, 2)
    source = Scripted(*escape_at(up)[:1], zeros, escape_at(up)[1], zeros, zeros)
    assert share.draw(2, source).tolist() == [3, 0]
    source = Scripted(zeros, zeros, zeros, *escape_at(up))
    assert share.draw(2, source).tolist() == [0, -3]


def test_two_calls_draw_different_noise() -> None:
    share = NoiseShare(epsilon=1, norm=50, among=2)
    assert share.draw(1000).tobytes() != share.draw(1000).tobytes()


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"epsilon": 0}, "epsilon must be > 0, got 0"),
        ({"epsilon": "1e-4"}, r"epsilon / norm must lie between 0\.0001 and 1000, got 0\.00005"),
        ({"epsilon": 10_000}, "epsilon / norm must lie between"),
        ({"norm": 0}, "norm must be > 0"),
        ({"norm": 1.5}, "norm must be a whole number"),
        ({"among": 0}, "among must be > 0"),
        ({"among": 10_001}, "among must be at most 10000 parties"),
    ],
)
def test_parameters_out_of_range_are_refused(changed: dict[str, int], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        NoiseShare(**{"epsilon": 1, "norm": 2, "among": 3, **changed})
