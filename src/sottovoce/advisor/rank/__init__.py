"""The rank server's protocol, without I/O: a person learns her rank, nobody her score.

Two modes. `noise`: one server, and every report carries its own noise. `shares`: two servers that
do not collude, and only a noised sum of the reports is ever opened.
"""

from sottovoce.advisor.rank.buckets import Buckets
from sottovoce.advisor.rank.client import RankClient
from sottovoce.advisor.rank.description import Description, RankedTopic
from sottovoce.advisor.rank.edges import fitted_buckets
from sottovoce.advisor.rank.estimate import RankEstimate, estimate_rank
from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.advisor.rank.one_hot import OneHotNoise

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
