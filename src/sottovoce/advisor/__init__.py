"""Where one person stands: their score stays with them, and a server tells ranks without it.

A `Person` in a `Community` asks where they stand, by what evidence, since when, and what if; what
they could do about it is `guidance`. ``rank`` is the protocol by which they learn their place from
a server that never sees their score.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "AdvisorSetting",
    "AlertStore",
    "Community",
    "Person",
    "Post",
    "ScoreHistogram",
    "Standing",
    "guidance",
    "published_histograms",
]

if TYPE_CHECKING:
    from sottovoce.advisor._alert_store import AlertStore
    from sottovoce.advisor._community import Community
    from sottovoce.advisor._crowd import ScoreHistogram, published_histograms
    from sottovoce.advisor._guidance import guidance
    from sottovoce.advisor._person import Person
    from sottovoce.advisor._person_values import Post
    from sottovoce.advisor._settings import AdvisorSetting
    from sottovoce.advisor._standing import Standing
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "AdvisorSetting": "sottovoce.advisor._settings",
            "AlertStore": "sottovoce.advisor._alert_store",
            "Community": "sottovoce.advisor._community",
            "Person": "sottovoce.advisor._person",
            "Post": "sottovoce.advisor._person_values",
            "ScoreHistogram": "sottovoce.advisor._crowd",
            "Standing": "sottovoce.advisor._standing",
            "guidance": "sottovoce.advisor._guidance",
            "published_histograms": "sottovoce.advisor._crowd",
        },
    )
