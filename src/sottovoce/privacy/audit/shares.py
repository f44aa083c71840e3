"""The audit of a share of noise: its table, its law, and that it is fresh at every draw.

The table is checked as the geometric sampler's are, entry by entry against decimal's own functions.
Draws must have the law of a share in all values (chi-square), no block of them may come a second
time within or between calls, and no run of draws under one key. The chance that a sound share fails
any of these is `LEVEL` at most for each.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sottovoce.privacy.audit._repeats import DRAWS, audit_runs, unlikely_length
from sottovoce.privacy.audit.findings import AuditReport, Finding, repeated_blocks
from sottovoce.privacy.audit.lines import LEVEL
from sottovoce.privacy.audit.sampler import check_sampler
from sottovoce.privacy.randomness import SystemKeystream
from sottovoce.privacy.shares.share import NoiseShare, share_sampler
from sottovoce.privacy.shares.total import SharesLaw

_CALLS = 3
_SAMPLES = 1 << 20
_LEAST_EXPECTED = 20.0
_BINS = 500


def audit_share(share: NoiseShare, *, number: int = DRAWS) -> AuditReport:
    """Audit what ``share`` draws against the law that its parameters claim.

    ``number`` draws of one key are looked through for runs that come again.

    >>> audit_share(NoiseShare(epsilon=1, norm=4, among=3), number=1 << 20).holds
    True
    """
    sampler = share_sampler(share.rate, share.among)
    law = SharesLaw(share.rate, shares=1, among=share.among)
    draws = [share.draw(_SAMPLES) for _ in range(_CALLS)]
    likeliest = float(sampler.table.boundaries[0]) / 2.0**64
    findings = (
        check_sampler(sampler),
        law_of_noise(np.concatenate(draws), law),
        fresh_noise(draws, law),
        audit_runs(
            unlikely_length(likeliest, number),
            lambda wanted: sampler.draw(wanted, SystemKeystream()),
            number,
        ),
    )
    return AuditReport(findings)


def law_of_noise(noise: NDArray[np.signedinteger], law: SharesLaw) -> Finding:
    """The chi-square test of all values against P(Z = z), rare ones on each side together."""
    name = "law of the noise"
    tails = law.at_least(np.arange(1, law.reach + 1))
    reach = int(np.count_nonzero(tails * noise.size > _LEAST_EXPECTED))
    if not reach:
        return Finding(name, holds=True, detail="too few cells to test any value")
    inner = law.probability(np.arange(1 - reach, reach))
    tail = float(law.at_least(reach))
    expected = noise.size * np.concatenate([[tail], inner, [tail]])
    seen = np.bincount(np.clip(noise, -reach, reach) + reach, minlength=2 * reach + 1)
    starts = _full_bins(expected)
    seen, expected = np.add.reduceat(seen, starts), np.add.reduceat(expected, starts)
    chance = float(stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue)
    return Finding(
        name,
        holds=chance >= LEVEL,
        detail=f"{noise.size} cells: a chance of {chance:.2g} for values as far from the law",
    )


def _full_bins(expected: NDArray[np.float64]) -> list[int]:
    """Where bins start: about `_BINS` at most; the last expects enough, having the tail."""
    least = max(_LEAST_EXPECTED, float(expected.sum()) / _BINS)
    starts, filled = [0], 0.0
    for i, number in enumerate(expected.tolist()):
        if filled >= least:
            starts.append(i)
            filled = 0.0
        filled += number
    return starts


def fresh_noise(draws: list[NDArray[np.int64]], law: SharesLaw) -> Finding:
    """Look for blocks that come again, long enough never to do so by chance."""
    number = sum(noise.size for noise in draws)
    length = unlikely_length(law.most_common, number)
    if 2 * length > number:
        return Finding("fresh noise", holds=True, detail="noise is too rare to see it come again")
    return repeated_blocks(draws, length)
