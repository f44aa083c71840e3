"""The whole of a joint ridge by secure sums: support, penalty, solve, evaluation."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from support.hidden_systems import small_keys_allowed

from sottovoce.errors import InputError, ParameterError, StalledError, TooFewPartiesError
from sottovoce.learn.ridge import (
    ExampleSums,
    LinearModel,
    likeliest_penalties,
    local_sums,
    ridge_from_sums,
)
from sottovoce.learn.sums.total import Way, secure_total
from sottovoce.learn.support import KeptFeatures, kept_from_sums, local_support
from sottovoce.learn.wire.exchange import Faults

Floats = NDArray[np.float64]
CHANCE = np.random.default_rng(11)
ROWS = np.round(CHANCE.normal(size=(200, 6)), 3) * (CHANCE.random((200, 6)) < 0.8)
ROWS[:, 5] = 0
ROWS[3, 5] = 1.0  # one row only: must not be opened
SIGNS = np.where(ROWS[:, 0] - ROWS[:, 1] + CHANCE.normal(size=200) / 2 > 0, 1.0, -1.0)
PEERS = {f"peer{i}": np.arange(200) % 4 == i for i in range(4)}


@pytest.fixture(autouse=True)
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


def summed(parts: dict[str, Floats], way: Way = "masks", bound: float = 1e4) -> Floats:
    return secure_total(parts, bound=bound, way=way).total


def chosen_features() -> KeptFeatures:
    return kept_from_sums(summed({n: local_support(ROWS[i]) for n, i in PEERS.items()}))


def joint_ridge(way: Way) -> tuple[KeptFeatures, LinearModel]:
    kept = chosen_features()
    given = {name: local_sums(ROWS[i], SIGNS[i], kept).to_vector() for name, i in PEERS.items()}
    sums = ExampleSums.from_vector(summed(given, way), kept.width)
    return kept, ridge_from_sums(sums, likeliest_penalties([sums])[0])


def quantised_ridge(kept: KeptFeatures, penalty: float) -> LinearModel:
    """The same in the clear: each peer's sums rounded to 30 binary places."""
    vectors = [local_sums(ROWS[i], SIGNS[i], kept).to_vector() for i in PEERS.values()]
    total = np.sum([np.rint(vector * 2**30) for vector in vectors], axis=0) / 2**30
    return ridge_from_sums(ExampleSums.from_vector(total, kept.width), penalty)


@pytest.mark.parametrize("way", ["ring", "masks"])
def test_a_joint_ridge_equals_the_plain_solve_of_the_same_integers(way: Way) -> None:
    kept, model = joint_ridge(way)
    np.testing.assert_array_equal(kept.kept, [True] * 5 + [False])
    sums = local_sums(ROWS, SIGNS, kept)
    (penalty,) = likeliest_penalties([sums])
    np.testing.assert_array_equal(model.coefficients, quantised_ridge(kept, penalty).coefficients)
    pooled = ridge_from_sums(sums, penalty)
    np.testing.assert_allclose(model.coefficients, pooled.coefficients, atol=1e-6)
    assert model.intercept == pytest.approx(pooled.intercept, abs=1e-6)


def test_the_sum_says_over_whom_it_runs() -> None:
    parts = {name: np.ones(3) for name in PEERS}
    done = secure_total(parts, bound=1.0, faults=Faults(silent_from={"peer2": 1}))
    assert done.survivors == ("peer0", "peer1", "peer3")
    np.testing.assert_array_equal(done.total, [3, 3, 3])
    assert done.traffic.bytes > 0


def test_a_sum_whose_opener_fell_silent_is_not_made_up() -> None:
    parts = {name: np.ones(3) for name in PEERS}
    everybody = dict.fromkeys(["server", *PEERS], 9)
    with pytest.raises(StalledError, match="nobody who is left"):
        secure_total(parts, bound=1.0, faults=Faults(silent_from=everybody))


def test_sums_that_cannot_be_are_refused() -> None:
    three = {name: np.ones(3) for name in "abc"}
    with pytest.raises(InputError, match="agree on the features"):
        secure_total({**three, "d": np.ones(2)}, bound=1.0)
    with pytest.raises(ParameterError, match="way must be"):
        secure_total(three, bound=1.0, way="pigeon")  # type: ignore[arg-type] # that is the point
    for few in ({}, {"a": np.ones(3)}, {"a": np.ones(3), "b": np.ones(3)}):
        with pytest.raises(TooFewPartiesError):
            secure_total(few, bound=1.0)
