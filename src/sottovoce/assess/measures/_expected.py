"""How many of those whom a band names are concerned: what to expect, from a test on real timelines.

Most of those flagged are false alarms, so every band stands beside this figure. It depends on how
many a topic concerns at all; here 1 in 24 had a label.
"""

from collections.abc import Iterable, Mapping

BANDS = (1, 5, 10)
CONCERNED = 0.042
"""The share of all ranked people who were concerned: what a band of chance would have."""
EXPECTED_PRECISION: Mapping[str, tuple[float, float, float]] = {
    "voice-t": (0.21, 0.14, 0.13),
    "voice-st": (0.22, 0.15, 0.13),
    "voice": (0.14, 0.13, 0.11),
    "voice-s": (0.14, 0.13, 0.11),
    "voice-d": (0.10, 0.09, 0.08),
    "voice-dt": (0.12, 0.09, 0.07),
    "bow-t": (0.23, 0.16, 0.13),
    "keyword-kinds": (0.27, 0.18, 0.13),
    "keyword-kinds-t": (0.30, 0.17, 0.13),
    "ent": (0.17, 0.13, 0.10),
    "diff-priv": (0.10, 0.12, 0.10),
    "bow": (0.22, 0.15, 0.12),
    "bow-d": (0.09, 0.08, 0.06),
    "bow-dt": (0.08, 0.08, 0.07),
    "w2v": (0.16, 0.11, 0.08),
    "w2v-d": (0.08, 0.06, 0.05),
    "w2v-t": (0.17, 0.11, 0.10),
    "w2v-dt": (0.09, 0.07, 0.06),
    "lda": (0.12, 0.11, 0.08),
    "lda-d": (0.10, 0.10, 0.07),
    "lda-t": (0.18, 0.12, 0.09),
    "lda-dt": (0.13, 0.08, 0.07),
}
"""Of those in the top 1%, 5% and 10%, the share who report the topic of themselves on another day.

``study assess-blogs --half test``: 880 bloggers, five topics, ten posts each, means over 100
samples of posts. 95% intervals reach about a third of a value to either side
(`docs/research/assess-blogs.md`).
"""


def expected_precision(measure: str, percent: int) -> float | None:
    """Of those in the top ``percent`` by ``measure`` the share concerned; None: never measured."""
    if measure not in EXPECTED_PRECISION or percent not in BANDS:
        return None
    return EXPECTED_PRECISION[measure][BANDS.index(percent)]


def banded_precision(measures: Iterable[str]) -> dict[str, dict[str, float]]:
    """By measure and band, for machines."""
    return {
        name: {f"top {percent}%": share for percent, share in zip(BANDS, shares, strict=True)}
        for name in measures
        if (shares := EXPECTED_PRECISION.get(name))
    }


def precision_in_words(measures: Iterable[str]) -> list[str]:
    """A sentence on what to expect of the bands of each measure that was measured."""
    told = [
        f"{name} {', '.join(f'{100 * share:.0f}' for share in EXPECTED_PRECISION[name])}"
        for name in dict.fromkeys(measures)
        if name in EXPECTED_PRECISION
    ]
    if not told:
        return []
    sentence = (
        "Most of those in a band are there by mistake. In a test on real timelines the topic "
        f"concerned, of 100 people in the top 1%, 5% and 10%: {'; '.join(told)} (by chance "
        f"{100 * CONCERNED:.0f})."
    )
    return [sentence]
