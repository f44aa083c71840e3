"""What an explanation says."""

from dataclasses import dataclass
from datetime import date, datetime

from sottovoce.notebook import html_facts, html_table


@dataclass(frozen=True)
class Position:
    """A score, and the rank it gives among ``users``; None for who is no longer there."""

    score: float | None
    rank: int | None
    users: int


@dataclass(frozen=True)
class Interest:
    """What the measures of a vector space are made of (Definitions 5 to 9)."""

    strength: float
    breadth: float
    persistence: float


@dataclass(frozen=True)
class PostShare:
    """One post: by how much her score would fall without it, and its strength in a space."""

    number: int
    time: datetime
    bucket: date
    adds: float
    strength: float | None = None


@dataclass(frozen=True)
class WordShare:
    """One word, and what it adds to the score."""

    word: str
    adds: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """A user's position for one topic, taken apart; printed it shows no word of hers.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> ranking = sv.assess_posts(community.posts, topics=community.topics, measures="bow")
    >>> ranking.explain("u07", "pregnancy")
    Explanation(rank=9, users=60, posts=1, words=0)
    """

    position: Position
    interest: Interest | None
    posts: tuple[PostShare, ...]
    words: tuple[WordShare, ...]
    without: Position | None
    """Her position if the posts to leave out had never been written."""

    def __repr__(self) -> str:
        rank, users = self.position.rank, self.position.users
        shown = f"rank={rank}, users={users}, posts={len(self.posts)}, words={len(self.words)}"
        return f"Explanation({shown})"

    def _repr_html_(self) -> str:
        """Her position and what adds to it; her posts by their times, never their texts."""
        facts: dict[str, object] = {
            "rank": self.position.rank,
            "of users": self.position.users,
            "score": self.position.score,
        }
        if self.interest is not None:
            facts |= vars(self.interest)
        if self.without is not None:
            facts["rank without the posts left out"] = self.without.rank
        posts = [{"post of": each.time.isoformat(), "adds": each.adds} for each in self.posts]
        words = [{"word": each.word, "adds": each.adds} for each in self.words]
        return html_facts(facts) + html_table(posts) + html_table(words)
