"""Checks on noise that is known cell by cell, because the counts under it were made up.

Whatever writes releases is given documents of known counts; what comes out, less these, must be
independent draws of the two-sided geometric law: in all (a chi-square test of the values), in every
row, column and stride (neither more nor fewer zeros than Binomial(n, p) has), in no two of them the
same, and unrelated to the counts: a word that reached a column which no map says would show. The
chance that sound noise fails any of these is `LEVEL` for each kind of check.
"""

from fractions import Fraction
from math import exp

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from sottovoce.privacy.audit._findings import Finding
from sottovoce.privacy.audit._lines import LEVEL, Published, audit_lines

_LEAST_EXPECTED = 20.0
_STEPS = 200


def audit_law(
    noise: NDArray[np.int64], rate: Fraction, counts: NDArray[np.int64] | None = None
) -> list[Finding]:
    """Whether ``noise`` in a release, of ``counts`` if they are given, is what ``rate`` gives."""
    published = Published(sparse.csr_array(noise), rate)
    return [
        _values(noise, rate),
        _zeros(noise, published),
        *([] if counts is None else [_unrelated(noise, rate, counts)]),
        *audit_lines(published),
    ]


def _unrelated(noise: NDArray[np.int64], rate: Fraction, counts: NDArray[np.int64]) -> Finding:
    """No column's noise goes with the counts of any word.

    For a word with counts y and a column with noise Z, S = sum_i y_i Z_i is bounded by Chernoff:
    P(|S| >= x) <= 2 exp(K(t) - t x) for every t, with K(t) = sum_i ln E exp(t y_i Z).
    """
    pairs = noise.shape[1] * counts.shape[1]
    most = _chernoff(counts, float(rate), np.log(2 * pairs / LEVEL))
    share = np.abs(noise.T @ counts) / most
    return Finding(
        "noise that knows nothing of the counts",
        holds=bool(share.max() < 1),
        detail=f"{pairs} pairs of a column and a word: at most {share.max():.0%} of the sum of "
        "products that chance may give",
    )


def _chernoff(counts: NDArray[np.int64], rate: float, surely: float) -> NDArray[np.float64]:
    """For each word the x that sum_i y_i Z_i exceeds with a chance of exp(-``surely``) at most."""
    # From so far on a draw's moments do not exist.
    steps = np.linspace(0, 1, _STEPS + 2)[1:-1] * rate / counts.max()
    sums = np.zeros((_STEPS, counts.shape[1]))
    for value in np.unique(counts[counts > 0]):
        number = (counts == value).sum(axis=0)
        sums += np.outer(_log_moment(steps * value, rate), number)
    return np.asarray(((sums + surely) / steps[:, None]).min(axis=0))


def _log_moment(at: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """The law's ln E exp(sZ) = 2 ln(1 - alpha) - ln(1 - alpha e^s) - ln(1 - alpha e^-s)."""
    alpha = exp(-rate)
    ends = np.log1p(-alpha * np.exp(at)) + np.log1p(-alpha * np.exp(-at))
    return np.asarray(2 * np.log1p(-alpha) - ends)


def _values(noise: NDArray[np.int64], rate: Fraction) -> Finding:
    """The chi-square test of all values against P(Z = z), tails together."""
    alpha = exp(-float(rate))
    reach = 0
    while noise.size * (1 - alpha) / (1 + alpha) * alpha ** (reach + 1) > _LEAST_EXPECTED:
        reach += 1
    values = np.arange(-reach, reach + 1)
    inner = (1 - alpha) / (1 + alpha) * alpha ** np.abs(values[1:-1])
    tail = alpha**reach / (1 + alpha)
    expected = noise.size * np.concatenate([[tail], inner, [tail]])
    seen = np.bincount(np.clip(noise, -reach, reach).ravel() + reach, minlength=2 * reach + 1)
    if not reach or noise.size == 0:
        return Finding("law of the noise", holds=True, detail="too few cells to test any value")
    chance = float(stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue)
    return Finding(
        "law of the noise",
        holds=chance >= LEVEL,
        detail=f"{noise.size} cells: a chance of {chance:.2g} for values as far from the law",
    )


def _zeros(noise: NDArray[np.int64], published: Published) -> Finding:
    """Every row and column has as many zeros as it should, at least."""
    alarm = LEVEL / sum(noise.shape)
    worst = []
    for axis, line in ((1, "row"), (0, "column")):
        cells = noise.shape[axis]
        least = int(stats.binom.ppf(alarm, cells, published.most_common))
        seen = int((noise == 0).sum(axis=axis).min())
        worst.append((seen >= least, f"a {line} with {seen} zeros, at least {least} must be"))
    return Finding(
        "no more noise in any line", holds=all(holds for holds, _ in worst),
        detail="; ".join(told for _, told in worst),
    )  # fmt: skip
