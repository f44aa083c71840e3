"""Small systems and small keys, so that hidden solves take milliseconds in tests."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from sottovoce_lab._data import data_file
from sottovoce_lab.learn.systems import IntegerSystem

from sottovoce.arrays import Floats
from sottovoce.learn.paillier import keys
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.solve.plan import PublicBounds
from support.paillier_keys import insecure_key_for_tests
from support.warm_python import FIRST

BITS = 512
_SMALL_KEYS = f"""
from sottovoce.federation.party._policy import RULES, Rule, _check_range
from sottovoce.learn.paillier import keys
keys.MINIMUM_BITS = {BITS}
RULES["recipe.key_bits"] = Rule("", _check_range("key_bits", {BITS}, "most_key_bits"))
"""


@contextmanager
def small_keys_allowed() -> Iterator[None]:
    """Within the block, parties accept keys of a test's length, their processes too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "MINIMUM_BITS", BITS)
        patch.setenv(FIRST, _SMALL_KEYS)
        yield


def two_keys(bits: int = BITS) -> tuple[PrivateKey, PrivateKey]:
    """The coordinator's and the key holder's."""
    return insecure_key_for_tests(bits, 1), insecure_key_for_tests(bits, 2)


def gram_system(rows: list[list[int]], right: list[int], ridge: int) -> IntegerSystem:
    """G'G + ridge I and a right-hand side, in whole numbers."""
    given = np.array(rows, dtype=object)
    matrix = given.T @ given + ridge * np.eye(len(right), dtype=object)
    return IntegerSystem([[int(x) for x in row] for row in matrix], list(right), 0)


def tight_bounds(system: IntegerSystem) -> PublicBounds:
    """The narrowest bounds that the system keeps to."""
    matrix = system.matrix
    return PublicBounds(
        system.size,
        0,
        max(abs(entry) for row in matrix for entry in row),
        sum(row[at] for at, row in enumerate(matrix)),
        max(1, *(abs(entry) for entry in system.vector)),
    )


def ionosphere(penalty: float) -> tuple[Floats, Floats]:
    """A and b of standardised radar returns."""
    rows = [line.split(",") for line in data_file("ionosphere.csv").read_text().split()]
    x = np.array([row[:34] for row in rows], dtype=float)
    y = np.array([1.0 if row[34] == "g" else -1.0 for row in rows])
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return x.T @ x / len(x) + penalty * np.eye(34), x.T @ y / len(x)
