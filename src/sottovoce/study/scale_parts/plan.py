"""What a community of a billion would take, by what was measured of smaller ones."""

from dataclasses import dataclass

from sottovoce.assess.rank_sketch import body_width

PEOPLE = 10**9
HOURS = 8.0
ERROR = 0.001
EXACT = 0.01
_SHARE_OF_A_NODE = 0.5
_NODE_BYTES = 64 << 30
_CORES_OF_A_NODE = 16


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
class Line:
    """One number of the plan and where it comes from."""

    what: str
    value: float
    unit: str
    because: str


def plan(rates: Rates, users: int = PEOPLE) -> list[Line]:
    """State, shuffle, sketches and cluster for ``users``."""
    posts = users * rates.posts_per_user
    state = users * rates.state_bytes_per_user
    cpu = rates.cpu_s(users)
    cores = cpu / (HOURS * 3600)
    by_cores, by_memory = cores / _CORES_OF_A_NODE, state / (_SHARE_OF_A_NODE * _NODE_BYTES)
    return [
        Line("posts", posts, "posts", f"{rates.posts_per_user:.1f} a user, as in the log"),
        Line("state", state / 1e12, "TB", f"{rates.state_bytes_per_user:,.0f} bytes a user"),
        Line("shuffle, posts grouped by user", state / 1e12, "TB", "each state travels once"),
        Line(
            "shuffle, posts in any order, at most",
            posts * rates.line_bytes / 1e12,
            "TB",
            "a line for every post, where no two of a user meet in one part",
        ),
        Line("processor time", cpu / 3600, "hours", "per post and per user as measured"),
        Line("cores", cores, f"cores for {HOURS:g} hours", "processor time, evenly spread"),
        Line(
            "nodes",
            max(by_cores, by_memory),
            f"of {_CORES_OF_A_NODE} cores and 64 GiB",
            "the larger of what cores and what half the memory for states ask for",
        ),
        *_sketch_lines(users, rates.rankings),
    ]


def _sketch_lines(users: int, rankings: int) -> list[Line]:
    width = body_width(users, ERROR)
    levels = (users // width).bit_length()
    body = 8 * width * (levels + 3)
    return [
        Line("sketch, error", ERROR * users, "ranks", "a bracket is at most so wide, always"),
        Line("sketch, body", body / 1e6, "MB", f"{levels + 3} levels of {width:,} scores"),
        Line("sketch, exact top 1%", 16 * EXACT * users / 1e6, "MB", "16 bytes a score"),
        Line(
            "sketches, all rankings",
            rankings * (body + 16 * EXACT * users) / 1e9,
            "GB",
            f"{rankings} rankings",
        ),
    ]
