"""What the demo says of a community is what the community is."""

import numpy as np

from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import salient_words_by_user, simulate
from sottovoce.demo import demo


def test_salient_words_are_told_by_the_persona_of_their_user_and_topic() -> None:
    community = simulate(SimulationParameters(users=200, weeks=6, background_documents=1))
    topics = community.parameters.sensitive_topics
    users = community.truth["user"].unique().to_pylist()
    counts = salient_words_by_user(community)
    expected: dict[str, list[float]] = {}
    for row in community.truth.to_pylist():
        value = counts[topics.index(row["topic"]), users.index(row["user"])]
        expected.setdefault(row["persona"], []).append(value)
    shown = demo.salient_words_by_persona(community)
    assert {name: sorted(values) for name, values in shown.items()} == {
        name: sorted(values) for name, values in expected.items()
    }
    assert np.median(shown["professional"]) > np.median(shown["bystander"])
