"""The grid of privacy settings that the loop tries."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.loop.subject import UserDocuments
from sottovoce.privacy.exact import Exact
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.compression import NoCompression, chosen_compression
from sottovoce.release.counts import Counts
from sottovoce.release.plan import Released, ReleasePlan
from sottovoce.release.settings import ReleaseSettings


@dataclass(frozen=True)
class PrivacySetting:
    """One way to release: None for epsilon is the same shape without noise."""

    compression: str = "none"
    columns: int | None = None
    precision: int = 2
    epsilon: Exact | None = None

    @property
    def rate(self) -> Fraction | None:
        """Nats per word; None: no noise."""
        if self.epsilon is None:
            return None
        return LimitedPrecision(self.precision, self.epsilon).rate

    @property
    def method(self) -> str:
        """The compression, in words."""
        return (
            "every word" if self.columns is None else f"{self.columns} columns, {self.compression}"
        )

    @property
    def noise_rate(self) -> float | None:
        """Of the noise on a column: the stated one, the prior being public."""
        return None if self.rate is None else float(self.rate)

    @property
    def guarantee(self) -> LimitedPrecision | None:
        """What it promises a document; None: nothing."""
        return None if self.epsilon is None else LimitedPrecision(self.precision, self.epsilon)

    def drawn(self, documents: UserDocuments, frequencies: Floats | None, seed: int) -> Released:
        """The release; without epsilon the same columns without noise, for comparison only."""
        guarantee = self.guarantee
        if guarantee is None:
            return self._bare(documents.counts, frequencies, seed)
        settings = ReleaseSettings(
            guarantee,
            compression=self.compression,
            columns=self.columns,
            frequencies=None if self.columns is None else frequencies,
            seed=seed,
        )
        return ReleasePlan(settings, documents.words).draw(documents.counts)

    def _bare(self, counts: Counts, frequencies: Floats | None, seed: int) -> Released:
        known = np.ones(counts.shape[1]) if frequencies is None else frequencies
        if self.columns is None:
            return Released(counts, (NoCompression().fit(counts).map_,), known)
        fitted = chosen_compression(self.compression, self.columns, known, seed).fit(counts)
        return Released(fitted.transform(counts), (fitted.map_,), known)


def grid(
    methods: Sequence[tuple[str, int | None]], precisions: Sequence[int], epsilons: Sequence[str]
) -> tuple[PrivacySetting, ...]:
    """Every method without noise, then at every precision and epsilon, the weakest first."""
    bare = [PrivacySetting(name, columns) for name, columns in methods]
    private = [
        PrivacySetting(name, columns, precision, epsilon)
        for (name, columns), precision, epsilon in product(methods, precisions, epsilons)
    ]
    private.sort(key=lambda setting: -(setting.rate or 0))
    return (*bare, *private)
