"""The plain rows of Table 1 on Ionosphere."""

from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import CorpusError, ParameterError
from sottovoce.study.learn_parts.ionosphere import Examples, ionosphere
from sottovoce.study.learn_parts.plain_rows import LEARNERS, plain_rows

QUICK = tuple(learner for learner in LEARNERS if learner.rados in {None, 100, 1000})


@pytest.fixture
def examples(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> Examples:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(shared_data))
    return ionosphere()


def test_ionosphere_is_as_published(examples: Examples) -> None:
    assert examples.rows.shape == (351, 34)
    assert (examples.signs == 1).sum() == 225
    assert not examples.rows[:, 1].any()


def test_every_learner_beats_the_majority_by_far_and_the_closed_forms_come_close_to_logistic(
    examples: Examples,
) -> None:
    # 126 of 351 returns are bad: calling all good errs on 0.359 of them.
    learners = tuple(one for one in QUICK if one.name != "radoLearn, descent")
    rows = plain_rows(examples, repeats=1, learners=learners)
    errors = {
        (row["learner"], row["rados"]): float(str(row["cross_validation_error"])) for row in rows
    }
    assert max(errors.values()) < 0.2
    logistic = errors["logistic regression (baseline)", None]
    assert abs(errors["ridge, from sums", None] - logistic) < 0.04
    assert abs(errors["radoLearn, M-loss", 1000] - errors["ridge, from sums", None]) < 0.03


def test_learners_that_learn_nothing_are_seen_to(examples: Examples) -> None:
    shuffled = np.random.default_rng(0).permutation(examples.signs)
    (row,) = plain_rows(Examples(examples.rows, shuffled), repeats=1, learners=(LEARNERS[-2],))
    assert float(str(row["cross_validation_error"])) > 0.3


def test_no_repeats_are_refused(examples: Examples) -> None:
    with pytest.raises(ParameterError, match="repeats"):
        plain_rows(examples, repeats=0)


def test_a_broken_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ionosphere.csv").write_text("1,2,g\n")
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match="35 columns"):
        ionosphere()
