"""Precision at r, where r is the number of sensitive users.

Ties: J. McSherry and M. Najork, Computing information retrieval performance measures efficiently
in the presence of tied scores (ECIR 2008).
"""

import numpy as np

from sottovoce.assess.evaluation.ties import Flags, Floats, TiedRanking, TieOrder


def expected_hits(ranking: TiedRanking) -> Floats:
    """How many of the r sensitive users stand within the first r places, on average over ties."""
    wanted = ranking.relevant.sum(axis=-1)
    hits: Floats = (ranking.relevant * ranking.share_within(wanted)).sum(axis=-1)
    return hits


def r_precision(ranking: TiedRanking) -> Floats:
    """R-Susceptibility, Section 5.1.5, R-Precision: the share of hits among the first r users."""
    share: Floats = expected_hits(ranking) / ranking.relevant.sum(axis=-1)
    return share


def hits_of_sensitive_users(order: TieOrder, sensitive: Flags) -> Floats:
    """For each sensitive user, the probability that she stands within the first r places.

    Their mean over topics and users is the micro-averaged R-precision (Section 5.1.6).
    """
    size = order.totals(np.ones(len(sensitive)))
    ranking = TiedRanking(size, order.totals(sensitive), np.zeros_like(size))
    share = ranking.share_within(ranking.relevant.sum(axis=-1))
    return order.shared(share)[sensitive]
