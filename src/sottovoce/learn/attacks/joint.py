"""All documents at once from X'X: relaxed reflections between two sets that both hold X.

One set is every matrix with that X'X whose columns add up, label by label, to the opened totals:
its nearest point is a polar factor. The other is 0/1 matrices with those totals: its nearest point
has the largest values of each column as ones. Documents are told apart by nothing but their label,
so that those of one label stand together. No word, label or other text needs to be known.
"""

import time
from itertools import cycle
from typing import Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sottovoce.learn.attacks.opening import OpenedSums

Small = NDArray[np.float32]
STEPS = (0.2, 0.1, 0.3)
_LOOK = 25  # steps between two looks at how far X'X is off
_RANK = 1e-9  # of the largest eigenvalue: below there are none
_STALE = 4000  # steps without gain before another start


class JointAttack:
    """The two sets of one opening, and the way between them.

    Attributes:
        rows: the best documents so far,
        off: and by how much their X'X differs, summed up over all pairs.
    """

    def __init__(self, opening: OpenedSums) -> None:
        self.rows, self.off = np.zeros((0, len(opening.words))), np.inf
        sizes = opening.sizes[opening.sizes > 0]
        self._products, totals = opening.products, opening.totals[opening.sizes > 0]
        self._ones, ends = np.rint(totals).astype(np.int64), np.cumsum(sizes)
        self._blocks = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        means = totals / sizes[:, None]
        self._means: Small = np.repeat(means, sizes, axis=0).T.astype(np.float32)
        inner = opening.products - means.T @ totals
        values, vectors = np.linalg.eigh(inner)
        real = values > _RANK * values[-1]
        self._roots = vectors[:, real] * np.sqrt(values[real])
        # Distances are measured in each column's own spread: rare words say as much as common ones.
        spread = np.maximum(np.diag(inner), 1e-6 * np.diag(inner).max())
        self._turn: Small = (self._roots / spread[:, None]).T.astype(np.float32)
        self._chance = np.random.default_rng(0)

    def run(self, seconds: float) -> Self:
        """Look for the best from several starts, in processor time that is bounded."""
        until, steps = time.process_time() + seconds, cycle(STEPS)
        with threadpool_limits(1):  # threads that wait for each other would eat the time
            while self.off > 0 and time.process_time() <= until:
                self._one_start(next(steps), until)
        return self

    def _one_start(self, step: float, until: float) -> None:
        noise = self._chance.standard_normal(self._means.shape, np.float32)
        least, since, taken = np.inf, 0, 0
        at: Small = self._means + noise / np.float32(2)
        while since < _STALE:
            binary = self._nearest_binary(at)
            if taken % _LOOK == 0:
                off = float(np.abs(binary @ binary.T - self._products).sum() / 2)
                since = 0 if off < least else since
                least = min(least, off)
                if off < self.off:
                    self.rows, self.off = binary.T.astype(np.float64), off
                if off == 0 or time.process_time() > until:
                    return
            at += np.float32(step) * (self._nearest_gram(2 * binary - at) - binary)
            taken, since = taken + 1, since + 1

    def _nearest_gram(self, at: Small) -> Small:
        """The nearest matrix whose X'X and totals are the opened ones."""
        inner = at - self._means
        for block in self._blocks:
            inner[:, block] -= inner[:, block].mean(axis=1, keepdims=True)
        turned = self._turn @ inner
        values, vectors = np.linalg.eigh((turned @ turned.T).astype(np.float64))
        upright = vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        polar = (self._roots @ upright) @ vectors.T
        nearest: Small = self._means + polar.astype(np.float32) @ turned
        return nearest

    def _nearest_binary(self, at: Small) -> Small:
        """The nearest 0/1 matrix with the opened totals."""
        chosen = np.zeros_like(at)
        for ones, block in zip(self._ones, self._blocks, strict=True):
            ordered = np.sort(at[:, block], axis=1)
            first = np.minimum(ordered.shape[1] - ones, ordered.shape[1] - 1)
            cut = np.where(ones > 0, ordered[np.arange(len(ordered)), first], np.inf)
            chosen[:, block] = at[:, block] >= cut[:, None]
        return chosen
