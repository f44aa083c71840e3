"""Scores for several topics together are those for each of them alone."""

import numpy as np
import pytest
from support.communities import CATALOGUE, random_posts

from sottovoce.assess import Setting
from sottovoce.assess._score import plan_scoring
from sottovoce.assess.measures._catalogue import MEASURES


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_topics_together_score_as_each_alone(mode: str) -> None:
    names = ("ent", "diff-priv", "bow", "bow-d", "bow-t", "bow-dt")
    setting = Setting(mode=mode)  # type: ignore[arg-type] # one of both modes
    _, plan = plan_scoring(CATALOGUE, [], names, mode=setting.mode)
    state = plan.state_of(random_posts(9, posts=150).to_batches())
    topics = CATALOGUE.names[::-1]
    for measure in (MEASURES[name] for name in names):
        together = measure.scores(state, topics, setting)
        alone = [measure.score(state, topic, setting) for topic in topics]
        assert np.array_equal(together, alone)
        evident = [int(measure.evident(state, topic).sum()) for topic in topics]
        assert measure.evident_users(state, topics) == evident
