"""Disclosure: whether a post says of its author that a topic applies to them, whatever the crowd.

Begin with `_disclosures`, the calls, and ``tables/frames.toml``, the rules. `_tokens` makes plain
words of a post, `_frames` and `_terms` make rules and a topic's words ready. `_read` applies them:
`_said`, `_fragments` and `_inferred`. `_context` says why a sentence that fits is no statement of
its author; `_counts` is for communities.
"""

from sottovoce.assess.disclosure._counts import TopicCounts, disclosure_counts
from sottovoce.assess.disclosure._disclosures import DisclosureReader, disclosures
from sottovoce.assess.disclosure._levels import Disclosure, DisclosureLevel

__all__ = [
    "Disclosure",
    "DisclosureLevel",
    "DisclosureReader",
    "TopicCounts",
    "disclosure_counts",
    "disclosures",
]


def __dir__() -> list[str]:
    return sorted(__all__)
