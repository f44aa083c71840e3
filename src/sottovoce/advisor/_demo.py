"""The demo community: simulated people, one click away for a first look."""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.advisor.community import Community
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.assess.ranking import susceptibility
from sottovoce.corpus.schema import POSTS
from sottovoce.topics.lda.train import LdaParameters, train_lda
from sottovoce.topics.match import match_model
from sottovoce.topics.shipped.rules import shipped_catalogue
from sottovoce.topics.voice.model import VoiceModel
from sottovoce.topics.voice.train import train_voice

ROLES: Mapping[str, tuple[int, float]] = {
    "afflicted": (6, 0.4),
    "professional": (2, 0.5),
    "supporter": (3, 0.35),
    "curious": (4, 0.12),
}
"""For each topic so many people of each kind, and the share of their posts that is about it."""
IN_PASSING = 0.02
"""The share of other posts that touch on any topic."""
FEWEST, MOST = 4, 90
INTERESTS = 3
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class DemoPosts:
    """Everybody's posts, and whom which topic afflicts."""

    posts: pa.Table
    afflicted: tuple[tuple[str, str], ...]


def demo_posts(
    topics: Sequence[str], now: datetime, *, users: int, weeks: int, seed: int
) -> DemoPosts:
    """People with a role for one of ``topics`` each, and others; the last post before ``now``."""
    rng = random.Random(seed)  # noqa: S311 - a made-up community, the same each time
    people = _people([topic for topic in topics if topic in sentences()], users, rng)
    rows = [
        (person.name, now - _ago(weeks, rng), text)
        for person in people
        for text in person.texts(_volume(rng))
    ]
    rows.sort(key=lambda row: (row[1], row[0]))
    columns = [list(column) for column in zip(*rows, strict=True)]
    afflicted = tuple((p.topic, p.name) for p in people if p.role == "afflicted")
    return DemoPosts(pa.table(columns, schema=POSTS), afflicted)


def demo_background(topics: Sequence[str], documents: int, seed: int) -> list[str]:
    """Texts of the same world by nobody in particular, all topics and kinds of speakers alike."""
    rng = random.Random(seed)  # noqa: S311 - as above
    known = [topic for topic in topics if topic in sentences()]
    found = []
    for number in range(documents):
        topic, role = known[number % len(known)], list(ROLES)[number // len(known) % len(ROLES)]
        person = _Person("", rng, topic, role)
        found.append(" ".join([*person.on_topic(3), *person.everyday(2)]))
    return found


def start_of_week(time: datetime) -> datetime:
    """Monday, 00:00: a demo that moves by whole weeks stays the same in all but its dates."""
    monday = time.date() - timedelta(days=time.weekday())
    return datetime.combine(monday, datetime.min.time(), UTC)


@cache
def sentences() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """What people of each kind write about each topic."""
    return {topic["name"]: {role: topic[role] for role in ROLES} for topic in _read()["topic"]}


def everyday() -> Mapping[str, Sequence[str]]:
    """What people write about otherwise, by interest."""
    lines: Mapping[str, Sequence[str]] = _read()["everyday"]
    return lines


def fill_slots(line: str, rng: random.Random) -> str:
    """A sentence with its slots filled in."""
    fill = _read()["fill"]
    text = _SLOT.sub(lambda slot: rng.choice(fill[slot[1]]), line)
    return text[:1].upper() + text[1:]


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("demo_posts.toml").read_text("utf-8"))


@dataclass
class _Person:
    name: str
    rng: random.Random
    topic: str = ""
    role: str = ""
    interests: list[str] = field(default_factory=list)
    plain: bool = False
    """Whether they write without capitals and full stops."""

    def __post_init__(self) -> None:
        self.interests = self.rng.sample(sorted(everyday()), INTERESTS)
        self.plain = self.rng.random() < 0.25  # noqa: PLR2004 - a quarter

    def texts(self, count: int) -> Iterator[str]:
        """So many posts of theirs."""
        share = ROLES[self.role][1] if self.role else 0.0
        topical = max(round(share * count), 2) if self.role else 0
        passing = sum(self.rng.random() < IN_PASSING for _ in range(count - topical))
        posts = [*self.on_topic(topical), *self._in_passing(passing)]
        posts += self.everyday(count - len(posts))
        self.rng.shuffle(posts)
        for post in posts:
            yield post.lower().rstrip(".") if self.plain else post

    def on_topic(self, count: int) -> list[str]:
        return self._draw_lines(sentences()[self.topic][self.role] if count else (), count)

    def everyday(self, count: int) -> list[str]:
        chosen = [line for name in self.interests for line in everyday()[name]]
        return self._draw_lines(chosen, count)

    def _in_passing(self, count: int) -> list[str]:
        roles = [self.rng.choice(list(sentences().values())) for _ in range(count)]
        return [
            self._fill_line(self.rng.choice([*one["supporter"], *one["curious"]])) for one in roles
        ]

    def _draw_lines(self, lines: Sequence[str], count: int) -> list[str]:
        """All lines once before any comes again."""
        found: list[str] = []
        while len(found) < count:
            found += self.rng.sample(list(lines), min(len(lines), count - len(found)))
        return [self._fill_line(line) for line in found]

    def _fill_line(self, line: str) -> str:
        return fill_slots(line, self.rng)


def _people(topics: Sequence[str], users: int, rng: random.Random) -> list[_Person]:
    """Roles fall on names by chance, so that a name says nothing about its holder."""
    roles = [
        (topic, role) for topic in topics for role, (many, _) in ROLES.items() for _ in range(many)
    ]
    cast = (roles + [("", "")] * users)[:users]
    rng.shuffle(cast)
    digits = len(str(users - 1))
    return [
        _Person(f"u{number:0{digits}}", rng, topic, role)
        for number, (topic, role) in enumerate(cast)
    ]


def _volume(rng: random.Random) -> int:
    return max(FEWEST, min(MOST, round(rng.lognormvariate(3.0, 0.8))))


def _ago(weeks: int, rng: random.Random) -> timedelta:
    """A moment of the last weeks, by day or in the evening."""
    return timedelta(days=rng.randrange(7 * weeks) + 1, seconds=-rng.randrange(7 * 3600, 24 * 3600))


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
