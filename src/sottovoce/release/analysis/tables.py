"""How estimates show themselves: a table with intervals, for people, notebooks and frames."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from scipy import special

from sottovoce._notebook import html_table, text_table
from sottovoce.arrays import Floats
from sottovoce.corpus.schema import FrameLibrary, as_frame
from sottovoce.errors import ParameterError
from sottovoce.privacy.noise_law import NoiseLaw

_SHOWN = 10
_WHOLE = 100
# From here on the lattice of a sum of noise does not show.
_SMOOTH_VARIANCE = 1e4
# From so many documents on it is as good as normal.
_NORMAL_DOCUMENTS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Estimated numbers of a release, each with its standard error and interval."""

    table: pa.Table
    """One row for each number, the largest first."""
    level: float
    """How often all intervals of all numbers hold at once, whichever of them are shown."""
    documents: int

    caption: ClassVar[str] = "Estimates"

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(rows={len(self)}, documents={self.documents}, "
            f"level={self.level:g})"
        )

    def __str__(self) -> str:
        more = len(self) - _SHOWN
        return text_table(self.display_rows(_SHOWN)) + (
            f"\n... and {more:,} more" if more > 0 else ""
        )

    def _repr_html_(self) -> str:
        return html_table(self.display_rows(_SHOWN), self.caption)

    def rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """The first rows, as dictionaries."""
        table = self.table if most is None else self.table.slice(0, most)
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows

    def display_rows(self, most: int) -> list[dict[str, Any]]:
        """The first rows for people: large numbers without decimals."""
        return [
            {name: _round_value(value) for name, value in row.items()} for row in self.rows(most)
        ]

    def to_frame(self, library: FrameLibrary = "arrow") -> Any:  # noqa: ANN401 - a frame of any library
        """All rows as a table of ``arrow``, or a frame of ``pandas`` or ``polars``."""
        return as_frame(self.table, library)


def _round_value(value: object) -> object:
    return round(value) if isinstance(value, float) and abs(value) >= _WHOLE else value


def check_level(level: float) -> None:
    """Refuse what is no confidence."""
    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, such as 0.95; got {level}.")


def level_at_once(level: float, number: int) -> float:
    """The level that each of so many intervals needs, so that all hold at once with ``level``.

    By the union bound, 1 - (1 - level)/number: also those hold that were picked for being largest.
    """
    return 1 - (1 - level) / max(number, 1)


def normal_quantile(level: float) -> float:
    """How many standard errors an interval reaches to either side."""
    return float(special.ndtri((1 + level) / 2))


def noise_reach(law: NoiseLaw, documents: int, level: float) -> float:
    """How far the sum of the noise of so many cells stays from 0, with probability ``level``.

    The sum's characteristic function is ((1 - alpha)^2 / (1 - 2 alpha cos t + alpha^2))^D; its
    probabilities are the coefficients, and the reach is the least whole h with P(|sum| <= h) >=
    ``level``. Where the variance is large, the normal quantile, or of few documents, whose noise
    has longer tails, that of less noise made wider.
    """
    variance = documents * law.variance
    if variance > _SMOOTH_VARIANCE and documents >= _NORMAL_DOCUMENTS:
        return float(normal_quantile(level) * variance**0.5)
    if variance > _SMOOTH_VARIANCE:
        less = NoiseLaw(math.acosh(1 + documents / _SMOOTH_VARIANCE))
        wider = math.sqrt(law.variance / less.variance)
        return wider * _least_within(_distances(less, documents), level)
    return _least_within(_distances(law, documents), level)


@cache
def products_reach(law: NoiseLaw, documents: int, draws: float, weight: int, level: float) -> float:
    """The same in standard errors, for D products of two draws and so many draws, ``weight`` times.

    Products have longer tails than draws: where D is small, or noise is rare, far beyond normal.
    """
    variance = documents * law.variance**2 + draws * weight**2 * law.variance
    if variance > _SMOOTH_VARIANCE:
        if documents >= _NORMAL_DOCUMENTS:
            return normal_quantile(level)
        least = min(law.variance, (_SMOOTH_VARIANCE / 2 / documents) ** 0.5)
        # Of less noise, whose lattice shows no more; products alone have the longest tails.
        return products_reach(NoiseLaw(math.acosh(1 + 1 / least)), documents, 0, 1, level)
    reach = 40 * variance**0.5 + (25 / law.rate) ** 2 + 64
    size = 1 << int(np.ceil(np.log2(2 * reach)))
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    sizes = np.arange(1, 45 / law.rate + 2)
    product = np.full(angle.size, law.most_common)
    for each, chance in zip(sizes, law.probability(sizes), strict=True):
        product += 2 * chance * _characteristic(law, each * angle)
    drawn = _characteristic(law, weight * angle) ** draws
    chances = np.maximum(np.fft.irfft(product**documents * drawn, size)[: size // 2], 0)
    distances = np.concatenate([chances[:1], 2 * chances[1:]])
    return max(_least_within(distances, level) / math.sqrt(variance), normal_quantile(level))


def _characteristic(law: NoiseLaw, angle: Floats) -> Floats:
    alpha = law.alpha
    return np.asarray((1 - alpha) ** 2 / (1 - 2 * alpha * np.cos(angle) + alpha * alpha))


def _least_within(distances: Floats, level: float) -> float:
    beyond = np.cumsum(distances[::-1])[::-1] - distances
    return float(np.argmax(beyond <= 1 - level))


def _distances(law: NoiseLaw, documents: int) -> Floats:
    """P(|sum| = h) for h = 0, 1, ..."""
    # Beyond forty deviations, and beyond what a single cell may be, there is nothing to see.
    reach = 40 * (documents * law.variance) ** 0.5 + 45 / law.rate + 64
    size = 1 << int(np.ceil(np.log2(2 * reach)))
    angle = 2 * np.pi * np.arange(size) / size
    chances = np.maximum(np.fft.ifft(_characteristic(law, angle) ** documents).real, 0)
    half = size // 2
    both = chances[1:half] + chances[: size - half : -1]
    return np.concatenate([chances[:1], both])
