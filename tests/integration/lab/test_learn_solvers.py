"""The paper's secure solvers beside the exact one, on a few rados under a small key."""

import numpy as np
import pytest
from sottovoce_lab.learn import solvers
from sottovoce_lab.learn.data import Examples
from sottovoce_lab.learn.solvers import DESCENT, MASKED, PROTOCOL_4, SolverStudySizes, run
from support.hidden_systems import small_keys_allowed
from support.paillier_keys import insecure_key_for_tests

from sottovoce.report.result import StudyResult

SMALL = SolverStudySizes(features=(2, 3), rados=5, steps=2, key_bits=1024)


@pytest.fixture(scope="module")
def result() -> StudyResult:
    chance = np.random.default_rng(5)
    signs = chance.choice([-1.0, 1.0], 60)
    rows = chance.normal(size=(60, 4)) + signs[:, None]
    # A column that does not vary, as Ionosphere has one.
    examples = Examples(np.insert(rows, 1, 0.0, axis=1), signs)
    keys = iter([insecure_key_for_tests(1024, 5), insecure_key_for_tests(1024, 6)])
    with pytest.MonkeyPatch.context() as patch, small_keys_allowed():
        patch.setattr(solvers, "generate_key", lambda _bits: next(keys))
        return run(examples, SMALL)


def test_every_solver_finds_the_theta_of_its_twin(result: StudyResult) -> None:
    assert [(row["solver"], row["features"]) for row in result.rows] == [
        (solver, features) for features in (2, 3) for solver in (PROTOCOL_4, DESCENT, MASKED)
    ]
    for row in result.rows:
        assert float(row["off_by"]) < 1e-7  # type: ignore[arg-type] # a number
        assert row["same_labels"] == 1
        assert row["error"] == row["error_plain"]


def test_the_exact_solve_takes_two_rounds_and_the_fewest_bytes(result: StudyResult) -> None:
    for exact in (row for row in result.rows if row["solver"] == MASKED):
        others = [row for row in result.rows if row["features"] == exact["features"]]
        assert exact["rounds"] == 2
        assert exact["megabytes"] == min(row["megabytes"] for row in others)  # type: ignore[type-var] # numbers
    assert "With 3 features the exact solve takes" in result.plots[0].finding
