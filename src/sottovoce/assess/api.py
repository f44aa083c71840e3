"""From posts to ranks in one call."""

from collections.abc import Sequence
from typing import Any

from sottovoce.assess.buckets import Bucket
from sottovoce.assess.header import M_KEPT
from sottovoce.assess.measures.catalogue import Measure, chosen_measures
from sottovoce.assess.ranking import Ranking, rank
from sottovoce.assess.scoring import Scoring, named_spaces, needed_spaces, needs_words
from sottovoce.assess.setting import Setting
from sottovoce.corpus.reading import open_posts
from sottovoce.topics.bow import BagOfWords
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Mode, Space


def score(
    posts: Any,  # noqa: ANN401 - a path or a data frame of any library, as open_posts takes it
    space: Space | Sequence[Space],
    catalogue: Catalogue,
    *,
    measures: Sequence[str] = ("all",),
    topics: Sequence[str] | None = None,
    k: float = 0.3,
    m: int = 3,
    bucket: str = "1w",
    mode: Mode = "corrected",
    threads: int | None = None,
) -> Ranking:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    ``posts`` are a path or a data frame with user, time and text; ``space`` is the adversary's
    background knowledge, one model or several (the bag of words is always there); ``topics``
    names those to rank by, the sensitive ones by default. `assess_posts` takes paths and column
    names too, and its ranking explains.

    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> rows = [("ada", "2024-01-01", "a loan"), ("ben", "2024-01-02", "the sea")]
    >>> score(rows, BagOfWords(), Catalogue((Topic("debt", ("loan",), "money", True),))).users
    2
    """
    setting = Setting(k, m, mode)
    spaces = space if isinstance(space, Sequence) else (space,)
    chosen, scoring = plan_scoring(
        catalogue, spaces, measures, bucket=Bucket.parse(bucket), kept=max(m, M_KEPT), mode=mode
    )
    state = scoring.state_of(open_posts(posts), threads=threads)
    return rank(state, chosen, topics=topics, setting=setting)


def plan_scoring(
    catalogue: Catalogue,
    spaces: Sequence[Space],
    measures: Sequence[str],
    *,
    bucket: Bucket = Bucket(1, "w"),  # noqa: B008 - frozen
    kept: int = M_KEPT,
    mode: Mode = "corrected",
    posts: bool = False,
) -> tuple[dict[str, Measure], Scoring]:
    """The measures called ``measures``, and how to score posts for them and no more."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **named_spaces(spaces)}
    chosen = chosen_measures(measures, tuple(given))
    needed = needed_spaces(chosen)
    return chosen, Scoring(
        catalogue,
        [each for name, each in given.items() if name in needed],
        words=bow.scorer(catalogue) if needs_words(chosen) else None,
        bucket=bucket,
        kept=kept,
        mode=mode,
        posts=posts,
    )
