"""Blinding exponents have the length that is claimed, and blinding hides."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from support.paillier_keys import insecure_key_for_tests

from sottovoce.learn.paillier import blinding, keys
from sottovoce.learn.paillier.blinding import Comb, CombShape, comb_shape
from sottovoce.learn.paillier.grid import gmpy2
from sottovoce.privacy.randomness import random_below, random_words

SIGNIFICANCE = 1e-6
DRAWS = 4000


def exponents(shape: CombShape, count: int) -> tuple[list[int], NDArray[np.uint16]]:
    """The exponents that random digits stand for, by the definition of the comb."""
    digits = shape.random_digits(count)
    return [_exponent(shape, each) for each in digits], digits


def _exponent(shape: CombShape, digits: NDArray[np.uint16]) -> int:
    exponent = 0
    for turn in range(shape.turns):
        for column in range(shape.columns):
            for row in range(shape.rows):
                place = shape.turns * (row * shape.columns + column) + shape.turns - 1 - turn
                exponent |= int(digits[turn, column] >> row & 1) << place
    return exponent


@pytest.mark.parametrize("sizes", [blinding._SMALL, blinding._LARGE])
@pytest.mark.parametrize("bits", [256, 512])
def test_a_power_by_table_is_the_power_of_its_exponent(bits: int, sizes: tuple[int, int]) -> None:
    public = insecure_key_for_tests(bits).public
    shape = comb_shape(blinding.exponent_bits(bits), *sizes)
    comb = Comb(public.base, public.n, shape)
    drawn, digits = exponents(shape, 20)
    assert comb.powers(digits) == [pow(public.base, e, int(public.n_squared)) for e in drawn]
    edges = np.stack([np.zeros_like(digits[0]), np.full_like(digits[0], (1 << shape.rows) - 1)])
    last = pow(public.base, (1 << shape.bits) - 1, int(public.n_squared))
    assert comb.powers(edges) == [1, last]


@pytest.mark.parametrize("key_bits", [2048, 3072])
@pytest.mark.parametrize("sizes", [blinding._SMALL, blinding._LARGE])
def test_exponents_are_half_as_long_as_the_key_or_longer(
    key_bits: int, sizes: tuple[int, int]
) -> None:
    shape = comb_shape(blinding.exponent_bits(key_bits), *sizes)
    assert key_bits // 2 <= shape.bits <= key_bits // 2 + 64


def unbalanced_places(shape: CombShape) -> list[int]:
    """The places of an exponent where ones and zeros are not equally likely."""
    drawn, _ = exponents(shape, DRAWS)
    ones = [sum(e >> place & 1 for e in drawn) for place in range(shape.bits)]
    limit = stats.norm.isf(SIGNIFICANCE / shape.bits / 2) * (DRAWS / 4) ** 0.5
    return [place for place, count in enumerate(ones) if abs(count - DRAWS / 2) > limit]


SHAPE = comb_shape(128, 8, 8)


def test_every_bit_of_an_exponent_is_a_fair_coin() -> None:
    assert unbalanced_places(SHAPE) == []


def test_the_check_sees_exponents_that_are_shorter_than_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "sottovoce.learn.paillier.blinding.random_words"
    monkeypatch.setattr(source, lambda shape, bits: random_words(shape, bits - 1))
    top_row = SHAPE.bits // SHAPE.rows
    assert unbalanced_places(SHAPE) == list(range(SHAPE.bits - top_row, SHAPE.bits))


# Small primes for which the base generates all n-th powers of Jacobi symbol 1.
P, Q = 23, 59
ORDER = 2 * 11 * 29


def _p_value(exponent_bits: int) -> float:
    """How likely the spread of blinding factors over their whole group is, were it even."""
    n = P * Q
    base = pow(keys.blinding_root(n), n, n * n)
    shape = comb_shape(exponent_bits, 4, 8)
    return _evenness(Comb(base, n, shape).powers(shape.random_digits(20 * ORDER)))


def _evenness(found: list[int]) -> float:
    _, counts = np.unique([int(each) for each in found], return_counts=True)
    counts = np.pad(counts, (0, ORDER - counts.size))
    return float(stats.chisquare(counts).pvalue)


def test_long_exponents_reach_all_blinding_factors_evenly() -> None:
    assert _p_value(64) > SIGNIFICANCE


def test_the_check_sees_short_exponents() -> None:
    assert _p_value(8) < SIGNIFICANCE


def test_full_factors_reach_all_of_jacobi_symbol_one_evenly() -> None:
    n = P * Q
    found = blinding.PublicBlinding(pow(keys.blinding_root(n), n, n * n), n).full_factors(
        20 * ORDER
    )
    assert {int(gmpy2.jacobi(each % n, n)) for each in found} == {1}
    assert _evenness(found) > SIGNIFICANCE


def test_the_check_sees_full_factors_of_few_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "sottovoce.learn.paillier.blinding.random_below"
    monkeypatch.setattr(source, lambda limit: random_below(limit // 2))
    n = P * Q
    found = blinding.PublicBlinding(pow(keys.blinding_root(n), n, n * n), n).full_factors(
        20 * ORDER
    )
    assert _evenness(found) < SIGNIFICANCE
