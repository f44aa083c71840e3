"""The rank server's protocol, without I/O: a person learns their rank, nobody their score.

Two modes. `noise`: one server, and every report carries its own noise (``_noise``). `shares`: two
servers that do not collude verify reports of Prio3, and only a noised sum of them is ever opened
(``_shares`` has the report, ``_opening`` the servers' messages). The person's side is `RankClient`;
a server publishes a `Description`, and a `Histogram` for each topic.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Buckets",
    "Description",
    "Histogram",
    "OneHotNoise",
    "RankClient",
    "RankEstimate",
    "RankedTopic",
    "estimate_rank",
    "fitted_buckets",
]

if TYPE_CHECKING:
    from sottovoce.advisor.rank.buckets import Buckets
    from sottovoce.advisor.rank.client import RankClient
    from sottovoce.advisor.rank.description import Description, RankedTopic
    from sottovoce.advisor.rank.edges import fitted_buckets
    from sottovoce.advisor.rank.histogram import Histogram, RankEstimate, estimate_rank
    from sottovoce.advisor.rank.noise import OneHotNoise
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Buckets": "sottovoce.advisor.rank.buckets",
            "Description": "sottovoce.advisor.rank.description",
            "Histogram": "sottovoce.advisor.rank.histogram",
            "OneHotNoise": "sottovoce.advisor.rank.noise",
            "RankClient": "sottovoce.advisor.rank.client",
            "RankEstimate": "sottovoce.advisor.rank.histogram",
            "RankedTopic": "sottovoce.advisor.rank.description",
            "estimate_rank": "sottovoce.advisor.rank.histogram",
            "fitted_buckets": "sottovoce.advisor.rank.edges",
        },
    )
