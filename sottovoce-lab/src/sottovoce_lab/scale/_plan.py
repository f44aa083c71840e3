"""What is measured, along which axes, and what a billion users would take by that."""

from collections.abc import Iterator
from dataclasses import dataclass

from sottovoce_spark.rank_sketch import body_width

from sottovoce_lab.scale.measure import EMBEDDED, SPARK, Figures, ScaleCase

PEOPLE = 10**9
HOURS = 8.0
ERROR = 0.001
EXACT = 0.01
_SHARE_OF_A_NODE = 0.5
_NODE_BYTES = 64 << 30
_CORES_OF_A_NODE = 16
_DISK_BYTES_PER_S = 200e6


@dataclass(frozen=True)
class Rates:
    """What one user and one post take on one machine."""

    cpu_s_per_post: float
    ranking_cpu_s_per_user: float
    state_bytes_per_user: float
    line_bytes: int
    posts_per_user: float
    rankings: int

    def cpu_s(self, users: int) -> float:
        """Processor time of ``users`` and their posts."""
        return users * (self.posts_per_user * self.cpu_s_per_post + self.ranking_cpu_s_per_user)


@dataclass(frozen=True)
class PlanLine:
    """One number of the plan and where it comes from."""

    what: str
    value: float
    unit: str
    because: str


def plan(rates: Rates, users: int = PEOPLE) -> list[PlanLine]:
    """State, shuffle, sketches and cluster for ``users``."""
    posts = users * rates.posts_per_user
    state = users * rates.state_bytes_per_user
    cpu = rates.cpu_s(users)
    cores = cpu / (HOURS * 3600)
    asked = nodes_asked(rates, users)
    return [
        PlanLine("posts", posts, "posts", f"{rates.posts_per_user:.1f} a user, as in the log"),
        PlanLine("state", state / 1e12, "TB", f"{rates.state_bytes_per_user:,.0f} bytes a user"),
        PlanLine("shuffle, posts grouped by user", state / 1e12, "TB", "each state travels once"),
        PlanLine(
            "shuffle, posts in any order, at most",
            posts * rates.line_bytes / 1e12,
            "TB",
            "a line for every post, where no two of a user meet in one part",
        ),
        PlanLine("processor time", cpu / 3600, "hours", "per post and per user as measured"),
        PlanLine("cores", cores, f"cores for {HOURS:g} hours", "processor time, evenly spread"),
        PlanLine(
            "nodes",
            max(asked["cores"], asked["memory"]),
            f"of {_CORES_OF_A_NODE} cores and 64 GiB",
            "the larger of what cores and what half the memory for states ask for",
        ),
        *_bottlenecks(asked),
        *_sketch_lines(users, rates.rankings),
    ]


def nodes_asked(rates: Rates, users: int = PEOPLE) -> dict[str, float]:
    """How many nodes each thing would ask for by itself, to be done in time."""
    in_time = HOURS * 3600
    shuffled = users * rates.posts_per_user * rates.line_bytes
    return {
        "memory": users * rates.state_bytes_per_user / (_SHARE_OF_A_NODE * _NODE_BYTES),
        "shuffle": 2 * shuffled / (_DISK_BYTES_PER_S * in_time),
        "cores": rates.cpu_s(users) / (_CORES_OF_A_NODE * in_time),
    }


_WHY = {
    "memory": "states of all users at once, in half the memory; parts one after another ask less",
    "shuffle": "posts in any order, written and read at 200 MB/s a node; grouped by user far less",
    "cores": "processor time alone",
}


def _bottlenecks(asked: dict[str, float]) -> list[PlanLine]:
    """The two things that ask for most nodes."""
    worst = sorted(asked, key=lambda name: -asked[name])[:2]
    return [
        PlanLine(f"bottleneck {place}: {name}", asked[name], "nodes", _WHY[name])
        for place, name in enumerate(worst, start=1)
    ]


def _sketch_lines(users: int, rankings: int) -> list[PlanLine]:
    width = body_width(users, ERROR)
    levels = (users // width).bit_length()
    body = 8 * width * (levels + 3)
    return [
        PlanLine("sketch, error", ERROR * users, "ranks", "a bracket is at most so wide, always"),
        PlanLine("sketch, body", body / 1e6, "MB", f"{levels + 3} levels of {width:,} scores"),
        PlanLine("sketch, exact top 1%", 16 * EXACT * users / 1e6, "MB", "16 bytes a score"),
        PlanLine(
            "sketches, all rankings",
            rankings * (body + 16 * EXACT * users) / 1e9,
            "GB",
            f"{rankings} rankings",
        ),
    ]


AXES = ("size", "posts", "users", "topics")


@dataclass(frozen=True)
class ScaleSizes:
    """What is measured."""

    posts: tuple[int, ...] = (100_000, 300_000, 1_000_000, 3_000_000, 13_000_000)
    users: tuple[int, ...] = (10_000, 30_000, 107_000)
    topics: tuple[int, ...] = (25, 50, 100, 200)
    some_posts: int = 300_000
    some_users: int = 30_000
    spark_posts: tuple[int, ...] = (100_000, 300_000, 1_000_000)
    seconds: float = 180.0

    @property
    def most_users(self) -> int:
        """The size of the community whose posts grow."""
        return self.users[-1]


QUICK = ScaleSizes(
    posts=(4_000, 8_000),
    users=(200, 400),
    topics=(10, 20),
    some_posts=4_000,
    some_users=400,
    spark_posts=(),
    seconds=60.0,
)


@dataclass(frozen=True)
class Measured:
    """A case along one axis, and what it took."""

    axis: str
    case: ScaleCase
    figures: Figures

    @property
    def place(self) -> int:
        """Where on the axis."""
        return place_on(self.axis, self.case)


def place_on(axis: str, case: ScaleCase) -> int:
    return {
        "size": case.posts,
        "posts": case.posts,
        "users": case.users,
        "topics": case.topics,
    }[axis]


def cases_along_axes(sizes: ScaleSizes) -> Iterator[tuple[str, list[ScaleCase]]]:
    """The cases of each axis, the smallest first."""
    most = sizes.topics[-1]
    some = (sizes.some_posts, sizes.some_users)
    yield "users", [ScaleCase(EMBEDDED, some[0], users, most) for users in sizes.users]
    shares = [(posts, posts * sizes.most_users // sizes.posts[-1]) for posts in sizes.posts]
    yield "size", [ScaleCase(EMBEDDED, posts, max(2, users), most) for posts, users in shares[:-1]]
    yield "topics", [ScaleCase(EMBEDDED, *some, topics) for topics in sizes.topics]
    ours = [ScaleCase(EMBEDDED, posts, sizes.most_users, most) for posts in sizes.posts]
    yield (
        "posts",
        ours + [ScaleCase(SPARK, posts, sizes.most_users, most) for posts in sizes.spark_posts],
    )


def with_largest(measured: list[Measured]) -> list[Measured]:
    """The largest log, whose posts are in proportion to its users, is on both axes."""
    most = [each for each in measured if each.axis == "posts" and each.case.engine == EMBEDDED]
    full = [each for each in most if each.case.posts == max(ScaleSizes().posts)]
    return measured + [Measured("size", each.case, each.figures) for each in full]
