"""What a community's posts say, as counts: how many, never who."""

from collections.abc import Iterable
from typing import NamedTuple

from sottovoce.assess.disclosure._disclosures import DisclosureReader
from sottovoce.assess.disclosure._levels import DisclosureLevel
from sottovoce.topics.catalogue import Catalogue


class TopicCounts(NamedTuple):
    """Of a community's posts, how many are about a topic, and how many say it outright.

    >>> TopicCounts("debt", about=3, outright=1).outright
    1
    """

    topic: str
    about: int
    """Posts that are about the topic, those that say it outright among them."""
    outright: int


def disclosure_counts(
    posts: Iterable[str], catalogue: Catalogue | None = None
) -> tuple[TopicCounts, ...]:
    """How many of a community's posts are about each topic, and how many say it outright.

    This is all there is of disclosure over a community: texts go in without their authors, counts
    come out. What a post says of its author is for that author, see ``disclosures``.

    >>> counts = disclosure_counts(["I'm in debt.", "Debt is rising.", "A walk by the sea."])
    >>> [count for count in counts if count.about]
    [TopicCounts(topic='debt', about=2, outright=1)]
    """
    reader = DisclosureReader(catalogue)
    about = dict.fromkeys((topic.name for topic in reader.topics), 0)
    outright = dict(about)
    for found in reader.read_all(posts):
        for told in found:
            about[told.topic] += 1
            outright[told.topic] += told.level is DisclosureLevel.OUTRIGHT
    return tuple(TopicCounts(name, about[name], outright[name]) for name in about)
