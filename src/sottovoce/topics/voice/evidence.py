"""How much a word speaks for a topic: shrunk log-odds of the company that its mentions keep."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRIOR_TEXTS = 30.0
"""Texts' worth of the background's own frequencies added to both sides."""
LEAST_Z = 2.0
"""Log-odds within so many standard errors of 0 count for nothing."""


def evidence_of_words(
    with_mention: Floats, mentions: int, without_mention: Floats, others: int
) -> Floats:
    """The weight of each word, in nats, from how many background texts of each kind hold it.

    a of n texts with a mention and b of m others hold the word, which is in a share q of all;
    lambda is ``PRIOR_TEXTS``. The log-odds (B. Monroe, M. Colaresi and K. Quinn, Fightin' Words,
    Political Analysis, 2008) and their standard error are

        w = ln((a + lambda q) / (n + lambda)) - ln((b + lambda q) / (m + lambda)),
        s = sqrt(1 / (a + lambda q) + 1 / (b + lambda q)),

    and the weight is w (1 - (2 s / w)^2) where w > 2 s, and 0 elsewhere: what few texts show is
    shrunk, as James and Stein would, and a word that speaks against the topic says nothing.
    """
    q = (with_mention + without_mention) / max(mentions + others, 1)
    a = with_mention + PRIOR_TEXTS * q
    b = without_mention + PRIOR_TEXTS * q
    weights: Floats = np.zeros(len(q))
    seen = q > 0
    w = np.log(a[seen] / (mentions + PRIOR_TEXTS)) - np.log(b[seen] / (others + PRIOR_TEXTS))
    z = w / np.sqrt(1.0 / a[seen] + 1.0 / b[seen])
    trusted = z > LEAST_Z
    weights[seen] = np.where(trusted, w * (1.0 - (LEAST_Z / np.where(trusted, z, 1.0)) ** 2), 0.0)
    return weights
