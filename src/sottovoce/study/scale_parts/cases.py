"""What is measured, along which axes."""

from collections.abc import Iterator
from dataclasses import dataclass

from sottovoce.study.scale_parts.measured import EMBEDDED, SPARK, Case, Figures

AXES = ("size", "posts", "users", "topics")


@dataclass(frozen=True)
class Sizes:
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


QUICK = Sizes(
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
    case: Case
    figures: Figures

    @property
    def place(self) -> int:
        """Where on the axis."""
        return place_on(self.axis, self.case)


def place_on(axis: str, case: Case) -> int:
    return {
        "size": case.posts,
        "posts": case.posts,
        "users": case.users,
        "topics": case.topics,
    }[axis]


def cases_along_axes(sizes: Sizes) -> Iterator[tuple[str, list[Case]]]:
    """The cases of each axis, the smallest first."""
    most = sizes.topics[-1]
    some = (sizes.some_posts, sizes.some_users)
    yield "users", [Case(EMBEDDED, some[0], users, most) for users in sizes.users]
    shares = [(posts, posts * sizes.most_users // sizes.posts[-1]) for posts in sizes.posts]
    yield "size", [Case(EMBEDDED, posts, max(2, users), most) for posts, users in shares[:-1]]
    yield "topics", [Case(EMBEDDED, *some, topics) for topics in sizes.topics]
    ours = [Case(EMBEDDED, posts, sizes.most_users, most) for posts in sizes.posts]
    yield (
        "posts",
        ours + [Case(SPARK, posts, sizes.most_users, most) for posts in sizes.spark_posts],
    )


def with_largest(measured: list[Measured]) -> list[Measured]:
    """The largest log, whose posts are in proportion to its users, is on both axes."""
    most = [each for each in measured if each.axis == "posts" and each.case.engine == EMBEDDED]
    full = [each for each in most if each.case.posts == max(Sizes().posts)]
    return measured + [Measured("size", each.case, each.figures) for each in full]
