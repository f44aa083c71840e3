"""The demo community: simulated people, one click away for a first look."""

from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import pyarrow.compute as pc

from sottovoce.advisor._community import Community
from sottovoce.advisor._settings import AdvisorSetting
from sottovoce.assess._ranking import susceptibility
from sottovoce.corpus.simulate import SimulatedCommunity as Simulated
from sottovoce.corpus.simulate import SimulationParameters, difficulty_named, simulate
from sottovoce.topics._catalogue import Catalogue, Topic
from sottovoce.topics._match import match_model
from sottovoce.topics.lda import LdaParameters, train_lda

PARAMETERS = SimulationParameters(
    users=500, weeks=26, seed=7, difficulty=difficulty_named("easy"), background_documents=1
)
BACKGROUND = 3000
# One worker, so that a seed gives one model.
LATENT = LdaParameters(topics=60, iterations=60, burn_in=15, seed=8, workers=1)


def demo_community(setting: AdvisorSetting) -> Community:
    """500 simulated people over half a year, the same each time.

    A latent model of their world is learnt, in a second or two, once a measure asks for it.
    """
    made = _demo()
    return made if setting == made.setting else made.with_setting(setting)


@cache
def _demo() -> Community:
    simulated = simulate(PARAMETERS)
    community = Community.from_posts(
        simulated.posts, (), demo_catalogue(simulated), AdvisorSetting()
    )
    community.now = pc.max(simulated.posts["time"]).as_py()
    community.example = _example(community, simulated)
    if find_spec("tomotopy") is not None:
        community.learnable = {"lda": _latent_demo}
    return community


def _latent_demo(setting: AdvisorSetting) -> Community:
    made = _learnt()
    return made if setting == made.setting else made.with_setting(setting)


@cache
def _learnt() -> Community:
    """The same people, and an adversary who has learnt from texts of their world."""
    plain = _demo()
    world = simulate(replace(PARAMETERS, background_documents=BACKGROUND))
    model = train_lda(world.background["text"].to_pylist(), LATENT)
    catalogue = match_model(plain.catalogue, model).without_unmatched()
    community = Community.from_posts(world.posts, [model], catalogue, AdvisorSetting("lda-dt"))
    community.now, community.example = plain.now, plain.example
    return community


def demo_catalogue(simulated: Simulated) -> Catalogue:
    """The topics that share a domain with a sensitive one: no measure looks at any other."""
    domains = {topic.domain for topic in simulated.topics if topic.sensitive}
    return Catalogue(
        tuple(
            Topic(topic.name, topic.words, topic.domain, topic.sensitive)
            for topic in simulated.topics
            if topic.domain in domains
        )
    )


def _example(community: Community, simulated: Simulated) -> str:
    """Of those whom a topic afflicts, the one who stands highest for it."""
    afflicted = simulated.truth.filter(simulated.truth["sensitive"])
    pairs = zip(afflicted["topic"].to_pylist(), afflicted["user"].to_pylist(), strict=True)
    places = {topic: _places(community, topic) for topic in community.topics}
    found = min((places[topic].get(user, len(simulated.truth)), user) for topic, user in pairs)
    return str(found[1])


def _places(community: Community, topic: str) -> dict[str, int]:
    setting, state = community.setting, community.state
    if state is None:
        return {}
    scores = setting.how().score(state, topic, setting.risk)
    return dict(zip(community.users, susceptibility(scores).tolist(), strict=True))
