"""Field elements and polynomials against whole numbers of Python."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf._proof import (
    complete_values,
    double_values,
    inverse_transform,
    lagrange_weights,
    transform,
)
from sottovoce.privacy.vdaf.field import FIELD64, FIELD128, Field, multiples

pytestmark = pytest.mark.kernel

FIELDS = st.sampled_from([FIELD64, FIELD128])


def numbers(field: Field) -> st.SearchStrategy[int]:
    """Any, and those at which carries and subtractions turn."""
    p = field.modulus
    edges = [0, 1, 2, p - 1, p - 2, p // 2, 2**32 - 1, 2**64 % p, (2**64 - 1) % p, 2**128 % p]
    return st.one_of(st.sampled_from(edges), st.integers(0, p - 1))


def plain(field: Field, coefficients: list[int], point: int) -> int:
    return sum(c * pow(point, k, field.modulus) for k, c in enumerate(coefficients)) % field.modulus


def residues(field: Field, found: list[int]) -> list[int]:
    return [number % field.modulus for number in found]


@given(FIELDS.flatmap(lambda field: st.tuples(st.just(field), numbers(field), numbers(field))))
@settings(max_examples=150)
def test_sums_differences_and_products_are_those_of_whole_numbers(
    drawn: tuple[Field, int, int],
) -> None:
    field, a, b = drawn
    left, right = field.elements([a]), field.elements([b])
    found = [
        field.plus(left, right),
        field.minus(left, right),
        multiples(left, right, field.p),
        field.dot(left, right),
    ]
    expected = [a + b, a - b, a * b, a * b]
    for element, number in zip(found, expected, strict=True):
        assert residues(field, field.integers(element)) == [number % field.modulus]


@given(
    FIELDS.flatmap(
        lambda field: st.tuples(
            st.just(field),
            st.sampled_from([1, 2, 4, 8]).flatmap(
                lambda n: st.lists(numbers(field), min_size=n, max_size=n)
            ),
            numbers(field),
        )
    )
)
@settings(max_examples=40)
def test_values_coefficients_and_points_of_a_polynomial_agree(
    drawn: tuple[Field, list[int], int],
) -> None:
    field, coefficients, point = drawn
    size, p = len(coefficients), field.modulus
    roots, finer = field.roots(size), field.roots(2 * size)
    values = transform(field.elements(coefficients), roots, field.p)
    at_roots = [plain(field, coefficients, root) for root in residues(field, field.integers(roots))]
    assert residues(field, field.integers(values)) == at_roots
    back = inverse_transform(values, roots, field.part(size), field.p)
    assert residues(field, field.integers(back)) == coefficients
    more = double_values(values, roots, finer, field.part(size), field.p)
    at_finer = [plain(field, coefficients, root) for root in residues(field, field.integers(finer))]
    assert residues(field, field.integers(more)) == at_finer
    whole = complete_values(more[:-1], finer, field.p)
    assert (whole == more).all()
    factors = lagrange_weights(field.elements([point]), roots, field.part(size), field.p)
    found = field.integers(field.dot(factors, values))
    assert residues(field, found) == [plain(field, coefficients, point) % p]


@pytest.mark.parametrize("field", [FIELD64, FIELD128])
def test_roots_have_the_order_that_they_say(field: Field) -> None:
    for size in (1, 2, 8, 32):
        root = residues(field, field.integers(field.roots(size)))
        assert len(set(root)) == size
        assert all(pow(each, size, field.modulus) == 1 for each in root)


@pytest.mark.parametrize("field", [FIELD64, FIELD128])
def test_only_numbers_below_the_modulus_are_elements(field: Field) -> None:
    most = (field.modulus - 1).to_bytes(field.size, "little")
    assert field.encode(field.decode(most)) == most
    for number in (field.modulus, field.modulus + 1, 256**field.size - 1):
        with pytest.raises(ProtocolError, match="not below the field's modulus"):
            field.decode(most + number.to_bytes(field.size, "little"))
    assert field.integers(field.elements([-3, 0, 5])) == [-3, 0, 5]
