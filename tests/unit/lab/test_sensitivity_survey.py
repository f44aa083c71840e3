"""The survey is compared with catalogues honestly: few points, ranks, chance."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from sottovoce_lab.assess.table_1 import SURVEY_FILE, SURVEY_TOPICS, read_survey, survey_check

from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import InputError

KINDS = {f"kind {number}": (f"topic {number}",) for number in range(8)}
SURVEY = {f"kind {number}": 2.0 + number / 10 for number in range(8)}


def test_every_mapped_topic_is_one_of_the_simulated_world() -> None:
    world = {
        topic.name
        for topic in simulate(
            SimulationParameters(users=60, weeks=2, background_documents=1)
        ).topics
    }
    named = [topic for topics in SURVEY_TOPICS.values() for topic in topics]
    assert set(named) <= world
    assert len(named) == len(set(named))


@pytest.mark.long
def test_the_real_survey_has_every_mapped_kind(shared_data: Path) -> None:
    survey = read_survey(shared_data / SURVEY_FILE)
    assert len(survey) == 33
    assert set(SURVEY_TOPICS) <= set(survey)
    assert all(1 <= mean <= 4 for mean in survey.values())


def test_the_correlation_is_spearman_s_and_its_p_value_near_the_exact_one() -> None:
    ours = dict(
        zip((f"topic {n}" for n in range(8)), (0.1, 0.3, 0.2, 0.2, 0.6, 0.5, 0.9, 0.7), strict=True)
    )
    check = survey_check(ours, SURVEY, kinds=KINDS)
    peer = stats.spearmanr(list(SURVEY.values()), list(ours.values()))
    assert check.correlation == pytest.approx(peer.statistic)
    assert len(check.points) == 8
    assert check.p_value is not None
    assert check.p_value < 0.01


def test_opposite_and_unrelated_opinions_are_not_taken_for_agreement() -> None:
    against = {f"topic {number}": 1 - number / 10 for number in range(8)}
    found = survey_check(against, SURVEY, kinds=KINDS)
    assert found.correlation == pytest.approx(-1.0)
    assert found.p_value == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    chances = [
        survey_check(
            {f"topic {n}": rng.random() for n in range(8)}, SURVEY, kinds=KINDS, seed=s
        ).p_value
        for s in range(200)
    ]
    assert stats.kstest(np.array(chances, np.float64), "uniform").pvalue > 1e-3


def test_a_kind_takes_the_mean_of_its_topics_and_unknown_topics_are_left_out() -> None:
    kinds = {"a": ("x", "y", "z"), "b": ("none",)}
    check = survey_check({"x": 0.0, "y": 1.0}, {"a": 3.0, "b": 2.0}, kinds=kinds)
    (point,) = check.points
    assert (point.topics, point.ours, point.people) == (("x", "y"), 0.5, 3.0)
    assert check.correlation is None


def test_what_is_no_survey_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "survey.parquet"
    with pytest.raises(InputError, match="No such file"):
        read_survey(path)
    path.write_text("none")
    with pytest.raises(InputError, match="it is damaged"):
        read_survey(path)
    pq.write_table(pa.table({"Description": ["a"]}), path)
    with pytest.raises(InputError, match="needs the columns"):
        read_survey(path)
