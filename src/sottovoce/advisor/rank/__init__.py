"""The rank server's protocol, without I/O: a person learns their rank, nobody their score.

Two modes. `noise`: one server, and every report carries its own noise (``_noise``). `shares`: two
servers that do not collude verify reports of Prio3, and only a noised sum of them is ever opened
(``_shares`` has the report, ``_opening`` the servers' messages). The person's side is `RankClient`;
a server publishes a `Description`, and a `Histogram` for each topic.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

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
    from sottovoce.advisor.rank._buckets import Buckets
    from sottovoce.advisor.rank._client import RankClient
    from sottovoce.advisor.rank._description import Description, RankedTopic
    from sottovoce.advisor.rank._edges import fitted_buckets
    from sottovoce.advisor.rank._histogram import Histogram, RankEstimate, estimate_rank
    from sottovoce.advisor.rank._noise import OneHotNoise
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Buckets": "sottovoce.advisor.rank._buckets",
            "Description": "sottovoce.advisor.rank._description",
            "Histogram": "sottovoce.advisor.rank._histogram",
            "OneHotNoise": "sottovoce.advisor.rank._noise",
            "RankClient": "sottovoce.advisor.rank._client",
            "RankEstimate": "sottovoce.advisor.rank._histogram",
            "RankedTopic": "sottovoce.advisor.rank._description",
            "estimate_rank": "sottovoce.advisor.rank._histogram",
            "fitted_buckets": "sottovoce.advisor.rank._edges",
        },
    )
