"""The former reports in two shares, kept for comparison: the field, the check, what it refuses."""

import numpy as np
import pytest
from numpy.typing import NDArray
from support.evenness import evenness

from sottovoce.errors import ParameterError
from sottovoce.lab.bench._former_shares import (
    PRIME,
    CheckParts,
    Residues,
    accepted,
    centred,
    coefficients,
    drawn,
    minus,
    plus,
    residues,
    split,
    times,
    total,
    width,
)

BUCKETS = 8
KEY = bytes(32)


def tokens(number: int) -> list[str]:
    return [f"{place:032x}" for place in range(number)]


def checked(first: Residues, second: Residues) -> NDArray[np.bool_]:
    r = coefficients(KEY, "here", tokens(len(first)), BUCKETS)
    return accepted(CheckParts.of(first, r), CheckParts.of(second, r))


def forged(vector: list[int], *, square: int = 0, product: int = 0) -> NDArray[np.bool_]:
    """The outcome of the check on a report of ``vector``, s^2 or an entry of 2 s x being off."""
    s = int(drawn((1,))[0])
    products = [2 * s * entry + product * (place == 0) for place, entry in enumerate(vector)]
    secret = residues([*vector, s, s * s + square, *products])[None, :]
    first = drawn(secret.shape)
    return checked(first, minus(secret, first))


def test_arithmetic_is_that_of_whole_numbers_modulo_the_prime() -> None:
    edges = [0, 1, 2, (1 << 31) - 1, 1 << 31, PRIME - 2, PRIME - 1]
    left, right = (
        residues(list(side)) for side in zip(*[(a, b) for a in edges for b in edges], strict=True)
    )
    pairs = list(zip(map(int, left), map(int, right), strict=True))
    assert times(left, right).tolist() == [a * b % PRIME for a, b in pairs]
    assert plus(left, right).tolist() == [(a + b) % PRIME for a, b in pairs]
    assert minus(left, right).tolist() == [(a - b) % PRIME for a, b in pairs]


def test_long_sums_do_not_wrap_around() -> None:
    numbers = np.full((5000, 2), PRIME - 1, dtype=np.uint64)
    assert centred(total(numbers, axis=0)) == [-5000, -5000]
    assert centred(residues([-3, 0, 7])) == [-3, 0, 7]


def test_shares_add_up_to_one_bucket_its_mask_the_square_and_the_products() -> None:
    first, second = split([5, 0], BUCKETS)
    assert first.shape == second.shape == (2, width(BUCKETS))
    whole = plus(first, second)
    assert whole[:, :BUCKETS].tolist() == [[0, 0, 0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]]
    mask = whole[:, BUCKETS]
    assert whole[:, BUCKETS + 1].tolist() == times(mask, mask).tolist()
    products = times(plus(mask, mask)[:, None], whole[:, :BUCKETS])
    assert whole[:, BUCKETS + 2 :].tolist() == products.tolist()


def test_either_share_alone_is_uniform_whatever_the_bucket() -> None:
    for share in split([3] * 3000, BUCKETS):
        values = [int(value) for value in share.ravel()]
        assert evenness(values, [PRIME] * len(values)) > 1e-6


def opened(bucket: int, number: int) -> CheckParts:
    """What both servers see of ``number`` reports of ``bucket``, under the same coefficients."""
    r = np.tile(coefficients(KEY, "here", tokens(1), BUCKETS), (number, 1))
    one, two = (CheckParts.of(share, r) for share in split([bucket] * number, BUCKETS))
    return CheckParts(
        plus(one.masked, two.masked), plus(one.squared, two.squared), plus(one.sums, two.sums)
    )


@pytest.mark.parametrize("bucket", [0, 3])
def test_what_is_opened_of_an_honest_report_is_uniform_whatever_its_bucket(bucket: int) -> None:
    parts = opened(bucket, 3000)
    masked = [int(value) for value in parts.masked]
    assert evenness(masked, [PRIME] * len(masked)) > 1e-6
    assert parts.squared.tolist() == [value * value % PRIME for value in masked]
    assert set(parts.sums.tolist()) == {1}


def test_honest_reports_pass_the_check() -> None:
    assert checked(*split(list(range(BUCKETS)) * 50, BUCKETS)).all()


@pytest.mark.parametrize(
    "vector",
    [
        [0] * BUCKETS,
        [1, 1, *[0] * (BUCKETS - 2)],
        [2, -1, *[0] * (BUCKETS - 2)],
        [1000, -999, *[0] * (BUCKETS - 2)],
        [PRIME - 1, 2, *[0] * (BUCKETS - 2)],
        [3, -1, -1, *[0] * (BUCKETS - 3)],
        [pow(2, -1, PRIME)] * 2 + [0] * (BUCKETS - 2),
    ],
)
def test_a_report_that_is_not_one_bucket_is_refused(vector: list[int]) -> None:
    assert not forged(vector)[0]


def test_a_lie_about_the_square_or_a_product_is_refused() -> None:
    honest = [0, 1, *[0] * (BUCKETS - 2)]
    assert forged(honest)[0]
    assert not forged(honest, square=1)[0]
    assert not forged(honest, product=1)[0]
    assert not forged([2, -1, *[0] * (BUCKETS - 2)], square=-2)[0]


def test_a_client_who_foresees_the_coefficients_would_pass_with_a_forged_report() -> None:
    """Why the servers' key must be secret: the check is as good as its randomness."""
    r = [int(value) for value in coefficients(KEY, "here", tokens(1), BUCKETS)[0]]
    vector = [2, -1, *[0] * (BUCKETS - 2)]
    z = sum(a * b for a, b in zip(r, vector, strict=True))
    w = sum(a * a * b for a, b in zip(r, vector, strict=True))
    assert forged(vector, square=z * z - w)[0]


def test_a_bucket_that_is_none_cannot_be_split() -> None:
    with pytest.raises(ParameterError, match="0 to 7"):
        split([8], BUCKETS)
