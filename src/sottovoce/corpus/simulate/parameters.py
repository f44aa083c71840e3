"""What a simulated community looks like, as numbers; its world, and who is in it.

The numbers are size, personas, habits and difficulty. The world is its domains, topics, and the
words people use for them; the word lists are the files in ``words/``. Roles per sensitive topic,
and how each behaves (``behaviours`` has the numbers):

- *afflicted*: recurring, focused on the topic, mostly indirect wording
- *professional*: the whole domain, direct wording, regular and with many posts
- *curious*: one burst of a few direct posts within a week
- *supporter*: answers others, on the topic and its siblings, mixed wording
- *bystander*: everyday topics only
"""

import tomllib
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.parsing import check_choice

PAPER_TOPICS = ("clinical depression", "drug addiction", "pregnancy", "hiv", "financial debts")
MINIMUM_USERS = 50


def require_within(name: str, value: float, low: float, high: float) -> None:
    # Written so that a NaN is refused too.
    if not low <= value <= high:
        raise ParameterError(f"{name} must be between {low} and {high}, got {value}.")


def require_whole(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(f"{name} must be a whole number, got {value!r}.")
    require_within(name, value, low, high)


@dataclass(frozen=True)
class Difficulty:
    """How hard people concerned are to tell from everyone else.

    ``indirect``: share of their topical posts that do not name the topic.
    ``dilution``: share of everyday words in a post that has a topic.
    ``leakage``: mean share of anyone's posts that mention a sensitive topic in passing.
    ``focus``: mean share of their posts that are topical.
    ``drift``: share of their topical posts that turn to a sibling topic.
    """

    indirect: float
    dilution: float
    leakage: float
    focus: float
    drift: float

    def __post_init__(self) -> None:
        for name in (item.name for item in fields(self)):
            require_within(f"difficulty.{name}", getattr(self, name), 0.0, 1.0)


# Frozen before any risk measure was run on a simulated community: see docs/reference/simulation.md.
DIFFICULTIES = {
    "very-easy": Difficulty(indirect=0.20, dilution=0.45, leakage=0.01, focus=0.50, drift=0.00),
    "easy": Difficulty(indirect=0.50, dilution=0.52, leakage=0.02, focus=0.40, drift=0.04),
    "default": Difficulty(indirect=0.70, dilution=0.60, leakage=0.03, focus=0.33, drift=0.08),
    "hard": Difficulty(indirect=0.82, dilution=0.68, leakage=0.06, focus=0.26, drift=0.12),
    "very-hard": Difficulty(indirect=0.92, dilution=0.76, leakage=0.10, focus=0.20, drift=0.16),
}


def difficulty_named(name: str) -> Difficulty:
    """Return the difficulty level called ``name``."""
    check_choice("difficulty", name, DIFFICULTIES)
    return DIFFICULTIES[name]


@dataclass(frozen=True)
class SimulationParameters:
    """Everything a simulated community depends on; equal parameters give equal files.

    The four shares count users *per sensitive topic*; who has no such role is a bystander.
    ``posts_per_week`` and ``words_per_post`` are medians of log-normal distributions whose
    spreads (standard deviations of the logarithm) follow them. ``week_regularity`` is the shape
    of the gamma distribution of a user's weekly activity: the smaller, the burstier.
    With ``control`` all personas behave like bystanders and differ in name only.

    >>> SimulationParameters(users=60, weeks=2).difficulty == difficulty_named("default")
    True
    """

    users: int = 1000
    weeks: int = 26
    seed: int = 0
    start: date = date(2024, 1, 1)
    difficulty: Difficulty = field(default_factory=lambda: difficulty_named("default"))
    control: bool = False
    sensitive_topics: tuple[str, ...] = PAPER_TOPICS
    afflicted_share: float = 0.03
    professional_share: float = 0.015
    curious_share: float = 0.03
    supporter_share: float = 0.02
    posts_per_week: float = 1.2
    volume_spread: float = 1.0
    week_regularity: float = 0.6
    words_per_post: float = 11.0
    length_spread: float = 0.9
    longest_post: int = 120
    background_documents: int = 10_000
    words_per_document: float = 45.0

    def __post_init__(self) -> None:
        self._check_sizes()
        self._check_habits()
        self._check_roles()

    def _check_sizes(self) -> None:
        require_whole("users", self.users, MINIMUM_USERS, 10_000_000)
        require_whole("weeks", self.weeks, 1, 520)
        require_whole("seed", self.seed, 0, 2**63 - 1)
        require_whole("longest_post", self.longest_post, 1, 2000)
        require_whole("background_documents", self.background_documents, 1, 10_000_000)
        # Beyond these years the last week may not be a date any more.
        require_within("start year", self.start.year, 1970, 9000)

    def _check_habits(self) -> None:
        require_within("posts_per_week", self.posts_per_week, 0.01, 1000.0)
        require_within("volume_spread", self.volume_spread, 0.0, 2.0)
        require_within("week_regularity", self.week_regularity, 0.05, 100.0)
        require_within("words_per_post", self.words_per_post, 1.0, 500.0)
        require_within("length_spread", self.length_spread, 0.0, 2.0)
        require_within("words_per_document", self.words_per_document, 1.0, 500.0)

    def _check_roles(self) -> None:
        for name in ("afflicted_share", "professional_share", "curious_share", "supporter_share"):
            require_within(name, getattr(self, name), 0.0, 1.0)
        if not self.sensitive_topics:
            raise ParameterError("sensitive_topics must name at least one topic, got none.")
        if len(set(self.sensitive_topics)) < len(self.sensitive_topics):
            raise ParameterError("sensitive_topics must not name a topic twice.")
        with_role = sum(self.role_counts.values()) * len(self.sensitive_topics)
        if with_role > self.users:
            raise ParameterError(
                f"personas must fit into {self.users} users, got {with_role} over "
                f"{len(self.sensitive_topics)} sensitive topics; lower the shares or add users."
            )

    @property
    def role_counts(self) -> dict[str, int]:
        """Users per sensitive topic in each role; a share above 0 gives at least one."""
        shares = {
            "afflicted": self.afflicted_share,
            "professional": self.professional_share,
            "curious": self.curious_share,
            "supporter": self.supporter_share,
        }
        return {
            role: max(1, round(share * self.users)) if share > 0 else 0
            for role, share in shares.items()
        }


DOMAINS = ("psychology", "medicine", "finance", "family", "law", "society", "other")

PERSONAS = ("bystander", "afflicted", "professional", "curious", "supporter")
BYSTANDER, AFFLICTED, PROFESSIONAL, CURIOUS, SUPPORTER = range(5)
# What a panel of judges would say on average, low and high end, by persona.
GRADES = ((0.0, 0.0), (0.6, 1.0), (0.02, 0.10), (0.10, 0.25), (0.25, 0.45))

INTERESTS = 4
# How often an everyday interest is from the domain "other".
OTHER_SHARE = 0.55
# How unevenly passing mentions are spread over users: the shape of a gamma distribution.
MENTION_SHAPE = 0.4
UTC_OFFSETS_HOURS = (-8, -6, -5, 0, 1, 2, 8, 10)
CAPITALISING_SHARE = 0.7
PUNCTUATING_SHARE = 0.85


@dataclass(frozen=True)
class WorldTopic:
    """A topic: ``direct`` words name it, ``indirect`` ones are how those it concerns talk."""

    name: str
    domain: str
    direct: tuple[str, ...]
    indirect: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """Every word list. ``domain_words`` has one entry per entry of ``DOMAINS``."""

    topics: tuple[WorldTopic, ...]
    domain_words: tuple[tuple[str, ...], ...]
    function_words: tuple[str, ...]
    everyday_words: tuple[str, ...]
    ambiguous_words: tuple[str, ...]

    def topic_number(self, name: str) -> int:
        """Return the place of the topic called ``name``, or raise ``ValueError``."""
        return [topic.name for topic in self.topics].index(name)


@cache
def the_world() -> World:
    """Read the word lists, once."""
    domains = [_read(domain) for domain in DOMAINS]
    general = _read("general")
    return World(
        topics=tuple(topic for domain in domains for topic in _topics(domain)),
        domain_words=tuple(_words(domain["shared"]) for domain in domains),
        function_words=_words(general["function"]),
        everyday_words=_words(general["everyday"]),
        ambiguous_words=_words(general["ambiguous"]),
    )


def _read(name: str) -> dict[str, Any]:
    text = files(__package__).joinpath("words", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _topics(domain: dict[str, Any]) -> list[WorldTopic]:
    return [
        WorldTopic(
            name=topic["name"],
            domain=domain["domain"],
            direct=_words(topic["direct"]),
            indirect=_words(topic["indirect"]),
        )
        for topic in domain["topic"]
    ]


def _words(comma_separated: str) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in comma_separated.split(","))


@dataclass(frozen=True)
class Behaviour:
    """How a persona posts about its topic.

    ``share`` of its posts have a role subject (but ``fewest`` at least); of these ``on_topic``
    concern the topic itself, the others its siblings, and ``direct`` are worded directly.
    ``volume`` multiplies its number of posts; ``regularity`` the evenness of its weeks.
    """

    share: float
    fewest: int
    on_topic: float
    direct: float
    volume: float
    regularity: float


def behaviours(difficulty: Difficulty) -> tuple[Behaviour, ...]:
    """Return the behaviour of each of ``PERSONAS``."""
    return (
        Behaviour(share=0.0, fewest=0, on_topic=0.0, direct=0.0, volume=1.0, regularity=1.0),
        Behaviour(
            share=difficulty.focus,
            fewest=3,
            on_topic=1.0 - difficulty.drift,
            direct=1.0 - difficulty.indirect,
            volume=1.0,
            regularity=1.0,
        ),
        Behaviour(share=0.5, fewest=3, on_topic=0.2, direct=0.9, volume=2.0, regularity=5.0),
        Behaviour(share=0.0, fewest=2, on_topic=1.0, direct=0.95, volume=1.0, regularity=1.0),
        Behaviour(share=0.35, fewest=3, on_topic=0.55, direct=0.5, volume=1.0, regularity=1.0),
    )


@dataclass(frozen=True)
class Users:
    """One entry (or row) per user. ``persona`` is the label, ``acts_as`` the behaviour."""

    persona: NDArray[np.int64]
    acts_as: NDArray[np.int64]
    topic: NDArray[np.int64]
    grade: NDArray[np.float64]
    focus: NDArray[np.float64]
    weekly_posts: NDArray[np.float64]
    mention_rate: NDArray[np.float64]
    mention_topic: NDArray[np.int64]
    interests: NDArray[np.int64]
    interest_cumulative: NDArray[np.float64]
    utc_offset_hours: NDArray[np.int64]
    capitalises: NDArray[np.bool_]
    punctuates: NDArray[np.bool_]


def draw_users(parameters: SimulationParameters, world: World, rng: np.random.Generator) -> Users:
    """Draw the community's users."""
    count = parameters.users
    sensitive = np.array([world.topic_number(name) for name in parameters.sensitive_topics])
    persona, topic = _roles(parameters, sensitive, rng)
    grade = _grades(persona, rng)
    acts_as = np.zeros_like(persona) if parameters.control else persona
    interests, cumulative = _interests(count, world, sensitive, rng)
    return Users(
        persona=persona,
        acts_as=acts_as,
        topic=topic,
        grade=grade,
        focus=_focus(acts_as, grade, parameters.difficulty),
        weekly_posts=_weekly_posts(parameters, acts_as, rng),
        mention_rate=_mention_rates(parameters, rng),
        mention_topic=rng.choice(sensitive, count),
        interests=interests,
        interest_cumulative=cumulative,
        utc_offset_hours=rng.choice(UTC_OFFSETS_HOURS, count),
        capitalises=rng.random(count) < CAPITALISING_SHARE,
        punctuates=rng.random(count) < PUNCTUATING_SHARE,
    )


def _roles(
    parameters: SimulationParameters, sensitive: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    counts = [parameters.role_counts[role] for role in PERSONAS[1:]]
    persona = np.zeros(parameters.users, dtype=np.int64)
    topic = np.full(parameters.users, -1, dtype=np.int64)
    roles = np.tile(np.repeat(np.arange(1, len(PERSONAS)), counts), len(sensitive))
    holders = rng.permutation(parameters.users)[: len(roles)]
    persona[holders] = roles
    topic[holders] = np.repeat(sensitive, sum(counts))
    return persona, topic


def _grades(persona: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    low, high = np.array(GRADES).T
    grades: NDArray[np.float64] = rng.uniform(low[persona], high[persona])
    return grades


def _focus(
    acts_as: NDArray[np.int64], grade: NDArray[np.float64], difficulty: Difficulty
) -> NDArray[np.float64]:
    share = np.array([behaviour.share for behaviour in behaviours(difficulty)])[acts_as]
    middle = np.mean(GRADES[AFFLICTED])
    # The graver the affliction, the more of a user's posts it takes up.
    return np.clip(np.where(acts_as == AFFLICTED, share * grade / middle, share), 0.0, 1.0)


def _weekly_posts(
    parameters: SimulationParameters, acts_as: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    factor = np.array([item.volume for item in behaviours(parameters.difficulty)])[acts_as]
    spread = np.exp(parameters.volume_spread * rng.standard_normal(parameters.users))
    rates: NDArray[np.float64] = parameters.posts_per_week * spread * factor
    return rates


def _mention_rates(
    parameters: SimulationParameters, rng: np.random.Generator
) -> NDArray[np.float64]:
    scale = parameters.difficulty.leakage / MENTION_SHAPE
    return np.minimum(rng.gamma(MENTION_SHAPE, scale, parameters.users), 1.0)


def _interests(
    users: int, world: World, sensitive: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    everyday = np.setdiff1d(np.arange(len(world.topics)), sensitive)
    is_other = np.array([world.topics[topic].domain == "other" for topic in everyday])
    shares = np.where(is_other, OTHER_SHARE, 1.0 - OTHER_SHARE)
    weights = shares / np.where(is_other, is_other.sum(), (~is_other).sum())
    chosen = rng.choice(everyday, (users, INTERESTS), p=weights / weights.sum())
    return chosen, np.cumsum(rng.dirichlet(np.ones(INTERESTS), users), axis=1)
