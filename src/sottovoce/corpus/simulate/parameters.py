"""What a simulated community looks like, as numbers: size, personas, habits and difficulty."""

from dataclasses import dataclass, field, fields
from datetime import date

from sottovoce.errors import ParameterError, check_choice

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
