"""Precision at a cutoff, expected over ties (McSherry and Najork, ECIR 2008)."""

from sottovoce.assess.evaluation.ties import Floats, TiedRanking


def precision_at(ranking: TiedRanking, cutoff: int = 5) -> Floats:
    """R-Susceptibility, Table 4, Prec@5: the share of sensitive users in the first places.

    A community of fewer than ``cutoff`` users leaves places empty, and these count as misses.
    """
    found: Floats = (ranking.relevant * ranking.share_within(float(cutoff))).sum(axis=-1)
    return found / cutoff
