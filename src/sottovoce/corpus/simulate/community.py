"""A simulated community in memory: posts, ground truth, background and topics.

The background is text from the same world: what an adversary learns language from.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.corpus.schema import POSTS, TRUTH
from sottovoce.corpus.simulate._plan import PostPlan, plan_posts
from sottovoce.corpus.simulate.parameters import (
    AFFLICTED,
    INTERESTS,
    PERSONAS,
    SimulationParameters,
    Users,
    World,
    draw_users,
    the_world,
)
from sottovoce.corpus.simulate.text import (
    AMBIGUOUS,
    DIRECT,
    DOMAIN,
    GENERAL,
    INDIRECT,
    KINDS,
    MENTION,
    TextPlan,
    draw_lengths,
    write_texts,
)
from sottovoce.errors import ParameterError

BACKGROUND = pa.schema([pa.field("text", pa.string(), nullable=False)])
# Articles and forum threads name their topic and tell how it feels, so both wordings meet.
BACKGROUND_WORDING = {
    DIRECT: 0.22,
    INDIRECT: 0.18,
    DOMAIN: 0.10,
    AMBIGUOUS: 0.04,
    GENERAL: 0.43,
    MENTION: 0.03,
}
DOCUMENT_LENGTH_SPREAD = 0.6
LONGEST_DOCUMENT = 2000
# Share of a passing mention's words that name the sensitive topic.
MENTION_SHARE = 0.12
# Of the words in a post that are not general speech, by style.
DIRECT_WORDING = {DIRECT: 0.55, INDIRECT: 0.15, DOMAIN: 0.20, AMBIGUOUS: 0.10}
INDIRECT_WORDING = {DIRECT: 0.04, INDIRECT: 0.72, DOMAIN: 0.12, AMBIGUOUS: 0.12}
SMALL_TALK_AMBIGUOUS = 0.02


@dataclass(frozen=True)
class CatalogueTopic:
    """A topic as an adversary or a judge knows it: its salient words, and whether it matters."""

    name: str
    domain: str
    sensitive: bool
    words: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class SimulatedCommunity:
    """``posts`` and ``truth`` share user ids; ``background`` is text by nobody in particular.

    The three are Arrow tables; ``polars.from_arrow(community.posts)`` and
    ``community.posts.to_pandas()`` give frames.

    >>> import sottovoce as sv
    >>> sv.simulate(users=60, weeks=2, background_documents=1).truth.column_names
    ['user', 'topic', 'persona', 'sensitive', 'grade']
    """

    parameters: SimulationParameters
    posts: pa.Table
    truth: pa.Table
    background: pa.Table
    topics: tuple[CatalogueTopic, ...]

    def __repr__(self) -> str:
        posts, documents = self.posts.num_rows, self.background.num_rows
        return (
            f"SimulatedCommunity(users={self.parameters.users}, posts={posts}, "
            f"background_documents={documents}, topics={len(self.topics)})"
        )


def draw_community(parameters: SimulationParameters) -> SimulatedCommunity:
    """Draw a community. Equal parameters give equal communities."""
    world = the_world()
    _check_topics(parameters, world)
    users_rng, plan_rng, text_rng, background_rng = _generators(parameters.seed)
    users = draw_users(parameters, world, users_rng)
    plan = plan_posts(parameters, users, world, plan_rng)
    names = _opaque_ids(parameters.users)
    return SimulatedCommunity(
        parameters=parameters,
        posts=_posts(parameters, users, plan, names, text_rng),
        truth=_truth(parameters, users, names),
        background=draw_background(parameters, world, background_rng),
        topics=_catalogue(parameters, world),
    )


def _check_topics(parameters: SimulationParameters, world: World) -> None:
    known = {topic.name for topic in world.topics}
    unknown = [name for name in parameters.sensitive_topics if name not in known]
    if unknown:
        raise ParameterError(
            f"sensitive_topics must be topics of the simulated world, got {unknown[0]!r}; "
            "docs/reference/simulation.md lists them."
        )
    most = len(world.topics) - INTERESTS
    if len(parameters.sensitive_topics) > most:
        raise ParameterError(
            f"sensitive_topics must be at most {most}, so that everyday topics remain, "
            f"got {len(parameters.sensitive_topics)}."
        )


def _generators(seed: int) -> list[np.random.Generator]:
    """Return one independent stream per purpose, so that changing one leaves the others."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]


def _opaque_ids(count: int) -> pa.Array:
    # Roles fall on users by a random permutation, so a user's number says nothing about them.
    digits = len(str(count - 1))
    return pa.array([f"u{number:0{digits}}" for number in range(count)])


def _posts(
    parameters: SimulationParameters,
    users: Users,
    plan: PostPlan,
    names: pa.Array,
    rng: np.random.Generator,
) -> pa.Table:
    texts = _texts(parameters, users, plan, rng)
    start = datetime.combine(parameters.start, time(), UTC)
    microseconds = (int(start.timestamp()) + plan.second) * 1_000_000
    columns = [
        names.take(pa.array(plan.user)),
        pa.array(microseconds).cast(POSTS.field("time").type),
        write_texts(texts, _mixes(parameters.difficulty.dilution), rng),
    ]
    return pa.table(columns, schema=POSTS)


def _texts(
    parameters: SimulationParameters, users: Users, plan: PostPlan, rng: np.random.Generator
) -> TextPlan:
    lengths = draw_lengths(
        len(plan.user),
        parameters.words_per_post,
        parameters.length_spread,
        parameters.longest_post,
        rng,
    )
    return TextPlan(
        length=lengths,
        mix=plan.style + 3 * plan.mentions,
        subject=plan.subject,
        mention=users.mention_topic[plan.user],
        capitalises=users.capitalises[plan.user],
        punctuates=users.punctuates[plan.user],
    )


def _mixes(dilution: float) -> NDArray[np.float64]:
    """Shares of the kinds of words: by style, then by style with a passing mention."""
    plain = np.zeros((3, KINDS))
    plain[0, [AMBIGUOUS, GENERAL]] = SMALL_TALK_AMBIGUOUS, 1.0 - SMALL_TALK_AMBIGUOUS
    for style, wording in ((1, DIRECT_WORDING), (2, INDIRECT_WORDING)):
        plain[style, list(wording)] = [(1.0 - dilution) * share for share in wording.values()]
        plain[style, GENERAL] = dilution
    mentioning = plain * (1.0 - MENTION_SHARE)
    mentioning[:, -1] = MENTION_SHARE
    return np.concatenate([plain, mentioning])


def _truth(parameters: SimulationParameters, users: Users, names: pa.Array) -> pa.Table:
    """One row per user and sensitive topic; a user's role concerns one of them only."""
    world = the_world()
    topics = len(parameters.sensitive_topics)
    user = np.repeat(np.arange(parameters.users), topics)
    place = np.tile(np.arange(topics), parameters.users)
    numbers = np.array([world.topic_number(name) for name in parameters.sensitive_topics])
    mine = users.topic[user] == numbers[place]
    persona = np.where(mine, users.persona[user], 0)
    columns = [
        names.take(pa.array(user)),
        pa.array(parameters.sensitive_topics).take(pa.array(place)),
        pa.array(PERSONAS).take(pa.array(persona)),
        pa.array(persona == AFFLICTED),
        pa.array(np.where(mine, users.grade[user], 0.0)),
    ]
    return pa.table(columns, schema=TRUTH)


def _catalogue(parameters: SimulationParameters, world: World) -> tuple[CatalogueTopic, ...]:
    return tuple(
        CatalogueTopic(
            name=topic.name,
            domain=topic.domain,
            sensitive=topic.name in parameters.sensitive_topics,
            words=topic.direct,
        )
        for topic in world.topics
    )


def draw_background(
    parameters: SimulationParameters, world: World, rng: np.random.Generator
) -> pa.Table:
    """Draw documents, each about one topic and touching on another; all topics alike."""
    count = parameters.background_documents
    length = draw_lengths(
        count, parameters.words_per_document, DOCUMENT_LENGTH_SPREAD, LONGEST_DOCUMENT, rng
    )
    subject = rng.permutation(np.arange(count) % len(world.topics))
    mix = np.zeros((1, KINDS))
    mix[0, list(BACKGROUND_WORDING)] = list(BACKGROUND_WORDING.values())
    always = np.ones(count, dtype=np.bool_)
    only_mix = np.zeros(count, dtype=np.int64)
    mention = rng.integers(0, len(world.topics), count)
    texts = TextPlan(length, only_mix, subject, mention, always, always)
    return pa.table([write_texts(texts, mix, rng)], schema=BACKGROUND)
