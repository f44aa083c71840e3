"""The table's rows: encrypted twins predict what plain ones do."""

from dataclasses import replace

import numpy as np
import pytest
from sottovoce_lab.learn import table_1
from sottovoce_lab.learn._trained import PeerTraining, float_solution, open_trained, plain_twin
from sottovoce_lab.learn.data import Examples
from sottovoce_lab.learn.table_1 import ALL_RADOS, QUICK, LearnTableSizes, lines

from sottovoce.learn.paillier.grid import cores
from sottovoce.learn.training_terms import Recipe


def small_examples() -> Examples:
    chance = np.random.default_rng(0)
    rows = chance.normal(1, 2, (80, 5)).round(2)
    return Examples(rows, np.where(rows[:, 0] - rows[:, 1] + chance.normal(size=80) > 0, 1.0, -1.0))


SIZES = replace(QUICK, asked=1, folds=2)


def test_the_papers_six_rows_come_with_its_figures() -> None:
    figures = [line.paper for line in lines(LearnTableSizes()) if line.paper.error is not None]
    errors = [figure.error for figure in figures]
    assert errors == [0.049, 0.12, 0.20, 0.089, 0.10, 0.085]
    assert [figure.seconds for figure in figures][3:6] == [0.12, 75.0, 87.0]


@pytest.mark.long
def test_encrypted_rows_lose_nothing_against_their_twins() -> None:
    with cores(1):
        rows = [table_1._row("Ionosphere", line, small_examples(), SIZES) for line in lines(SIZES)]
    by_name = {(row["algorithm"], row["theta"], row["rados"]): row for row in rows}
    compared = [row for row in rows if row["equal_to_plain"] is not None]
    assert len(compared) == 3
    for row in compared:
        assert row["equal_to_plain"] == "yes"
        assert row["same_predictions"] == 1.0
        assert isinstance(row["bytes"], int)
    plain = by_name["ridge", "plain", ALL_RADOS]
    for row in compared[1:]:
        assert row["training_error"] == plain["training_error"]
    hidden = [row for row in rows if row["asked"] is not None]
    assert [row["asked"] for row in hidden] == ["1 of 1 equal"]


def test_thirty_places_come_within_a_millionth_of_floating_point() -> None:
    given = PeerTraining(small_examples(), Recipe(penalty=0.1))
    off = plain_twin(given).coefficients - float_solution(given).coefficients
    assert np.abs(off).max() < 1e-6
    coarse = PeerTraining(small_examples(), Recipe(penalty=0.1, fraction_bits=2))
    off = plain_twin(coarse).coefficients - float_solution(coarse).coefficients
    assert np.abs(off).max() > 1e-6


def test_a_twin_of_rados_draws_the_same_rados() -> None:
    recipe = Recipe(statistics="rados", rados=50, penalty=0.1)
    trained = open_trained(PeerTraining(small_examples(), recipe))
    assert trained.exact
    other = plain_twin(PeerTraining(small_examples(), replace(recipe, rados=51)))
    assert np.abs(other.coefficients - trained.model.coefficients).max() > 1e-6
