"""Whatever the parameters, a simulated community is well formed."""

import tomllib
from datetime import date

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.corpus.simulate.community import CatalogueTopic
from sottovoce.corpus.simulate.parameters import Difficulty, SimulationParameters
from sottovoce.corpus.simulate.write import simulate, topics_toml
from sottovoce.errors import ParameterError

SHARE = st.floats(0.0, 1.0)
DIFFICULTY = st.builds(
    Difficulty, indirect=SHARE, dilution=SHARE, leakage=SHARE, focus=SHARE, drift=SHARE
)
PARAMETERS = st.builds(
    SimulationParameters,
    users=st.integers(50, 70),
    weeks=st.integers(1, 5),
    seed=st.integers(0, 2**63 - 1),
    start=st.dates(date(1970, 1, 1), date(2100, 1, 1)),
    difficulty=DIFFICULTY,
    control=st.booleans(),
    afflicted_share=st.floats(0.0, 0.05),
    professional_share=st.floats(0.0, 0.05),
    curious_share=st.floats(0.0, 0.03),
    supporter_share=st.floats(0.0, 0.03),
    posts_per_week=st.floats(0.01, 3.0),
    volume_spread=st.floats(0.0, 1.0),
    longest_post=st.integers(1, 40),
    background_documents=st.integers(1, 20),
)

CATALOGUE_TOPIC = st.builds(
    CatalogueTopic,
    name=st.text(),
    domain=st.text(),
    sensitive=st.booleans(),
    words=st.lists(st.text()).map(tuple),
)


@settings(deadline=None, max_examples=40)
@given(PARAMETERS)
def test_any_community_is_well_formed(parameters: SimulationParameters) -> None:
    community = simulate(parameters)
    assert community.background.num_rows == parameters.background_documents
    assert community.truth.num_rows == parameters.users * 5
    ids = community.truth["user"].unique()
    assert set(community.posts["user"].unique().to_pylist()) == set(ids.to_pylist())
    seconds = pc.divide(community.posts["time"].cast("int64"), 1_000_000)
    first = (parameters.start - date(1970, 1, 1)).days * 86_400
    assert first <= pc.min(seconds).as_py()
    assert pc.max(seconds).as_py() < first + parameters.weeks * 604_800
    assert pc.min(pc.utf8_length(community.posts["text"])).as_py() >= 1


@given(
    st.sampled_from(["indirect", "dilution", "leakage", "focus", "drift"]),
    st.floats().filter(lambda value: not 0.0 <= value <= 1.0),
)
def test_difficulty_outside_zero_to_one_is_refused(name: str, value: float) -> None:
    shares = dict.fromkeys(["indirect", "dilution", "leakage", "focus", "drift"], 0.5)
    with pytest.raises(ParameterError, match=name):
        Difficulty(**{**shares, name: value})


@given(st.lists(CATALOGUE_TOPIC, min_size=1))
def test_any_catalogue_survives_the_way_through_toml(topics: list[CatalogueTopic]) -> None:
    tables = tomllib.loads(topics_toml(topics))["topic"]
    back = [CatalogueTopic(**{**table, "words": tuple(table["words"])}) for table in tables]
    assert back == topics
