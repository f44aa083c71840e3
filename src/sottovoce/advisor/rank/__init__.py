"""The rank server's protocol, without I/O: a person learns her rank, nobody her score.

Two modes. `noise`: one server, and every report carries its own noise. `shares`: two servers that
do not collude, and only a noised sum of the reports is ever opened.
"""

from sottovoce.advisor.rank._buckets import Buckets
from sottovoce.advisor.rank._client import RankClient
from sottovoce.advisor.rank._description import Description, RankedTopic
from sottovoce.advisor.rank._edges import fitted_buckets
from sottovoce.advisor.rank._histogram import Histogram, RankEstimate, estimate_rank
from sottovoce.advisor.rank._noise import OneHotNoise

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
