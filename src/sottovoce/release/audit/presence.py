"""Whether published counts hold as much noise as their card says: a gross check on one draw.

True counts are never negative. Of C cells, at least as many come out negative as noise alone makes
of cells whose count is 0, and most cells' are; but how many are 0 is private. What holds for any
counts: a cell with count y comes out at y + Z, so that the number of cells that are not 0 is at
least as likely to be large as if all counts were 0 (P(y + Z = 0) <= P(Z = 0)). So

    non-zero cells  >=  Binomial(C, P(Z != 0))   in distribution,

and likewise from a threshold t on, P(y + Z >= t) >= P(Z >= t). Fewer refute the noise.
"""

from fractions import Fraction

from scipy import sparse, stats

from sottovoce.release.audit.result import AuditReport, Finding
from sottovoce.release.expected import zero_cell_chance

FALSE_ALARM = 1e-9


def audit_presence(
    counts: sparse.csr_array, rate: Fraction, threshold: int | None = None
) -> AuditReport:
    """Refuse counts with fewer cells than noise at ``rate`` leaves of zeros alone."""
    cells = counts.shape[0] * counts.shape[1]
    chance = zero_cell_chance(rate, threshold)
    seen = int(counts.count_nonzero())
    least = int(stats.binom.ppf(FALSE_ALARM, cells, chance))
    finding = Finding(
        name="noise in the published counts",
        holds=seen >= least,
        detail=f"{seen} of {cells} cells are not 0; noise alone leaves at least {least}",
    )
    return AuditReport((finding,))
