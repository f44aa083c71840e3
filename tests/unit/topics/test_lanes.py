"""The steps of the fold-in in vectors give the bits of the plain loops, whatever the topics."""

from collections.abc import Callable

import numba
import numpy as np
import pytest

from sottovoce.topics.lda import _infer as lanes
from sottovoce.topics.lda._infer import align_rows, plain_again, plain_next, weigh_again, weigh_next

SIZES = (1, 7, 8, 9, 16, 103, 200)


@numba.njit
def compiled_next(*given):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN201 - compiled
    return weigh_next(*given)


@numba.njit
def compiled_again(*given):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN201 - compiled
    return weigh_again(*given)


def _given(size: int, arrays: int, numbers: int) -> tuple[list[np.ndarray], list[float]]:
    generator = np.random.default_rng(size)
    return (
        [generator.gamma(0.3, size=size) for _ in range(arrays)],
        generator.gamma(2.0, size=numbers).tolist(),
    )


def _results(step: Callable[..., float], given: list[object]) -> bytes:
    copies = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
    total = step(*copies)
    arrays = [each for each in copies if isinstance(each, np.ndarray)]
    return np.concatenate([*arrays, [total]]).tobytes()


@pytest.mark.parametrize("size", SIZES)
def test_a_step_forward_has_the_bits_of_the_plain_loop(size: int) -> None:
    (expected, before, weights), (factor,) = _given(size, 3, 1)
    chances = weights[::-1].astype(np.float32)
    given = [expected, before, factor, chances, weights, size]
    assert _results(compiled_next, given) == _results(plain_next, given)


@pytest.mark.parametrize("size", SIZES)
def test_a_step_back_has_the_bits_of_the_plain_loop(size: int) -> None:
    (expected, weights, former, own), (factor, other, third, one) = _given(size, 4, 4)
    chances = own[::-1].astype(np.float32)
    given = [expected, weights, factor, former, other, own, third, one, chances, size]
    assert _results(compiled_again, given) == _results(plain_again, given)


def test_the_sum_is_in_lanes_and_not_in_another_order() -> None:
    """Else the test above would hold for any order that both have in common."""
    values = np.random.default_rng(3).gamma(0.3, size=200)
    in_lanes = values.reshape(-1, 8)
    sums = np.zeros(8)
    for line in in_lanes:
        sums += line
    a, b, c, d, e, f, g, h = sums.tolist()
    assert lanes._plain_sum(values, 200) == ((a + e) + (c + g)) + ((b + f) + (d + h))
    assert lanes._plain_sum(values, 200) != sum(values.tolist())


@pytest.mark.kernel
@pytest.mark.parametrize(("rows", "width"), [(1, 1), (3, 200), (2, 103)])
def test_rows_begin_where_the_processor_fetches(rows: int, width: int) -> None:
    made = align_rows(rows, width)
    assert made.shape[0] == rows
    assert made.shape[1] >= width
    assert all(row.ctypes.data % 64 == 0 for row in made)
    assert not made.any()
