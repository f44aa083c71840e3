"""Hidden solves equal the exact solve of the same integers, whatever the integers are."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sottovoce_lab.learn.systems import (
    IntegerSystem,
    check_system,
    leading_minors_positive,
    opened_fractions,
    opened_integers,
    solved_exactly,
)
from support.hidden_systems import BITS, gram_system, small_keys_allowed, tight_bounds, two_keys

from sottovoce.learn.paillier.grid import gmpy2
from sottovoce.learn.solve.field import Combs, _plan_shape, combine_powers, solve_system
from sottovoce.learn.solve.masked import answer_masked, ask_masked
from sottovoce.learn.solve.plan import PublicBounds, plan_solve
from sottovoce.learn.wire.stages import run_together


@pytest.fixture(autouse=True, scope="module")
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


@st.composite
def systems(draw: st.DrawFn, largest: int = 50) -> IntegerSystem:
    size = draw(st.integers(1, 4))
    entries = st.integers(-largest, largest)
    rows = draw(st.lists(st.lists(entries, min_size=size, max_size=size), min_size=1, max_size=5))
    right = draw(st.lists(entries, min_size=size, max_size=size))
    return gram_system(rows, right, draw(st.integers(1, largest)))


few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def fraction_solution(system: IntegerSystem) -> list[Fraction]:
    """Gauss with fractions: another way than the code's."""
    rows = [
        [Fraction(x) for x in (*row, right)]
        for row, right in zip(system.matrix, system.vector, strict=True)
    ]
    for at in range(system.size):
        rows[at] = [x / rows[at][at] for x in rows[at]]
        for other in range(system.size):
            if other != at:
                factor = rows[other][at]
                rows[other] = [x - factor * y for x, y in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]


@given(systems(10**6))
@settings(deadline=None)
def test_the_exact_solve_is_that_of_fractions(system: IntegerSystem) -> None:
    found = solved_exactly(system)
    assert found.theta == fraction_solution(system)
    assert found.determinant > 0


@given(systems())
@few
def test_the_masked_solve_equals_the_exact_one(system: IntegerSystem) -> None:
    plan = plan_solve(tight_bounds(system), key_bits=BITS, score=10, determinant=True)
    own, held = two_keys()
    numbers = system.encrypt(plan.slots, held.public)
    found = run_together(ask_masked(plan, own, *numbers), answer_masked(plan, held))
    exact = solved_exactly(system)
    shares = found.asked, found.answered
    assert opened_integers(*shares) == [*exact.adjugate, exact.determinant]
    assert opened_fractions(*shares) == exact.theta


@given(systems(10**4))
@settings(deadline=None)
def test_no_solution_exceeds_its_bound(system: IntegerSystem) -> None:
    bounds, exact = tight_bounds(system), solved_exactly(system)
    check_system(system, bounds)
    assert max(map(abs, exact.adjugate)) <= bounds.largest_solution
    assert exact.determinant <= bounds.largest_determinant


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("scale", [1, 7, 10**9])
def test_the_bounds_hold_where_they_are_tightest(size: int, scale: int) -> None:
    """Equal eigenvalues but one that vanishes, and b along it: the largest adj(A) b there is."""
    matrix = [[scale * size * (i == j) - scale for j in range(size)] for i in range(size)]
    for at in range(size):
        matrix[at][at] += 1
    system = IntegerSystem(matrix, [scale] * size, 0)
    bounds, exact = tight_bounds(system), solved_exactly(system)
    largest = max(map(abs, exact.adjugate))
    assert largest <= bounds.largest_solution
    # Tight: along the vanishing eigenvalue nothing but rounding up and the norms' inequality.
    assert bounds.largest_solution <= largest * 4 * size + 4 * scale + 4


@given(st.data(), st.integers(1, 4), st.integers(1, 6))
@settings(deadline=None)
def test_the_moments_bound_holds_for_gram_matrices(
    data: st.DataObject, size: int, examples: int
) -> None:
    entry = st.integers(-40, 40)
    flat = data.draw(
        st.lists(entry, min_size=examples * (size + 1), max_size=examples * (size + 1))
    )
    whole = np.array(flat, dtype=object).reshape(examples, size + 1)
    gram = whole.T @ whole
    matrix = gram[:-1, :-1] + np.eye(size, dtype=object)
    system = IntegerSystem(matrix.tolist(), gram[:-1, -1].tolist(), 0)
    narrow = tight_bounds(system)
    moment = max(1, int(gram[-1, -1]))
    bounds = PublicBounds(size, 0, narrow.entry, narrow.trace, narrow.right, moment)
    exact = solved_exactly(system)
    assert max(map(abs, exact.adjugate)) <= bounds.largest_solution <= narrow.largest_solution


@given(systems(30), st.integers(-200, 200))
@settings(deadline=None)
def test_definiteness_is_that_of_the_eigenvalues(system: IntegerSystem, shift: int) -> None:
    matrix = np.array(system.matrix, dtype=object) + shift * np.eye(system.size, dtype=object)
    lowest = np.linalg.eigvalsh(matrix.astype(float)).min()
    if abs(lowest) > 1e-6 * np.abs(matrix.astype(float)).max():
        assert leading_minors_positive(matrix.tolist()) == (lowest > 0)


@given(st.data(), st.sampled_from([257, 65537, (1 << 89) - 1]), st.integers(1, 5))
@settings(deadline=None)
def test_solutions_modulo_a_prime_solve(data: st.DataObject, prime: int, size: int) -> None:
    residues = st.lists(st.integers(0, prime - 1), min_size=size, max_size=size)
    matrix = data.draw(st.lists(residues, min_size=size, max_size=size))
    right = data.draw(residues)
    solution, determinant = solve_system(matrix, right, prime)
    plain = solved_exactly_or_zero(matrix)
    assert determinant == plain % prime
    if determinant:
        found = np.array(matrix, dtype=object) @ np.array(solution, dtype=object) % prime
        assert found.tolist() == right


def solved_exactly_or_zero(matrix: list[list[int]]) -> int:
    """The determinant by Laplace's expansion."""
    if not matrix:
        return 1
    return sum(
        (-1) ** at
        * entry
        * solved_exactly_or_zero([row[:at] + row[at + 1 :] for row in matrix[1:]])
        for at, entry in enumerate(matrix[0])
    )


@given(st.data(), st.integers(1, 6), st.integers(1, 4), st.integers(1, 40))
@settings(deadline=None)
def test_products_of_powers_by_any_comb_are_those_of_pow(
    data: st.DataObject, bases: int, rows: int, bits: int
) -> None:
    n = 1_000_003 * 1_000_033
    base = st.integers(1, n * n - 1).filter(lambda x: gmpy2.gcd(x, n) == 1)
    numbers = [gmpy2.mpz(x) for x in data.draw(st.lists(base, min_size=bases, max_size=bases))]
    row = st.lists(st.integers(0, (1 << bits) - 1), min_size=bases, max_size=bases)
    exponents = data.draw(st.lists(row, min_size=rows, max_size=rows))
    expected = [_product_of_powers(numbers, each, n * n) for each in exponents]
    assert combine_powers(numbers, exponents, bits, n) == expected
    groups = data.draw(st.integers(1, bases))
    columns = data.draw(st.integers(1, min(4, bits)))
    shape = _plan_shape(bases, rows, bits, groups, columns)
    assert Combs(numbers, n, shape).combinations(exponents) == expected


def _product_of_powers(bases: list[int], exponents: list[int], modulus: int) -> int:
    found = 1
    for base, exponent in zip(bases, exponents, strict=True):
        found = found * pow(int(base), exponent, modulus) % modulus
    return found
