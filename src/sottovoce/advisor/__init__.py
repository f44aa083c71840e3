"""Where one person stands: their score stays with them, and a server tells ranks without it.

A `Person` in a `Community` asks where they stand, by what evidence, since when, and what if; what
they could do about it is `guidance`. ``rank`` is the protocol by which they learn their place from
a server that never sees their score.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "AdvisorSetting",
    "Community",
    "Person",
    "Post",
    "Standing",
    "guidance",
]

if TYPE_CHECKING:
    from sottovoce.advisor.community import Community
    from sottovoce.advisor.guides import guidance
    from sottovoce.advisor.person import Person
    from sottovoce.advisor.person_values import Post
    from sottovoce.advisor.settings import AdvisorSetting
    from sottovoce.advisor.standing import Standing
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "AdvisorSetting": "sottovoce.advisor.settings",
            "Community": "sottovoce.advisor.community",
            "Person": "sottovoce.advisor.person",
            "Post": "sottovoce.advisor.person_values",
            "Standing": "sottovoce.advisor.standing",
            "guidance": "sottovoce.advisor.guides",
        },
    )
