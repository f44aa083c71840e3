"""What the parties of a hidden solve see is uniform, and a mask cut short shows."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, chisquare
from sottovoce_lab.learn.systems import IntegerSystem
from support.hidden_systems import BITS, gram_system, small_keys_allowed, tight_bounds, two_keys

from sottovoce.learn.paillier.wire import decrypt_integers
from sottovoce.learn.solve import field
from sottovoce.learn.solve import field as masking
from sottovoce.learn.solve.field import mask_half_range, random_invertible, random_vector
from sottovoce.learn.solve.masked import PrimeMask, answer_prime, encrypt_columns, mask_system
from sottovoce.learn.solve.plan import SolvePlan
from sottovoce.privacy.randomness import random_below

SIZE = 6
# So many that each of 64 bins expects a hundred; what a planted fault spoils shows in fewer.
DRAWS = 6_400
FAULTY = 4_000
BINS = 64
ROWS = [[1, 2, 0, 0, 3, 1], [0, 1, 0, 2, 0, 0], [5, 0, 0, 0, 1, 1]]
SYSTEM = gram_system(ROWS, [4, 1, 0, -2, 3, 3], 2)
PLAN = SolvePlan(tight_bounds(SYSTEM), BITS, 3, 16)


@pytest.fixture(autouse=True, scope="module")
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


Seen = tuple[NDArray[np.float64], NDArray[np.float64]]


def parts(values: list[int], primes: list[int], quotient: int) -> Seen:
    """Each number's residue over its prime, and its quotient over the mask's range."""
    half = mask_half_range(quotient)
    residues = [value % prime / prime for value, prime in zip(values, primes, strict=True)]
    over = [
        (value // prime + half) / (2 * half) for value, prime in zip(values, primes, strict=True)
    ]
    return np.array(residues), np.array(over)


def key_holders_view(system: IntegerSystem = SYSTEM, draws: int = DRAWS) -> Seen:
    """Every number that the key holder opens, for as many primes as it takes."""
    held = two_keys()[1]
    each = SIZE * (SIZE + 1)
    masks = [PrimeMask.draw(PLAN, []) for _ in range(-(-draws // each))]
    numbers = system.encrypt(PLAN.slots, held.public)
    opened = decrypt_integers(mask_system(PLAN, *numbers, masks), held)
    primes = [mask.prime for mask in masks for _ in range(each)]
    return parts([int(value) for value in opened.ravel()], primes, PLAN.quotient)


def simulated_view(draws: int = DRAWS) -> Seen:
    """The same from nothing but the plan: uniform M and c, and uniform multiples of the prime."""
    values: list[int] = []
    primes: list[int] = []
    half = mask_half_range(PLAN.quotient)
    while len(values) < draws:
        prime = field.random_public_prime(PLAN.prime_bits)
        matrix, _ = random_invertible(SIZE, prime)
        for entry in [x for row in matrix for x in row] + random_vector(SIZE, prime):
            values.append(int(entry) + prime * (random_below(2 * half) - half))
            primes.append(prime)
    return parts(values, primes, PLAN.quotient)


def smallest_p_value(seen: Seen) -> float:
    """Of two chi-square tests: residues and quotients fall evenly into 64 bins."""
    counts = [np.histogram(part, BINS, (0, 1))[0] for part in seen]
    return 2 * min(float(chisquare(count).pvalue) for count in counts)


def same_p_value(here: Seen, there: Seen) -> float:
    """Whether two views have one joint distribution of residue and quotient."""
    tables = [
        np.histogram2d(*seen, (16, 16), ((0, 1), (0, 1)))[0].ravel() for seen in (here, there)
    ]
    return float(chi2_contingency(np.array(tables)).pvalue)


def short_matrix(made: Callable[..., list[list[int]]]) -> Callable[..., list[list[int]]]:
    return lambda *given: [[entry % 256 for entry in row] for row in made(*given)]


@pytest.fixture(scope="module")
def view(_small_keys: None) -> Seen:
    return key_holders_view()


def test_the_key_holder_sees_uniform_numbers(view: Seen) -> None:
    assert view[0].size >= DRAWS
    assert smallest_p_value(view) > 1e-6


@pytest.mark.long
def test_many_more_of_the_key_holders_numbers_are_uniform_too() -> None:
    assert smallest_p_value(key_holders_view(draws=100_000)) > 1e-6


def test_the_key_holders_view_is_simulated_from_nothing(view: Seen) -> None:
    assert same_p_value(view, simulated_view()) > 1e-6


def test_two_systems_look_alike_to_the_key_holder(view: Seen) -> None:
    other = gram_system([[1, 0, 0, 0, 0, 0]], [0, 0, 0, 0, 0, 0], 1)
    assert same_p_value(view, key_holders_view(other, DRAWS // 2)) > 1e-6


def test_a_mixing_matrix_cut_to_eight_bits_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field, "random_matrix", short_matrix(field.random_matrix))
    assert smallest_p_value(key_holders_view(draws=FAULTY)) < 1e-12


def test_a_multiple_cut_to_eight_bits_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    key_holders_view(draws=1)  # slots are planned once, and for masks that are not cut
    monkeypatch.setattr(masking, "mask_half_range", lambda quotient: 128)
    seen = key_holders_view(draws=FAULTY)
    assert smallest_p_value(seen) < 1e-12
    assert same_p_value(seen, simulated_view(FAULTY)) < 1e-12


def coordinators_view(draws: int) -> Seen:
    """What the coordinator opens of answers to one system."""
    own = two_keys()[0]
    mask = PrimeMask.draw(PLAN, [])
    columns = encrypt_columns(PLAN, own, [mask])[0]
    weights = [3] * (SIZE + 1)
    values = [
        int(value)
        for _ in range(-(-draws // (2 * SIZE)))
        for value in decrypt_integers(
            answer_prime(PLAN, columns, weights, mask.prime)[0], own
        ).ravel()
    ]
    return parts(values, [mask.prime] * len(values), PLAN.answer_quotient)


@pytest.mark.parametrize("draws", [2_560, pytest.param(20_000, marks=pytest.mark.long)])
def test_the_coordinator_sees_uniform_numbers(draws: int) -> None:
    assert smallest_p_value(coordinators_view(draws)) > 1e-6


def test_a_coordinators_share_that_is_not_uniform_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "sottovoce.learn.solve.masked.random_vector", lambda size, prime: [1] * size
    )
    assert smallest_p_value(coordinators_view(500)) < 1e-12
