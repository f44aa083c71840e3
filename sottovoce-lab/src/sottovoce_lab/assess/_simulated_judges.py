"""Judges who disagree as people do, for studies that have no people to ask.

Their opinions are declared here, not measured: a study with these judges tests the procedure, and
says nothing of what people find sensitive.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sottovoce.corpus.simulate.community import CatalogueTopic
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.profiles import Profile
from sottovoce.topics.judgements.votes import CATEGORIES, Vote

# Log-odds that a judge calls a topic sensitive: by its domain, more if the catalogue says so.
DOMAIN_LOG_ODDS = {
    "psychology": 0.2,
    "medicine": 0.0,
    "finance": -0.4,
    "family": -0.4,
    "law": 0.0,
    "society": -0.4,
    "other": -2.0,
}
SENSITIVE_LOG_ODDS = 1.5
# How much topics of one domain differ, and how much judges do; kappas then are like the paper's.
TOPIC_SPREAD = 0.8
JUDGE_SPREAD = 0.8
RIGHT_DOMAIN = 0.75
# How often a judge of profiles answers against what the profile shows.
SLIP = 0.05


SMALLEST = SimulationParameters(users=60, weeks=2, background_documents=1)


def simulated_catalogue(topics: Sequence[CatalogueTopic]) -> Catalogue:
    """The topics of a simulated community as a catalogue."""
    return Catalogue(
        tuple(Topic(each.name, each.words, each.domain, each.sensitive) for each in topics)
    )


def smallest_catalogue() -> Catalogue:
    """The topics that every simulated community has, from as small a one as there can be."""
    return simulated_catalogue(simulate(SMALLEST).topics)


def topic_ballots(catalogue: Catalogue, judges: int, seed: int) -> list[Vote]:
    """One vote of each judge on each topic: sensitivity, and a domain that is mostly the right."""
    rng = np.random.default_rng((seed, 1))
    level = np.array(
        [
            DOMAIN_LOG_ODDS.get(topic.domain, 0.0) + SENSITIVE_LOG_ODDS * topic.sensitive
            for topic in catalogue
        ]
    )
    level += rng.normal(0.0, TOPIC_SPREAD, len(catalogue))
    lenient = rng.normal(0.0, JUDGE_SPREAD, judges)
    yes = rng.random((len(catalogue), judges)) < 1.0 / (1.0 + np.exp(-level[:, None] - lenient))
    right = rng.random(yes.shape) < RIGHT_DOMAIN
    other = rng.integers(0, len(CATEGORIES), yes.shape)
    return [
        Vote(
            f"judge-{judge + 1}",
            topic.name,
            bool(yes[place, judge]),
            topic.domain if right[place, judge] else CATEGORIES[other[place, judge]],
        )
        for place, topic in enumerate(catalogue)
        for judge in range(judges)
    ]


def profile_ballots(
    profiles: Sequence[Profile], truth: pa.Table, judges: int, seed: int
) -> list[Vote]:
    """One vote of each judge on each profile: yes as often as its true grade, but for slips."""
    rng = np.random.default_rng((seed, 2))
    pairs = zip(truth["user"].to_pylist(), truth["topic"].to_pylist(), strict=True)
    grade = dict(zip(pairs, truth["grade"].to_pylist(), strict=True))
    chance = np.array([grade[profile.user, profile.topic] for profile in profiles])
    chance = SLIP + (1.0 - 2.0 * SLIP) * chance
    yes = rng.random((len(profiles), judges)) < chance[:, None]
    return [
        Vote(f"judge-{judge + 1}", profile.item, bool(yes[place, judge]))
        for place, profile in enumerate(profiles)
        for judge in range(judges)
    ]
