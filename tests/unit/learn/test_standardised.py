"""Standardised columns keep to the bounds that the hidden solve is planned for."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.trainings import quick_training

from sottovoce.errors import DataError, InputError, ParameterError
from sottovoce.learn import train
from sottovoce.learn.modes.comparison import SharedNumbers
from sottovoce.learn.modes.hidden_solve import QUERY_BITS, QUERY_SUM, HiddenSolve
from sottovoce.learn.modes.open import moments_stage, told_standard
from sottovoce.learn.modes.queries import QueryTerms, query_integers
from sottovoce.learn.ridge import Standard
from sottovoce.learn.support import all_kept
from sottovoce.learn.training_terms import LocalData, Recipe, Solver, TrainingTerms
from sottovoce.learn.wire.message import new_session

Floats = NDArray[np.float64]
PEERS = ("p0", "p1", "p2", "p3")


def standardised(parts: list[Floats], **changes: Any) -> tuple[Standard, Floats]:  # noqa: ANN401 - whatever it is given
    """The moments as the protocol rounds and adds them, and all rows standardised."""
    width = parts[0].shape[1]
    names = tuple(f"x{at}" for at in range(width))
    data = [LocalData.from_rows(part, np.ones(len(part)), names, names) for part in parts]
    identities = {f"p{at}": each.identity.public for at, each in enumerate(data)}
    terms = TrainingTerms(new_session(), identities, names, Recipe(penalty=0.1, **changes))
    stage = moments_stage(terms, all_kept(width), terms.peers)
    total = sum(stage.numbers.encode(each.moments(all_kept(width))) for each in data)
    standard = told_standard(stage, np.asarray(total), all_kept(width))
    return standard, standard.apply(np.vstack(parts))


def normal_parts(mean: float, deviation: float) -> list[Floats]:
    chance = np.random.default_rng(7)
    return [chance.normal(mean, deviation, (400, 2)) for _ in range(4)]


@pytest.mark.parametrize("fraction_bits", [14, 30])
@pytest.mark.parametrize(("mean", "deviation"), [(0, 1), (0, 1e-3), (0, 4e-4), (3, 0.01)])
def test_every_diagonal_entry_is_one_and_no_more(
    mean: float, deviation: float, fraction_bits: int
) -> None:
    _, rows = standardised(normal_parts(mean, deviation), fraction_bits=fraction_bits)
    diagonal = (rows**2).mean(axis=0)
    assert diagonal.max() <= 1 + 1e-12
    assert diagonal.min() > 0.94


UNTELLABLE = [(0, 4e-4, 14), (1e5, 0.1, 14), (0, 1e-12, 30), (0, 1e-6, 30)]


@pytest.mark.parametrize(("mean", "deviation", "places"), UNTELLABLE)
def test_a_variance_within_rounding_is_refused(mean: float, deviation: float, places: int) -> None:
    with pytest.raises(DataError, match="moment_bits"):
        standardised(normal_parts(mean, deviation), moment_bits=places)


@pytest.mark.parametrize("value", [1.0, 7.0, 0.25, 1e3])
def test_a_constant_column_is_zero_and_told(value: float) -> None:
    parts = normal_parts(0, 1)
    for part in parts:
        part[:, 1] = value
    standard, rows = standardised(parts, moment_bits=30)
    np.testing.assert_array_equal(standard.constant, [False, True])
    np.testing.assert_array_equal(rows[:, 1], 0)
    assert standard.unstandardise(np.array([1.0, 5.0, 0.5])).coefficients[1] == 0


def far_peers() -> list[tuple[Floats, Floats]]:
    """Rows far from zero, hardly spread, and labels that follow from them."""
    chance = np.random.default_rng(1)
    theta = np.array([1.0, -1.0, 0.5])
    given = []
    for _ in range(4):
        x = chance.normal(1e5, 1.75, (100, 3))
        given.append((x, np.where((x - 1e5) @ theta > 0, 1.0, -1.0)))
    return given


def test_hidden_labels_of_rows_far_from_zero_are_right() -> None:
    given = far_peers()
    opened = train([(x - 1e5, y) for x, y in given], penalty=0.1)
    x = given[0][0][:6]
    places = {"fraction_bits": 14, "moment_bits": 14}
    with quick_training(given, mode="hidden", penalty=0.1, queries=10, **places) as trained:
        np.testing.assert_array_equal(trained.predict(x), opened.predict(x - 1e5))


@pytest.mark.parametrize("solver", ["masked", "chebyshev"])
def test_the_planned_scores_fit_the_modulus_and_others_do_not(solver: Solver) -> None:
    solve = HiddenSolve(Recipe(penalty=0.5, solver=solver), 0.5, 4, PEERS)
    least = solve.score_bound << 65
    SharedNumbers(1, least, solve.score_bound)
    terms = QueryTerms(new_session(), "p0", ("p0",), 1, least - 1, solve.score_bound, 4)
    with pytest.raises(ParameterError, match="the modulus of shares"):
        _ = terms.numbers
    for wrong in (least >> 3, least << 3000):
        with pytest.raises(InputError, match="plan has room"):
            solve.check_modulus(wrong)


def test_contributors_together_keep_to_the_planned_sum() -> None:
    half = np.full((1, 2), QUERY_SUM / 4 - 1)
    assert 2 * int(query_integers(half, QUERY_BITS, 2).sum()) <= QUERY_SUM << QUERY_BITS
    with pytest.raises(InputError, match="nothing like those"):
        query_integers(half + 1, QUERY_BITS, 2)
