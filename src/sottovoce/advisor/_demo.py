"""The demo community: simulated people, one click away for a first look."""

from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec

import pyarrow.compute as pc

from sottovoce.advisor._demo_posts import DemoPosts, demo_background, demo_posts, start_of_week
from sottovoce.advisor.community import Community
from sottovoce.advisor.settings import AdvisorSetting
from sottovoce.assess.ranking import susceptibility
from sottovoce.topics.lda.train import LdaParameters, train_lda
from sottovoce.topics.match import match_model
from sottovoce.topics.shipped.rules import shipped_catalogue
from sottovoce.topics.voice.model import VoiceModel
from sottovoce.topics.voice.train import train_voice

USERS, WEEKS, SEED = 500, 26, 7
EXAMPLE_TOPICS = ("alcohol", "debt", "depression", "drug addiction")
BACKGROUND = 3000
# One worker, so that a seed gives one model.
LATENT = LdaParameters(topics=100, iterations=60, burn_in=15, seed=8, workers=1)


def demo_community(setting: AdvisorSetting) -> Community:
    """500 made-up people over the last half year, the same each time but for the dates.

    Ranked by what people write who speak of themselves, learnt from texts of their world. A latent
    model of it is learnt, in a second or two, once a measure asks for it.
    """
    made = _demo()
    return made if setting == made.setting else made.with_setting(setting)


@cache
def _demo() -> Community:
    made, catalogue = _posts(), shipped_catalogue()
    community = Community.from_posts(made.posts, [_voice()], catalogue, AdvisorSetting("voice-t"))
    community.now = pc.max(made.posts["time"]).as_py()
    community.example, community.simulated = _example(community, made), True
    if find_spec("tomotopy") is not None:
        community.learnable = {"lda": _latent_demo}
    return community


@cache
def _posts() -> DemoPosts:
    now = start_of_week(datetime.now(UTC))
    return demo_posts(shipped_catalogue().names, now, users=USERS, weeks=WEEKS, seed=SEED)


@cache
def _background() -> list[str]:
    return demo_background(shipped_catalogue().names, BACKGROUND, SEED + 1)


@cache
def _voice() -> VoiceModel:
    return train_voice(_background())


def _latent_demo(setting: AdvisorSetting) -> Community:
    made = _learnt()
    return made if setting == made.setting else made.with_setting(setting)


@cache
def _learnt() -> Community:
    """The same people, and an adversary who has learnt a topic model from texts of their world."""
    plain, model = _demo(), train_lda(_background(), LATENT)
    catalogue = match_model(plain.catalogue, model).without_unmatched()
    setting = AdvisorSetting("lda-t")
    community = Community.from_posts(_posts().posts, (_voice(), model), catalogue, setting)
    community.now, community.example, community.simulated = plain.now, plain.example, True
    return community


def _example(community: Community, made: DemoPosts) -> str:
    """Of those whom one of a few topics afflicts, the one who stands highest for it."""
    places = {topic: _places(community, topic) for topic in EXAMPLE_TOPICS}
    afflicted = [pair for pair in made.afflicted if pair[0] in EXAMPLE_TOPICS]
    return min((places[topic][user], user) for topic, user in afflicted)[1]


def _places(community: Community, topic: str) -> dict[str, int]:
    setting, state = community.setting, community.state
    if state is None:
        return {}
    scores = setting.how().score(state, topic, setting.risk)
    return dict(zip(community.users, susceptibility(scores).tolist(), strict=True))
